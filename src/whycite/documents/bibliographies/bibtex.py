"""BibTeX and biblatex files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from whycite.documents.bibliographies.bibtex_entries import Entry, read_entries
from whycite.documents.bibliographies.names import parse_people
from whycite.documents.bibliographies.reader import JOURNALS, BibliographyReader, join_title, plain, year_of
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmid
from whycite.documents.model import Reference
from whycite.text.accents import untex

__all__ = ["READER", "parse", "reference_of"]

_NEVER_CITED = {"xdata", "bibnote", "control"}
_WHOLE_WORKS = {
    "book", "mvbook", "collection", "mvcollection", "reference", "mvreference", "proceedings", "mvproceedings",
    "booklet", "manual", "thesis", "phdthesis", "mastersthesis", "report", "techreport",
}  # fmt: skip
_PARTS_OF_BOOKS = {"inbook", "bookinbook", "suppbook"}
_VENUES = (
    "journaltitle", "journal", "booktitle", "maintitle", "series", "school", "institution", "organization",
    "publisher", "howpublished",
)  # fmt: skip
# What a part takes over from the whole it stands in; the whole's own identifiers would be wrong for it.
_INHERITED = {
    "journaltitle", "journal", "booktitle", "maintitle", "series", "publisher", "organization", "institution",
    "school", "year", "date", "month", "volume", "editor", "location", "address",
}  # fmt: skip
_LONGEST_INHERITED = 1000
_DEEPEST = 3  # entries that take over from entries that take over …
_MOST_PARENTS = 6
_LONGEST_SEARCHED = 2000  # identifiers are looked for in this much of a field

_JOURNAL_MACRO = re.compile(r"\s*\{?\\([a-z]{2,8})\}?\s*")
_SAYS_PMID = re.compile(r"pmid|pubmed", re.IGNORECASE)
_HEAD = re.compile(r"^\s*@\s*[A-Za-z]{3,30}\s*[{(]", re.MULTILINE)


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a BibTeX or biblatex file, and warnings on what could not be read."""
    entries, warnings = read_entries(text, file)
    by_key = {entry.key: entry for entry in entries}
    references: dict[str, Reference] = {}
    for entry in entries:
        if entry.type not in _NEVER_CITED:
            references[entry.key] = reference_of(entry, _with_inherited(entry, by_key))
    for entry in entries:
        for alias in entry.fields.get("ids", "").split(","):
            if alias.strip() and entry.key in references:
                references.setdefault(alias.strip(), replace(references[entry.key], id=alias.strip()))
    return list(references.values()), warnings


def reference_of(entry: Entry, fields: Mapping[str, str]) -> Reference:
    """The reference that an entry with these fields, as TeX, stands for."""
    title = join_title(_text(fields, "title"), _text(fields, "subtitle"))
    authors = parse_people(fields.get("author", "")) or parse_people(fields.get("editor", ""))
    loose = "" if title else _text(fields, "note") or _text(fields, "howpublished")
    return Reference(
        id=entry.key,
        title=title,
        authors=authors,
        year=_year(fields),
        venue=_venue(fields),
        doi=_first(normalise_doi, fields, "doi", "url", "note", "howpublished", "ee"),
        arxiv=_arxiv(fields),
        pmid=_pmid(fields),
        isbn=normalise_isbn(_short(fields, "isbn")) if entry.type in _WHOLE_WORKS else "",
        abstract=_text(fields, "abstract"),
        text=loose,
    )


