"""Bibliographies in YAML, read safely: Hayagriva for Typst, and CSL references for Pandoc."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Publication, Reference
from whycite.documents.references import csljson
from whycite.documents.references.names import parse_people, person
from whycite.documents.references.reader import (
    full_date,
    iso_date,
    normalise_pages,
    strip_markup,
    web_address,
    year_of,
)

__all__ = ["load_yaml", "parse"]


# Parser events are enough, and reading them needs no recursion that a file could exhaust.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Limits far above real files.
_MAX_LENGTH = 1 << 20  # characters
_MAX_DEPTH = 50  # nested collections
# Types in CSL's words; an article is one of a journal, of a meeting or of nothing.
_TYPES = {
    "book": "book", "anthology": "book", "proceedings": "book", "chapter": "chapter", "anthos": "chapter",
    "thesis": "thesis", "report": "report", "web": "webpage", "repository": "software", "patent": "patent",
}  # fmt: skip
_NULLS = ("", "~", "null")


def load_yaml(text: str) -> Any:
    """The first document of a YAML text, every scalar as a string; a ValueError says what is wrong."""
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"larger than {_MAX_LENGTH >> 20} MB")
    try:
        return _value(text)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error) or "not YAML"
        raise ValueError(str(problem).splitlines()[0]) from error


def _value(text: str) -> Any:
    opened: list[list[Any]] = [[]]
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.ScalarEvent):
            nothing = not event.style and event.value in _NULLS
            opened[-1].append(None if nothing else event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append([])
            if len(opened) > _MAX_DEPTH:
                raise yaml.YAMLError("nested too deeply")
        elif isinstance(event, yaml.SequenceEndEvent):
            opened[-2].append(opened.pop())
        elif isinstance(event, yaml.MappingEndEvent):
            items = opened.pop()
            opened[-1].append(
                {
                    str(key): value
                    for key, value in zip(items[::2], items[1::2], strict=True)
                    if not isinstance(key, list)
                }
            )
        elif isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not supported")
        elif isinstance(event, yaml.DocumentEndEvent):
            break
    return opened[0][0] if opened[0] else None


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a YAML bibliography, and warnings."""
    try:
        entries = load_yaml(text)
    except ValueError as error:
        return [], [f"{file}: cannot be read: {error}"]
    csl_entries = entries.get("references") if isinstance(entries, dict) else entries
    if isinstance(csl_entries, list):
        return csljson.parse(json.dumps(csl_entries, default=str, skipkeys=True), file)
    if not isinstance(entries, dict):
        return [], [f"{file}: no entries found"]
    references = [_reference(str(key), entry) for key, entry in entries.items() if isinstance(entry, dict)]
    return references, []


def _reference(id: str, entry: Mapping[str, Any]) -> Reference:
    numbers = entry.get("serial-number")
    numbers = numbers if isinstance(numbers, dict) else {}
    parents = _parents(entry)
    return Reference(
        id=id,
        title=_text(entry.get("title")),
        authors=tuple(_people(entry.get("author") or entry.get("editor"))),
        year=next((year for record in (entry, *parents) if (year := year_of(_text(record.get("date"))))), None),
        venue=next(
            (title for parent in parents if (title := _text(parent.get("title")))), _text(entry.get("publisher"))
        ),
        doi=normalise_doi(_text(numbers.get("doi")) or _text(entry.get("doi"))),
        arxiv=normalise_arxiv(_text(numbers.get("arxiv"))),
        pmid=normalise_pmid(_text(numbers.get("pmid"))),
        isbn=normalise_isbn(_text(numbers.get("isbn"))),
        abstract=_text(entry.get("abstract")),
        publication=_publication(entry, parents),
    )


def _publication(entry: Mapping[str, Any], parents: list[Mapping[str, Any]]) -> Publication:
    """How a work was published; what the entry does not say, the journal or book that it is a part of may."""

    def first(*names: str) -> str:
        return next((text for name in names for record in (entry, *parents) if (text := _text(record.get(name)))), "")

    publisher = next((value for record in (entry, *parents) if (value := record.get("publisher"))), None)
    numbers = [number for record in (entry, *parents) if isinstance(number := record.get("serial-number"), dict)]
    date = next((date for record in (entry, *parents) if (date := _text(record.get("date")))), "")
    address = next((value for record in (entry, *parents) if (value := record.get("url"))), None)
    kinds = {_text(parent.get("type")).lower() for parent in parents}
    type = _text(entry.get("type")).lower()
    in_proceedings, in_journal = kinds & {"proceedings", "conference"}, kinds & {"periodical"}
    return Publication(
        type="paper-conference" if in_proceedings else "article-journal" if in_journal else _TYPES.get(type, ""),
        genre=_text(entry.get("genre")),
        date=full_date(date, year_of(date)),
        editors=tuple(_people(entry.get("editor"))),
        volume=first("volume"),
        issue=first("issue"),
        pages=normalise_pages(_text(entry.get("page-range"))),
        publisher=_text(publisher),
        place=_text(publisher.get("location")) if isinstance(publisher, dict) else first("location"),
        edition=first("edition"),
        issn=next((issn for number in numbers if (issn := _text(number.get("issn")))), ""),
        pmcid=normalise_pmcid(next((id for number in numbers if (id := _text(number.get("pmcid")))), "")),
        url=web_address(first("url")),
        accessed=iso_date(_text(address.get("date"))) if isinstance(address, dict) else "",
        note=first("note"),
    )


def _parents(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parents = entry.get("parent")
    return [parent for parent in (parents if isinstance(parents, list) else [parents]) if isinstance(parent, dict)]


def _text(value: Any) -> str:
    """A field as text: a string, a number, a date, or a mapping with the string in it."""
    if isinstance(value, dict):
        value = value.get("value") or value.get("name")
    return "" if value is None or isinstance(value, dict | list) else strip_markup(str(value))


def _people(value: Any) -> Iterator[str]:
    for author in value if isinstance(value, list) else [value]:
        if isinstance(author, dict):
            family = " ".join(filter(None, (_text(author.get("prefix")), _text(author.get("name")))))
            yield person(family, _text(author.get("given-name")))
        elif isinstance(author, str):
            yield from parse_people(author)
