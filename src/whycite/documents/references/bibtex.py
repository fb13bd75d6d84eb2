"""BibTeX and biblatex files: entries, well-formed or not, read in one pass and turned into references."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Publication, Reference
from whycite.documents.references.names import names_others, parse_people
from whycite.documents.references.reader import (
    JOURNALS,
    PLAIN_TYPES,
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
from whycite.text.accents import untex
from whycite.text.wordlists import load_tables

__all__ = [
    "READER",
    "BibtexEntry",
    "inherit_fields",
    "locate_entries",
    "parse",
    "read_entries",
    "reference_of",
]


_TABLES = load_tables(__name__)


_NEVER_CITED = {"xdata", "bibnote", "control"}
_WHOLE_WORKS = frozenset(_TABLES["whole_works"])
_TYPES: dict[str, str] = _TABLES["types"]
_GENRES: dict[str, str] = _TABLES["genres"]
_ADDRESSES = ("url", "howpublished", "ee")
_ACCESSED = ("urldate", "lastaccessed", "accessed", "accessdate", "lastchecked")
_MONTH = re.compile(r"[A-Za-z]{3,9}")
_ESCAPE = re.compile(r"\\(?=[%_&#~$])")
_NOTES = ("note", "addendum", "annote", "annotation", "pubstate")
_PARTS_OF_BOOKS = {"inbook", "bookinbook", "suppbook"}
_VENUES: list[str] = _TABLES["venues"]
_INHERITED = frozenset(_TABLES["inherited"])  # fields that a part takes over from the whole
# Limits on what `crossref` and `xdata` add, far above real ones.
_MAX_INHERITED = 1000  # characters of an inherited field
_MAX_DEPTH = 3  # entries that inherit from entries that inherit …
_MAX_PARENTS = 6
_MAX_SEARCHED = 2000  # characters of a field that are searched for identifiers

_JOURNAL_MACRO = re.compile(r"\s*\{?\\([a-z]{2,8})\}?\s*")
_SAYS_PMID = re.compile(r"pmid|pubmed", re.IGNORECASE)
_ENTRY_START = re.compile(r"^\s*@\s*[A-Za-z]{3,30}\s*[{(]", re.MULTILINE)


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a BibTeX or biblatex file, and warnings about what could not be read."""
    references, warnings = _parse_once(text, file)
    return list(references), list(warnings)


@lru_cache(maxsize=4)  # drafts are read again and again, and a large file takes a second
def _parse_once(text: str, file: str) -> tuple[tuple[Reference, ...], tuple[str, ...]]:
    entries, warnings = read_entries(text, file)
    by_key = {entry.key: entry for entry in entries}
    references: dict[str, Reference] = {}
    for entry in entries:
        if entry.type not in _NEVER_CITED:
            references[entry.key] = reference_of(entry, inherit_fields(entry, by_key))
    for entry in entries:
        for alias in entry.fields.get("ids", "").split(","):
            if alias.strip() and entry.key in references:
                references.setdefault(alias.strip(), replace(references[entry.key], id=alias.strip()))
    return tuple(references.values()), tuple(warnings)


def reference_of(entry: BibtexEntry, fields: Mapping[str, str]) -> Reference:
    """The reference for an entry with these fields, which are TeX."""
    title = join_title(_text(fields, "title"), _text(fields, "subtitle"))
    authors = parse_people(fields.get("author", "")) or parse_people(fields.get("editor", ""))
    note = "" if title else _text(fields, "note") or _text(fields, "howpublished")
    return Reference(
        id=entry.key,
        title=title,
        authors=authors,
        year=_year(fields),
        venue=_venue(fields),
        doi=_first_identifier(normalise_doi, fields, "doi", "url", "note", "howpublished", "ee"),
        arxiv=_arxiv(fields),
        pmid=_pmid(fields),
        isbn=normalise_isbn(_searchable(fields, "isbn")) if entry.type in _WHOLE_WORKS else "",
        abstract=_text(fields, "abstract"),
        text=note,
        publication=_publication(entry.type, fields),
    )


