"""CSL-JSON, the format in which Zotero, Pandoc and citeproc exchange references."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Publication, Reference
from whycite.documents.references.names import names_others, parse_people, person
from whycite.documents.references.reader import (
    BibliographyReader,
    duplicate_warnings,
    full_date,
    iso_date,
    join_title,
    normalise_pages,
    strip_markup,
    web_address,
    year_of,
)

__all__ = ["READER", "item_reference", "parse"]

_WHOLE_WORKS = {"book", "thesis", "report", "collection", "manuscript"}
# What Crossref calls types, in CSL's words.
_TYPES = {
    "journal-article": "article-journal", "proceedings-article": "paper-conference", "book-chapter": "chapter",
    "book-section": "chapter", "posted-content": "article", "monograph": "book", "edited-book": "book",
    "reference-book": "book", "dissertation": "thesis", "computer-program": "software",
}  # fmt: skip
_VENUES = ("container-title", "event-title", "event", "collection-title", "publisher", "archive")
_MAX_SEARCHED = 2000  # characters of a field that are searched for identifiers
_MAX_DEPTH = 50  # levels of brackets; a reference has five, and the decoder is recursive
_MAX_WARNINGS = 100  # per file, so that a broken one does not flood the output
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_FIELDS = re.compile(r'"(?:issued|container-title|author|DOI|citation-key|title)"\s*:')
_ID = re.compile(r'"(?:id|type)"\s*:')
_FULL_PAPER_FIELDS = re.compile(
    r'"(?:paper_id|pdf_parse|body_text|bib_entries|abstract_text|s2_id|externalids|corpusid)"\s*:'
)


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a CSL-JSON file: a list of items, one item, or an object with the list in it."""
    if not text.strip():
        return [], []
    if _too_deep(text):
        return [], [f"{file}: nested too deeply for CSL-JSON"]
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        where = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return [], [f"{file}{where}: not valid JSON ({getattr(error, 'msg', error)})"]
    if isinstance(data, dict):
        items = next((data[name] for name in ("items", "references") if isinstance(data.get(name), list)), None)
        data = [data] if items is None else items
    if not isinstance(data, list):
        return [], [f"{file}: not CSL-JSON, which is a list of references"]
    references: dict[str, Reference] = {}
    warnings: list[str] = []
    duplicates: dict[str, str] = {}
    for number, item in enumerate(data, 1):
        key = _key(item) if isinstance(item, dict) else ""
        if not key:
            warnings.append(f"{file}: item {number} has no id; skipped")
        elif key in references:
            duplicates[key] = f"{file}: duplicate id '{key}'; using the first item"
        else:
            references[key] = item_reference(key, item)
    return list(references.values()), [*warnings, *duplicate_warnings(file, duplicates)][:_MAX_WARNINGS]


def _too_deep(text: str) -> bool:
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += (bracket[0] in "[{") - (bracket[0] in "]}")
        if depth > _MAX_DEPTH:
            return True
    return False


def _key(item: Mapping[str, Any]) -> str:
    return _text(item, "citation-key") or _text(item, "id")