def _with_inherited(entry: Entry, by_key: Mapping[str, Entry]) -> Mapping[str, str]:
    """The fields with what `crossref` and `xdata` add; the entry's own come first."""
    if "crossref" not in entry.fields and "xdata" not in entry.fields:
        return entry.fields
    fields = dict(entry.fields)
    seen = {entry.key}
    waiting = [(entry, 0)]
    while waiting:
        child, depth = waiting.pop(0)
        data = [key.strip() for key in child.fields.get("xdata", "").split(",", _MOST_PARENTS)]
        for key in [*data, child.fields.get("crossref", "").strip()]:
            parent = by_key.get(key)
            if parent is None or key in seen or depth == _DEEPEST or len(seen) > _MOST_PARENTS:
                continue
            seen.add(key)
            waiting.append((parent, depth + 1))
            for name, value in _passed_on(parent, entry.type, key in data).items():
                if len(value) <= _LONGEST_INHERITED:
                    fields.setdefault(name, value)
    return fields


def _passed_on(parent: Entry, child_type: str, whole: bool) -> dict[str, str]:
    """What a parent gives: all of a data container; of a book or journal what also holds for its parts."""
    names = parent.fields.keys() & (_INHERITED | {"author", "title", "subtitle", "doi", "eprint", "url"})
    if whole:
        return {name: parent.fields[name] for name in names}
    passed = {name: parent.fields[name] for name in names & _INHERITED}
    if "title" in parent.fields:
        title = "journaltitle" if parent.type == "periodical" else "booktitle"
        passed.setdefault(title, parent.fields["title"])
    if child_type in _PARTS_OF_BOOKS and "author" in parent.fields:
        passed["author"] = parent.fields["author"]
    return passed


def _year(fields: Mapping[str, str]) -> int | None:
    years = (year_of(untex(fields[name][:200])) for name in ("year", "date", "issued", "eventdate") if name in fields)
    return next((year for year in years if year is not None), None)


def _venue(fields: Mapping[str, str]) -> str:
    for name in _VENUES:
        value = fields.get(name, "")
        macro = _JOURNAL_MACRO.fullmatch(value)
        venue = JOURNALS.get(macro[1], "") if macro else plain(untex(value))
        if venue and not (name == "howpublished" and ("http" in venue or "www." in venue)):
            return venue
    return ""


def _arxiv(fields: Mapping[str, str]) -> str:
    eprint = _short(fields, "eprint")
    archive = _short(fields, "archiveprefix") or _short(fields, "eprinttype")
    if eprint and archive.lower() in ("", "arxiv"):
        # Old numbers may stand without their archive: eprint = {0601001}, primaryclass = {astro-ph}.
        found = normalise_arxiv(eprint) or normalise_arxiv(f"{_short(fields, 'primaryclass')}/{eprint}")
        if found:
            return found
    elif eprint and (found := normalise_arxiv(f"{archive}/{eprint}")):
        return found
    volume = _short(fields, "volume")
    if volume.startswith("abs/"):  # how DBLP writes arXiv papers
        return normalise_arxiv(f"arXiv:{volume[4:]}")
    return _first(
        normalise_arxiv, fields, "arxiv", "arxivid", "doi", "url", "journal", "note", "howpublished", "number"
    )


def _pmid(fields: Mapping[str, str]) -> str:
    if pmid := normalise_pmid(_short(fields, "pmid")):
        return pmid
    if _short(fields, "eprinttype").lower() == "pubmed":
        return normalise_pmid(_short(fields, "eprint"))
    # Elsewhere a number is a PMID only where it is called one.
    said = {name: fields.get(name, "") for name in ("note", "url") if _SAYS_PMID.search(fields.get(name, ""))}
    return _first(normalise_pmid, said, "note", "url")


def _first(normalise: Callable[[str], str], fields: Mapping[str, str], *names: str) -> str:
    """The first identifier that one of the fields holds."""
    return next((found for name in names if (found := normalise(_short(fields, name)))), "")


def _text(fields: Mapping[str, str], name: str) -> str:
    return plain(untex(fields.get(name, "")))


def _short(fields: Mapping[str, str], name: str) -> str:
    return untex(fields.get(name, "")[:_LONGEST_SEARCHED])


READER = BibliographyReader("bibtex", (".bib", ".bibtex"), parse, lambda head: bool(_HEAD.search(head)))