def _publication(type: str, fields: Mapping[str, str]) -> Publication:
    def first(*names: str) -> str:
        return next((text for name in names if (text := _text(fields, name))), "")

    volume = first("volume")
    genre = "" if _TYPES.get(type) in PLAIN_TYPES else first("type")  # "Journal Article", as databases write
    return Publication(
        type=_TYPES.get(type, "") or ("document" if _is_document(fields) else ""),
        genre=_GENRES.get(genre.lower(), genre) or (_GENRES.get(type, "") if type.endswith("thesis") else ""),
        date=_date(fields),
        et_al=names_others(fields.get("author", "")),
        editors=parse_people(fields.get("editor", "")),
        volume="" if volume.startswith("abs/") else volume,  # how DBLP writes arXiv papers
        issue=first("number", "issue"),
        pages=normalise_pages(first("pages", "eid", "articleno")),
        publisher=first("publisher", "school", "institution", "organization"),
        place=first("address", "location"),
        edition=first("edition", "version"),
        series=first("series"),
        isbn="" if type in _WHOLE_WORKS else normalise_isbn(_searchable(fields, "isbn")),
        issn=first("issn"),
        pmcid=normalise_pmcid(_searchable(fields, "pmcid")),
        # Addresses are verbatim: a tilde is no space.
        url=web_address(*(_ESCAPE.sub("", fields.get(name, "")[:_MAX_SEARCHED]) for name in _ADDRESSES)),
        accessed=next((date for name in _ACCESSED if (date := iso_date(_text(fields, name)))), ""),
        note="; ".join(text for name in _NOTES if (text := _text(fields, name))),
    )


def _is_document(fields: Mapping[str, str]) -> bool:
    """Whether an entry of no certain type is of something that no journal or book has: a program, a web page."""
    part_of = ("volume", "number", "pages", "eid", "booktitle", "doi")
    return bool(_venue(fields)) and not any(fields.get(name) for name in part_of)


def _date(fields: Mapping[str, str]) -> str:
    """The date of publication in ISO form, if more than the year is known."""
    year = _year(fields)
    month, day = _text(fields, "month"), _text(fields, "day")
    name = _MONTH.search(month)
    written = (
        _text(fields, "date").partition("/")[0] if "date" in fields else "",
        f"{month} {year}" if not day else f"{day} {month} {year}",
        f"{year}-{month}-{day}" if day else f"{year}-{month}",
        f"{name[0]} {year}" if name else "",
    )
    return next((date for text in written if (date := full_date(text, year))), "")


def inherit_fields(entry: BibtexEntry, by_key: Mapping[str, BibtexEntry]) -> Mapping[str, str]:
    """The fields with what `crossref` and `xdata` add; the entry's own come first."""
    if "crossref" not in entry.fields and "xdata" not in entry.fields:
        return entry.fields
    fields = dict(entry.fields)
    seen = {entry.key}
    waiting = [(entry, 0)]
    while waiting:
        child, depth = waiting.pop(0)
        data = [key.strip() for key in child.fields.get("xdata", "").split(",", _MAX_PARENTS)]
        for key in [*data, child.fields.get("crossref", "").strip()]:
            parent = by_key.get(key)
            if parent is None or key in seen or depth == _MAX_DEPTH or len(seen) > _MAX_PARENTS:
                continue
            seen.add(key)
            waiting.append((parent, depth + 1))
            for name, value in _inheritable_fields(parent, entry.type, key in data).items():
                if len(value) <= _MAX_INHERITED:
                    fields.setdefault(name, value)
    return fields


def _inheritable_fields(parent: BibtexEntry, child_type: str, whole: bool) -> dict[str, str]:
    """What an entry inherits: all of a data container; of a book or journal, what also applies to its parts."""
    names = parent.fields.keys() & (_INHERITED | {"author", "title", "subtitle", "doi", "eprint", "url"})
    if whole:
        return {name: parent.fields[name] for name in names}
    inherited = {name: parent.fields[name] for name in names & _INHERITED}
    if "title" in parent.fields:
        title = "journaltitle" if parent.type == "periodical" else "booktitle"
        inherited.setdefault(title, parent.fields["title"])
    if child_type in _PARTS_OF_BOOKS and "author" in parent.fields:
        inherited["author"] = parent.fields["author"]
    return inherited


def _year(fields: Mapping[str, str]) -> int | None:
    years = (year_of(untex(fields[name][:200])) for name in ("year", "date", "issued", "eventdate") if name in fields)
    return next((year for year in years if year is not None), None)


def _venue(fields: Mapping[str, str]) -> str:
    for name in _VENUES:
        value = fields.get(name, "")
        macro = _JOURNAL_MACRO.fullmatch(value)
        venue = JOURNALS.get(macro[1], "") if macro else strip_markup(untex(value))
        if venue and not (name == "howpublished" and ("http" in venue or "www." in venue)):
            return venue
    return ""


