"""RIS, the tagged format of EndNote, Mendeley and publishers, and PubMed's `.nbib`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Publication, Reference
from whycite.documents.references.names import names_others, parse_people, person
from whycite.documents.references.reader import (
    PLAIN_TYPES,
    BibliographyReader,
    duplicate_warnings,
    full_date,
    iso_date,
    join_title,
    normalise_pages,
    page_range,
    strip_markup,
    web_address,
    year_of,
)

__all__ = ["READER", "TYPES", "parse"]

_LINE = re.compile(r"([A-Z][A-Z0-9]{1,3})[ ]{0,3}-(?: (.*))?", re.DOTALL)
_START = re.compile(r"^\ufeff?\s*(?:TY  ?- ?[A-Z]|PMID ?- ?\d)", re.MULTILINE)
_MEDLINE = re.compile(r"pubmed|medline|nlm", re.IGNORECASE)
_MAX_SEARCHED = 2000  # characters of a field that are searched for identifiers

_PEOPLE = ("AU", "A1", "A2", "A3", "ED")
_TITLES = ("TI", "T1", "CT", "BT", "ST")
_VENUES = ("T2", "JF", "JO", "JA", "J1", "J2", "BT", "T3", "PB", "JT", "TA")
_YEARS = ("PY", "Y1", "DA", "DP", "DEP")
# Types in CSL's words.
TYPES = {
    "JOUR": "article-journal", "JFULL": "article-journal", "EJOUR": "article-journal", "MGZN": "article-magazine",
    "NEWS": "article-newspaper", "BOOK": "book", "EDBOOK": "book", "EBOOK": "book", "CHAP": "chapter",
    "ECHAP": "chapter", "CPAPER": "paper-conference", "CONF": "paper-conference", "THES": "thesis", "RPRT": "report",
    "ELEC": "webpage", "WEB": "webpage", "DATA": "dataset", "COMP": "software", "PAT": "patent", "PREP": "article",
    "UNPB": "manuscript",
}  # fmt: skip
_ISSN = re.compile(r"\b\d{4}-\d{3}[\dXx]\b")
_CONFERENCES = {"CONF", "CPAPER"}
_WHOLE_WORKS = {"BOOK", "EDBOOK", "EBOOK", "THES", "RPRT", "CONF"}

RisFields = Mapping[str, list[str]]


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of an RIS or `.nbib` file; a record's id is its ID tag, its PMID, or its number in the file."""
    references: dict[str, Reference] = {}
    duplicates: dict[str, str] = {}
    for number, (line, fields) in enumerate(_records(text), 1):
        reference = _reference(fields, number)
        if reference.id in references:
            problem = f"duplicate id '{reference.id}'; using the first record"
            duplicates.setdefault(reference.id, f"{file}:{line}: {problem}")
        else:
            references[reference.id] = reference
    return list(references.values()), duplicate_warnings(file, duplicates)


def _records(text: str) -> Iterator[tuple[int, RisFields]]:
    """Each record with its first line; a new one begins at TY or PMID even if ER is missing."""
    values: list[tuple[str, list[str]]] = []  # a tag and the lines of its value
    start_line = 1
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            if values and line.strip():  # the value continues
                values[-1][1].append(line.strip())
            continue
        tag, value = match[1], (match[2] or "").strip()
        if tag in ("TY", "ER") or (tag == "PMID" and (not values or values[0][0] != "TY")):
            if values:
                yield start_line, _fields(values)
            values, start_line = [], number
        if tag != "ER":
            values.append((tag, [value]))
    if values:
        yield start_line, _fields(values)


def _fields(values: list[tuple[str, list[str]]]) -> RisFields:
    fields: defaultdict[str, list[str]] = defaultdict(list)
    for tag, lines in values:
        fields[tag].append(" ".join(lines))
    return fields


def _reference(fields: RisFields, number: int) -> Reference:
    pubmed = "TY" not in fields
    people = _values(fields, ("FAU", "AU") if pubmed else _PEOPLE)
    url = " ".join(_values(fields, ("UR",)) + _values(fields, ("L3",)) + _values(fields, ("M3",)))[:_MAX_SEARCHED]
    doi = _doi(fields, url)
    accession = _first_value(fields, "AN")[:_MAX_SEARCHED]
    pmid = normalise_pmid(_first_value(fields, "PMID")[:_MAX_SEARCHED]) or normalise_pmid(url)
    if not pmid and _MEDLINE.search(f"{_first_value(fields, 'DB')} {_first_value(fields, 'DP')}"):
        pmid = normalise_pmid(accession)
    return Reference(
        id=_first_value(fields, "ID") or _first_value(fields, "PMID") or f"ref{number}",
        title=join_title(_first_value(fields, *_TITLES), ""),
        authors=tuple(name for name in map(_person, people) if name and not names_others(name)),
        year=_year(fields),
        venue=_venue(fields, pubmed),
        doi=doi,
        arxiv=normalise_arxiv(doi) or normalise_arxiv(url) or normalise_arxiv(accession),
        pmid=pmid,
        isbn=_isbn(fields) if _first_value(fields, "TY") in _WHOLE_WORKS else "",
        abstract=_first_value(fields, "AB", "N2"),
        publication=_pubmed_publication(fields) if pubmed else _publication(fields, people),
    )


