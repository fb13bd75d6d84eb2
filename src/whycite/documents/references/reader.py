"""What bibliography readers share: a document with references only, and the cleaning of fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from html import unescape

from whycite.documents.builder import Builder
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source, decode
from whycite.text.wordlists import load_tables

__all__ = [
    "BIBLIOGRAPHY_FORMATS",
    "JOURNALS",
    "PLAIN_TYPES",
    "BibliographyReader",
    "Parse",
    "duplicate_warnings",
    "full_date",
    "iso_date",
    "join_title",
    "normalise_pages",
    "page_range",
    "strip_markup",
    "web_address",
    "year_of",
]

Parse = Callable[[str, str], tuple[list[Reference], list[str]]]

BIBLIOGRAPHY_FORMATS = frozenset({"bibtex", "bbl", "csljson", "ris"})
"""The names of readers whose documents have references and nothing else."""

JOURNALS: dict[str, str] = load_tables(__name__)["journals"]  # TeX macro -> abbreviation

_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|2[01]\d{2})(?=\d{4}(?!\d)|(?!\d))")
PLAIN_TYPES = frozenset({"article-journal", "paper-conference", "chapter", "book"})
"""Types of which databases write the kind ("Journal Article"), and nobody prints it."""

_ISO_DATE = re.compile(r"(\d{4})(?:([-/])(\d{1,2})(?:\2(\d{1,2}))?)?(?!\d)", re.ASCII)
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})", re.ASCII)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_WRITTEN_DATES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"(?:{_DAY}\.?[ -])?(?P<month>[A-Za-z]{{3,9}})\.?,?[ -](?P<year>\d{{4}})",
        rf"(?P<month>[A-Za-z]{{3,9}})\.? {_DAY},? (?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}}),? (?P<month>[A-Za-z]{{3,9}})\.?(?: {_DAY})?",
    )
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DASHES = re.compile(r"\s*+[-‐‑‒–—−]++\s*+")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"{}|^`\\]{3,2000}", re.IGNORECASE)
_RESOLVER = re.compile(r"https?://(?:dx\.)?doi\.org/", re.IGNORECASE)
_MAX_KEYS = 3  # duplicate keys named in a warning
_MAX_DATE = 200  # characters of a date that are searched for a year
_TAG = re.compile(r"</?(?:i|b|u|p|em|tt|sc|sub|sup|inf|span|strong|italic|bold|scp|jats:\w{1,20})\b[^<>]{0,200}>")


@dataclass(frozen=True)
class BibliographyReader:
    """Reads a bibliography file as a document with references and nothing else."""

    name: str
    suffixes: tuple[str, ...]
    parse: Parse
    looks_right: Callable[[str], bool]  # whether the start of a file looks like this format

    def sniff(self, head: bytes) -> bool:
        return b"\0" not in head and self.looks_right(decode(head)[0])

    def read(self, source: Source) -> Iterator[Document]:
        builder = Builder(source.path, self.name)
        text, warning = decode(source.data())
        references, warnings = self.parse(text, source.path)
        for message in [f"{source.path}: {warning}"] * bool(warning) + warnings:
            builder.warn(message)
        if not references:
            builder.warn(f"{source.path}: no entries found")
        yield builder.document(Reference(id=""), references)


def year_of(text: str) -> int | None:
    """The first year in a date of any form ("2010", "2010-05-03", "20100503", "May 2010a")."""
    match = _YEAR.search(text[:_MAX_DATE])
    return int(match[0]) if match else None


def iso_date(text: str) -> str:
    """A date in ISO form as far as it is known ("2019", "2019-06", "2019-06-05"); "" if it is none."""
    text = " ".join(text[:_MAX_DATE].split())
    if match := _ISO_DATE.match(text):
        numbers = [int(number) for number in match.group(1, 3, 4) if number]
        while numbers and numbers[-1] == 0:  # "2019-06-00"
            numbers.pop()
        if numbers and (len(numbers) > 1 or not re.search(r"[A-Za-z]", text[match.end() :])):
            return _valid_date(*numbers)
    for pattern in (_DAY_FIRST, *_WRITTEN_DATES):
        if match := pattern.fullmatch(text):
            return _valid_date(int(match["year"]), _month_number(match["month"]), int(match["day"] or 0))
    return ""


def full_date(text: str, year: int | None) -> str:
    """A date in ISO form if it tells more than this year."""
    date = iso_date(text)
    return date if len(date) > 4 and date.startswith(f"{year}-") else ""


def _month_number(text: str) -> int:
    """The number of a month, whose name may be cut off; 0 if it is none."""
    if text.isdigit():
        return int(text)
    return next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(text.lower())), 0)


def _valid_date(year: int, month: int | None = None, day: int = 0) -> str:
    if month is None:
        return f"{year:04}"
    try:
        date(year, month, day or 1)
    except ValueError:
        return ""
    return f"{year:04}-{month:02}" + (f"-{day:02}" if day else "")


def normalise_pages(text: str) -> str:
    """Pages with a plain hyphen between the first and the last, whatever dash the source has."""
    return _DASHES.sub("-", " ".join(text.split())).strip("-")


def page_range(first: str, last: str) -> str:
    """The pages from the first to the last; the first alone if there is no other."""
    return normalise_pages(f"{first}-{last}" if first and last and last != first else first or last)


def web_address(*texts: str) -> str:
    """The first web address in one of the texts, unless it only resolves a DOI."""
    matches = (match for text in texts for match in _ADDRESS.finditer(text))
    return next((match[0].rstrip(".,;:)") for match in matches if not _RESOLVER.match(match[0])), "")


def strip_markup(text: str) -> str:
    """Text without HTML entities, tags and extra white space."""
    if "&" in text or "<" in text:
        text = _TAG.sub("", unescape(unescape(text)))
    return " ".join(text.split())


def join_title(title: str, subtitle: str) -> str:
    """A title with its subtitle, without the full stop that some exports add."""
    if title.endswith(".") and not title.endswith(".."):
        title = title[:-1]
    if not title or not subtitle:
        return title or subtitle
    return f"{title} {subtitle}" if title[-1] in "?!:–—" else f"{title}: {subtitle}"


def duplicate_warnings(file: str, duplicates: Mapping[str, str]) -> list[str]:
    """One warning, given the message for each duplicate key alone; none without duplicates."""
    if len(duplicates) < 2:
        return list(duplicates.values())
    keys = ", ".join(f"'{key}'" for key in list(duplicates)[:_MAX_KEYS])
    surplus = f" and {len(duplicates) - _MAX_KEYS:,} more" if len(duplicates) > _MAX_KEYS else ""
    return [f"{file}: {len(duplicates):,} keys occur more than once ({keys}{surplus}); using the first entry of each"]