def _arxiv(fields: Mapping[str, str]) -> str:
    eprint = _searchable(fields, "eprint")
    archive = _searchable(fields, "archiveprefix") or _searchable(fields, "eprinttype")
    if eprint and archive.lower() in ("", "arxiv"):
        # Old numbers may come without their archive: eprint = {0601001}, primaryclass = {astro-ph}.
        arxiv = normalise_arxiv(eprint) or normalise_arxiv(f"{_searchable(fields, 'primaryclass')}/{eprint}")
        if arxiv:
            return arxiv
    elif eprint and (arxiv := normalise_arxiv(f"{archive}/{eprint}")):
        return arxiv
    volume = _searchable(fields, "volume")
    if volume.startswith("abs/"):  # how DBLP writes arXiv papers
        return normalise_arxiv(f"arXiv:{volume[4:]}")
    return _first_identifier(
        normalise_arxiv, fields, "arxiv", "arxivid", "doi", "url", "journal", "note", "howpublished", "number"
    )


def _pmid(fields: Mapping[str, str]) -> str:
    if pmid := normalise_pmid(_searchable(fields, "pmid")):
        return pmid
    if _searchable(fields, "eprinttype").lower() == "pubmed":
        return normalise_pmid(_searchable(fields, "eprint"))
    # Elsewhere, a number is a PMID only if the text says so.
    pmid_fields = {name: fields.get(name, "") for name in ("note", "url") if _SAYS_PMID.search(fields.get(name, ""))}
    return _first_identifier(normalise_pmid, pmid_fields, "note", "url")


def _first_identifier(normalise: Callable[[str], str], fields: Mapping[str, str], *names: str) -> str:
    """The first identifier in any of the fields."""
    return next((identifier for name in names if (identifier := normalise(_searchable(fields, name)))), "")


def _text(fields: Mapping[str, str], name: str) -> str:
    return strip_markup(untex(fields.get(name, "")))


def _searchable(fields: Mapping[str, str], name: str) -> str:
    return untex(fields.get(name, "")[:_MAX_SEARCHED])


_MAX_WARNINGS = 100  # per file, so that a broken one does not flood the output
# Abbreviations can double each other, so what they add is limited, far above real ones.
_MAX_MACRO = 10_000  # characters of an abbreviation
_MACRO_BUDGET = 1 << 24  # characters that all abbreviations may add to a file

# The blanks before an @ at the start of a line; a comment line; the start of an entry.
_HEAD = re.compile(r"\n[^\S\n]*+(?:%[^\n]*+|(?=@))|@(\w++)\s*+([{(])")
_KEY = re.compile(
    r"\s*+\{*+(?:(?!\w+=[\"{\d])([^,\s{}]++(?:[ \t]++[^,\s{}=\"]++)*+)\s*+(?=[,}])"
    r"|([^,\s{}=\"()]++)(?!\s*+=))"  # without a comma after it
)

_GAP = r"(?:\s++|%[^\n]*+)*+"
_WORD = r"[^\s,={}\"#%()@]++"
# After a key or a value: the name of the next field, or the end of the entry.
_FIELD = re.compile(rf"{_GAP}(,{_GAP})?(?:({_WORD}(?:[ \t]++{_WORD})*+)\s*+=[\s=]*+|([}})]))?")
_NAME = re.compile(r"(?<![\w:+.-])([A-Za-z][\w:+.-]*+)\s*+=[\s=]*+")
_TRAILING_FIELD = re.compile(r"\s*+,\s*+[A-Za-z][\w-]*+\s*+=")
# A known field at the beginning of a line: where a value that is never closed has to end.
_FIELD_LINE = re.compile(rf"\n[ \t]*+(?:,[ \t]*+)?(?:{'|'.join(_TABLES['field_names'])})[ \t]*+=", re.IGNORECASE)

_BARE = re.compile(r"(?!%|[A-Za-z][\w:+.-]*+\s*+=)[^\s,#{}\")=@][^\s,#{}\")@]*+|\)++")
_JOIN = re.compile(r"\s*+(#?)\s*+")
_CLOSING = {"{": "}", "(": ")", '"': '"'}
# Not after a backslash; but two backslashes are a line break, and what follows them counts.
_SIGNS = {opening: re.compile(rf"[{{}}{closing}](?<!(?<!\\)\\.)") for opening, closing in _CLOSING.items()}