def item_reference(key: str, item: Mapping[str, Any]) -> Reference:
    """The reference of one item."""
    people = _people(item.get("author")) or _people(item.get("editor"))
    note = _text(item, "note")[:_MAX_SEARCHED]
    url = _text(item, "URL")[:_MAX_SEARCHED]
    number = _text(item, "number")[:_MAX_SEARCHED]
    doi = normalise_doi(_text(item, "DOI")[:_MAX_SEARCHED]) or normalise_doi(url) or normalise_doi(note)
    archived = _text(item, "archive_location") if _text(item, "archive").lower() == "arxiv" else ""
    type = _text(item, "type")
    pmid_text = f"{note} {url}" if re.search(r"pmid|pubmed", f"{note} {url}", re.IGNORECASE) else ""
    return Reference(
        id=key,
        title=join_title(_text(item, "title") or _text(item, "title-short"), ""),
        authors=tuple(people),
        year=_year(item),
        venue=next((venue for name in _VENUES if (venue := _text(item, name))), ""),
        doi=doi,
        arxiv=next((arxiv for value in (archived, doi, number, url, note) if (arxiv := normalise_arxiv(value))), ""),
        pmid=normalise_pmid(_text(item, "PMID")[:_MAX_SEARCHED]) or normalise_pmid(pmid_text),
        isbn=_isbn(item) if type in _WHOLE_WORKS else "",
        abstract=_text(item, "abstract"),
        publication=Publication(
            type=_TYPES.get(type, type),
            et_al=_names_others(item.get("author")),
            editors=tuple(_people(item.get("editor"))),
            genre=_text(item, "genre"),
            date=full_date(_date(item.get("issued")), _year(item)),
            volume=_text(item, "volume"),
            issue=_text(item, "issue") or _text(item, "number"),
            pages=normalise_pages(_text(item, "page") or _text(item, "article-number")),
            publisher=_text(item, "publisher"),
            place=_text(item, "publisher-place") or _text(item, "publisher-location") or _text(item, "event-place"),
            edition=_text(item, "edition") or _text(item, "version"),
            series=_text(item, "collection-title"),
            isbn="" if type in _WHOLE_WORKS else _isbn(item),
            issn=_text(item, "ISSN"),
            pmcid=normalise_pmcid(_text(item, "PMCID")[:_MAX_SEARCHED]),
            url=web_address(url),
            accessed=_date(item.get("accessed")),
            note=note,
        ),
    )


def _isbn(item: Mapping[str, Any]) -> str:
    return normalise_isbn(_text(item, "ISBN")[:_MAX_SEARCHED])


def _text(item: Mapping[str, Any], name: str) -> str:
    """A field as text, including numbers and one-element lists, which Crossref writes."""
    value = item.get(name)
    if isinstance(value, list) and value:
        value = value[0]
    return strip_markup(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _people(value: object) -> list[str]:
    names = [_person(name) for name in value] if isinstance(value, list) else []
    return [name for name in names if name and not names_others(name)]


def _names_others(value: object) -> bool:
    """Whether an author list ends in {"literal": "others"}, which is how Pandoc writes "and others"."""
    return isinstance(value, list) and bool(value) and names_others(_person(value[-1]))


def _person(name: object) -> str:
    if isinstance(name, str):
        return next(iter(parse_people(name)), "")
    if not isinstance(name, dict):
        return ""
    if literal := _text(name, "literal") or _text(name, "name"):
        return literal
    family = f"{_text(name, 'non-dropping-particle')} {_text(name, 'family')}"
    given_names = f"{_text(name, 'given')} {_text(name, 'dropping-particle')} {_text(name, 'suffix')}"
    return person(family, given_names)


def _year(item: Mapping[str, Any]) -> int | None:
    return next((year for year in _years(item) if year is not None), None)


def _years(item: Mapping[str, Any]) -> Iterator[int | None]:
    for name in ("issued", "published", "published-print", "published-online", "original-date", "submitted"):
        date = item.get(name)
        if isinstance(date, dict):
            parts = date.get("date-parts")
            while isinstance(parts, list) and parts:
                parts = parts[0]
            yield year_of(str(parts)) if isinstance(parts, str | int) else None
            yield year_of(_text(date, "raw") or _text(date, "literal") or _text(date, "year"))
        elif isinstance(date, str | int):
            yield year_of(str(date))
    yield year_of(_text(item, "year"))


def _date(date: object) -> str:
    """A date in ISO form as far as it is known."""
    if not isinstance(date, dict):
        return iso_date(date) if isinstance(date, str) else ""
    parts = date.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    written = "-".join(str(part) for part in first if isinstance(part, str | int))
    return iso_date(written or _text(date, "raw") or _text(date, "literal"))


def _looks_right(head: str) -> bool:
    """CSL items have an id or a type and fields of their own; JSON of full papers has other fields too."""
    start = head.lstrip("\ufeff \t\r\n")
    return (
        start[:1] in ("[", "{")
        and bool(_ID.search(start) and _FIELDS.search(start))
        and not _FULL_PAPER_FIELDS.search(start)
    )


READER = BibliographyReader("csljson", (".csl.json", ".csljson", ".json"), parse, _looks_right)