def _publication(fields: RisFields, people: list[str]) -> Publication:
    serial = _ISSN.search(_first_value(fields, "SN"))
    genre = _first_value(fields, "M3")[:_MAX_SEARCHED]  # where some have the DOI
    type = TYPES.get(_first_value(fields, "TY"), "")
    return Publication(
        type=type,
        genre="" if normalise_doi(genre) or type in PLAIN_TYPES else genre,
        date=_date(fields),
        et_al=any(map(names_others, people)),
        editors=tuple(name for name in map(_person, _values(fields, ("ED", "A2"))) if name),
        volume=_first_value(fields, "VL"),
        issue=_first_value(fields, "IS", "M1"),
        pages=page_range(_first_value(fields, "SP"), _first_value(fields, "EP")) or _first_value(fields, "C7"),
        publisher=_first_value(fields, "PB"),
        place=_first_value(fields, "CY", "PP"),
        edition=_first_value(fields, "ET"),
        series=_first_value(fields, "T3"),
        isbn="" if _first_value(fields, "TY") in _WHOLE_WORKS else _isbn(fields),
        issn=serial[0] if serial else "",
        pmcid=normalise_pmcid(_first_value(fields, "C2")) if "pmc" in _first_value(fields, "C2").lower() else "",
        url=web_address(*(value for tag in ("UR", "L1", "L2") for value in fields.get(tag, []))),
        accessed=iso_date(_first_value(fields, "Y2").strip("/")),
        note="; ".join(fields.get("N1", [])),
    )


def _venue(fields: RisFields, pubmed: bool) -> str:
    if pubmed:
        return _first_value(fields, "JT", "TA")
    proceedings = ("C3",) if _first_value(fields, "TY") in _CONFERENCES else ()  # as Zotero writes it
    return _first_value(fields, *proceedings, *_VENUES)


def _year(fields: RisFields) -> int | None:
    return next((year for tag in _YEARS if (year := year_of(_first_value(fields, tag)))), None)


def _date(fields: RisFields) -> str:
    """The date in ISO form, if more than the year is known; RIS writes "2019/06/05/" and PubMed "2019 Jun 5"."""
    year = _year(fields)
    dates = (full_date(_first_value(fields, tag).strip("/"), year) for tag in _YEARS)
    return next(filter(None, dates), "")


def _pubmed_publication(fields: RisFields) -> Publication:
    serial = _ISSN.search(_first_value(fields, "IS"))
    return Publication(
        type="article-journal",
        date=_date(fields),
        volume=_first_value(fields, "VI"),
        issue=_first_value(fields, "IP"),
        pages=normalise_pages(_first_value(fields, "PG")),
        issn=serial[0] if serial else "",
        pmcid=normalise_pmcid(_first_value(fields, "PMC")),
    )


def _isbn(fields: RisFields) -> str:
    return normalise_isbn(_first_value(fields, "SN")[:_MAX_SEARCHED])


def _doi(fields: RisFields, url: str) -> str:
    """The DOI; PubMed writes it as `LID - 10.1/x [doi]`."""
    values = [*fields.get("DO", []), *fields.get("DI", [])]
    values += [value for tag in ("LID", "AID") for value in fields.get(tag, []) if "[doi]" in value]
    values += [url, *fields.get("N1", [])]
    return next((doi for value in values if (doi := normalise_doi(value[:_MAX_SEARCHED]))), "")


def _values(fields: RisFields, tags: tuple[str, ...]) -> list[str]:
    """The values of the first of these tags that is present; AU and A1 name the same people."""
    return next((fields[tag] for tag in tags if fields.get(tag)), [])


def _first_value(fields: RisFields, *tags: str) -> str:
    return next((strip_markup(value) for tag in tags for value in fields.get(tag, []) if value), "")


def _person(name: str) -> str:
    """A name in RIS is "Family, Given, Suffix"; institutions have no comma."""
    family, _, given_names = strip_markup(name).partition(",")
    if given_names:
        return person(family, given_names.replace(",", " "))
    return next(iter(parse_people(name)), "") if len(name.split()) < 4 else strip_markup(name)


READER = BibliographyReader("ris", (".ris", ".nbib"), parse, lambda head: bool(_START.search(head)))