_MONTHS: dict[str, str] = _TABLES["months"]

# The pieces of a value, and whether each is bare: an abbreviation, if one of that name exists.
_Value = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """An entry with its fields as TeX, field names in lower case, abbreviations expanded."""

    type: str
    key: str
    fields: dict[str, str]
    line: int
    start: int = 0  # range in the text whose line ends are \n
    end: int = 0


class _RawEntry(NamedTuple):
    """An entry before abbreviations are expanded."""

    type: str
    key: str
    fields: list[tuple[str, _Value]]
    line: int
    mended: bool
    start: int
    end: int
    joined: str = ""  # the name of a field that no comma separates from the one before


def read_entries(text: str, file: str) -> tuple[list[BibtexEntry], list[str]]:
    """Every entry with a key in file order, the first of duplicates, and warnings."""
    macros = _Macros()
    raw_entries: dict[str, _RawEntry] = {}
    warnings: list[str] = []
    duplicates: dict[str, str] = {}
    for raw in _split_entries(_plain_lines(text)):
        if raw.type == "string":
            for name, value in raw.fields:
                macros.define(name, value)
        elif not raw.key:
            warnings.append(f"{file}:{raw.line}: skipped an entry without a key")
        elif earlier := raw_entries.get(raw.key):
            problem = f"duplicate key '{raw.key}'; using the entry on line {earlier.line}"
            duplicates.setdefault(raw.key, f"{file}:{raw.line}: {problem}")
        else:
            raw_entries[raw.key] = raw
            if raw.mended:
                warnings.append(f"{file}:{raw.line}: entry '{raw.key}' is malformed; read as far as possible")
            elif raw.joined:
                problem = f"no comma before the field {raw.joined}, where BibTeX stops reading the entry"
                warnings.append(f"{file}:{raw.line}: entry '{raw.key}': {problem}")
    entries = [BibtexEntry(raw.type, raw.key, macros.expand_all(raw.fields), raw.line) for raw in raw_entries.values()]
    if macros.spent > _MACRO_BUDGET:
        warnings.append(f"{file}: abbreviations (@string) expand to too much text; skipped some")
    warnings += duplicate_warnings(file, duplicates)
    surplus = len(warnings) - _MAX_WARNINGS
    return entries, warnings[:_MAX_WARNINGS] + [f"{file}: {surplus} more warnings"] * (surplus > 0)


def locate_entries(text: str) -> list[BibtexEntry]:
    """Every entry with a key in file order, duplicates too, with its place in the text."""
    macros = _Macros()
    raw_entries: list[_RawEntry] = []
    for raw in _split_entries(_plain_lines(text)):
        if raw.type == "string":
            for name, value in raw.fields:
                macros.define(name, value)
        elif raw.key:
            raw_entries.append(raw)
    return [
        BibtexEntry(raw.type, raw.key, macros.expand_all(raw.fields), raw.line, raw.start, raw.end)
        for raw in raw_entries
    ]


def _plain_lines(text: str) -> str:
    """The text after a line end, with plain line ends."""
    return "\n" + text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _split_entries(text: str) -> Iterator[_RawEntry]:
    """The entries and abbreviations of a file, well-formed or not."""
    starts, limits = _heads(text)
    line, counted, end = 0, 0, 0
    for start, following in pairwise(starts):
        head = _HEAD.match(text, start) if start >= end else None
        if head is None:
            continue
        line += text.count("\n", counted, start)
        counted = start
        # A line that begins an entry ends the one before, closed or not: one error must not lose the rest of the file.
        limit = limits[bisect_right(limits, start)]
        kind, position, closing, key = head[1].lower(), head.end(), _CLOSING[head[2]], ""
        if kind in ("comment", "preamble"):
            end = _closing_position(text, position - 1, limit)
            continue
        if kind != "string" and (key_match := _KEY.match(text, position, following)):
            key, position = key_match[1] or key_match[2], key_match.end()
        fields, end, closed, joined = _fields(text, position, limit, closing)
        no_comma = key and fields and text[position] != ","
        mended = not closed or no_comma or _TRAILING_FIELD.match(text, end, limit)
        if mended:
            end = starts[bisect_left(starts, end)]
            fields = _mended_fields(text, position, end, closing)
        # The text begins with a line end that the file does not have.
        yield _RawEntry(kind, key, fields, line, bool(mended), start - 1, end - 1, joined if key and not mended else "")


