"""Bibliographies in YAML: Hayagriva, as Typst uses it, and CSL's references as Pandoc does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from whycite.documents.bibliographies import csljson
from whycite.documents.bibliographies.names import parse_people, person
from whycite.documents.bibliographies.reader import plain, year_of
from whycite.documents.bibliographies.yamltext import load_yaml
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmid
from whycite.documents.model import Reference

__all__ = ["parse"]


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a YAML bibliography, and what went wrong."""
    try:
        entries = load_yaml(text)
    except ValueError as error:
        return [], [f"{file}: could not be read: {error}"]
    listed = entries.get("references") if isinstance(entries, dict) else entries
    if isinstance(listed, list):
        return csljson.parse(json.dumps(listed, default=str, skipkeys=True), file)
    if not isinstance(entries, dict):
        return [], [f"{file}: no entry found"]
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
        year=next((year for each in (entry, *parents) if (year := year_of(_text(each.get("date"))))), None),
        venue=next(
            (title for parent in parents if (title := _text(parent.get("title")))), _text(entry.get("publisher"))
        ),
        doi=normalise_doi(_text(numbers.get("doi")) or _text(entry.get("doi"))),
        arxiv=normalise_arxiv(_text(numbers.get("arxiv"))),
        pmid=normalise_pmid(_text(numbers.get("pmid"))),
        isbn=normalise_isbn(_text(numbers.get("isbn"))),
        abstract=_text(entry.get("abstract")),
    )


def _parents(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parents = entry.get("parent")
    return [parent for parent in (parents if isinstance(parents, list) else [parents]) if isinstance(parent, dict)]


def _text(value: Any) -> str:
    """A field that is a string, a number, a date, or a mapping with the string in it."""
    if isinstance(value, dict):
        value = value.get("value") or value.get("name")
    return "" if value is None or isinstance(value, dict | list) else plain(str(value))


def _people(value: Any) -> Iterator[str]:
    for author in value if isinstance(value, list) else [value]:
        if isinstance(author, dict):
            family = " ".join(filter(None, (_text(author.get("prefix")), _text(author.get("name")))))
            yield person(family, _text(author.get("given-name")))
        elif isinstance(author, str):
            yield from parse_people(author)