def _heads(text: str) -> tuple[list[int], list[int]]:
    """Where entries may begin, and those positions at the start of a line; both end with the end of the text."""
    starts: list[int] = []
    limits: list[int] = []
    line_start = -1
    for head in _HEAD.finditer(text):
        if not head[1]:
            line_start = head.end()
            continue
        starts.append(head.start())
        if head.start() == line_start:
            limits.append(line_start)
    return [*starts, len(text)], [*limits, len(text)]


def _fields(text: str, position: int, limit: int, closing: str) -> tuple[list[tuple[str, _Value]], int, bool, str]:
    """The fields from `position` on, where reading ended, whether the entry ends there, and a field without a comma."""
    fields: list[tuple[str, _Value]] = []
    joined = ""
    while (field := _FIELD.match(text, position, limit)) and field[2]:
        value, position = _value(text, field.end(), limit, closing)
        fields.append((field[2].lower(), value))
        joined = joined or (field[2] if not field[1] else "")
    return fields, field.end() if field else position, bool(field and field[3] == closing), joined


def _mended_fields(text: str, position: int, end: int, closing: str) -> list[tuple[str, _Value]]:
    """Every `name = value` of a malformed entry; values end at a line that begins a field."""
    stops = [line.start() for line in _FIELD_LINE.finditer(text, position, end)] + [end]
    fields: list[tuple[str, _Value]] = []
    while name := _NAME.search(text, position, end):
        value, position = _value(text, name.end(), stops[bisect_left(stops, name.end())], closing)
        fields.append((name[1].lower(), value))
    return fields


def _value(text: str, position: int, limit: int, closing: str) -> tuple[_Value, int]:
    """The value at `position` and where it ends: pieces in braces, in quotes or bare, joined by # or by spaces."""
    value: list[tuple[str, bool]] = []
    gap, joined = "", True
    while position < limit and text[position] != closing:
        if text[position] == "{" or (text[position] == '"' and joined):
            end = _closing_position(text, position, limit)
            if end == limit:
                return tuple(value) or ((text[position + 1 : end].rstrip(', \n}"'), False),), limit
            piece, bare, position = text[position + 1 : end], False, end + 1
        elif word := _BARE.match(text, position, limit):
            piece, bare, position = word[0], True, word.end()
        else:
            break
        value += [(gap, False), (piece, bare)] if gap else [(piece, bare)]
        if join := _JOIN.match(text, position, limit):
            joined, position = bool(join[1]), join.end()
            gap = "" if joined else join[0]
    return tuple(value), position


def _closing_position(text: str, opening: int, limit: int) -> int:
    """Where the brace, bracket or quote at `opening` closes, ignoring nested braces; `limit` if it does not."""
    closing, depth = _CLOSING[text[opening]], 0
    end = text.find(closing, opening + 1, limit)
    if end < 0:
        return limit
    if text[end - 1] != "\\" and text.find("{", opening + 1, end) < 0:
        return end
    for sign in _SIGNS[text[opening]].finditer(text, opening + 1, limit):
        if sign[0] == closing and depth <= 0:
            return sign.start()
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
    return limit


class _Macros:
    """The abbreviations of a file; what they may add is limited, because they can double each other."""

    def __init__(self) -> None:
        self._values = dict(_MONTHS)
        self._defined: set[str] = set()
        self.spent = 0

    def define(self, name: str, value: _Value) -> None:
        """Define an abbreviation; the first definition counts. In its own definition it is not yet defined."""
        if name not in self._defined:
            self._defined.add(name)
            self._values[name] = self._expand(value)[:_MAX_MACRO]

    def expand_all(self, fields: list[tuple[str, _Value]]) -> dict[str, str]:
        """The text of every field, the first of duplicates."""
        texts: dict[str, str] = {}
        for name, value in fields:
            texts.setdefault(name, self._expand(value))
        return texts

    def _expand(self, value: _Value) -> str:
        return "".join(self._expand_name(piece) if bare else piece for piece, bare in value)

    def _expand_name(self, name: str) -> str:
        text = self._values.get(name.lower())
        if text is None:
            return name
        self.spent += len(text)
        return text if self.spent <= _MACRO_BUDGET else ""


READER = BibliographyReader("bibtex", (".bib", ".bibtex"), parse, lambda head: bool(_ENTRY_START.search(head)))
