"""Entries of BibTeX files, found in one pass; what is not well formed is read as far as possible."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Entry", "read_entries"]

_MOST_WARNINGS = 100
_MACRO_LENGTH = 10_000  # no abbreviation is longer; they may double each other
_MACRO_BUDGET = 1 << 24  # characters that abbreviations may add to one file

# A line that begins an entry ends the one before, closed or not: one slip must not cost the rest of the file.
_LINE_HEAD = re.compile(r"^[^\S\n]*+(?=@\w++\s*+[{(])", re.MULTILINE)
_HEAD = re.compile(r"^[^\S\n]*+%[^\n]*+|@(\w++)\s*+([{(])", re.MULTILINE)
_KEY = re.compile(
    r"\s*+\{?(?:(?!\w+=[\"{\d])([^,\s{}@]++(?:@(?!\w++\s*+[{(])[^,\s{}@]*+)*+(?:[ \t]++[^,\s{}=\"@]++)*+)\s*+(?=[,}])"
    r"|([^,\s{}=\"()]++)(?!\s*+=))"  # no comma behind it
)

_GAP = r"(?:\s++|%[^\n]*+)*+"
_WORD = r"[^\s,={}\"#%()@]++"
# Behind a key or a value: the name of the next field, or the end of the entry.
_FIELD = re.compile(rf"{_GAP}(?:,{_GAP})?(?:({_WORD}(?:[ \t]++{_WORD})*+)\s*+=\s*+|([}})]))?")
_NAME = re.compile(r"(?<![\w:+.-])([A-Za-z][\w:+.-]*+)\s*+=\s*+")
_LEFT_BEHIND = re.compile(r"\s*+,\s*+[A-Za-z][\w-]*+\s*+=")
_KNOWN = (
    "abstract address annote archiveprefix author booktitle chapter crossref date date-added doi edition editor "
    "eprint eprinttype file howpublished institution isbn issn issue journal journaltitle key keywords language "
    "location month note number organization pages pmid primaryclass publisher school series subtitle title type "
    "url urldate volume year"
).split()
# A known field at the beginning of a line: where a value that is never closed has to end.
_FIELD_LINE = re.compile(rf"\n[ \t]*+(?:,[ \t]*+)?(?:{'|'.join(_KNOWN)})[ \t]*+=", re.IGNORECASE)

_BARE = re.compile(r"(?!%)[^\s,#{}\"()=@]++|[()=]")
_JOIN = re.compile(r"\s*+(#?)\s*+")
_CLOSING = {"{": "}", "(": ")", '"': '"'}
_SIGNS = {opening: re.compile(rf"(?<!\\)[{{}}{closing}]") for opening, closing in _CLOSING.items()}

_MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June",
    "jul": "July", "aug": "August", "sep": "September", "oct": "October", "nov": "November", "dec": "December",
}  # fmt: skip

_Value = list[tuple[str, bool]]  # pieces, and whether each stands bare: an abbreviation, if there is one of that name


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its fields as TeX, names in lower case, abbreviations written out."""

    type: str
    key: str
    fields: dict[str, str]
    line: int


@dataclass(frozen=True, slots=True)
class _Raw:
    """An entry before its abbreviations are known."""

    type: str
    key: str
    fields: list[tuple[str, _Value]]
    line: int
    mended: bool = False


def read_entries(text: str, file: str) -> tuple[list[Entry], list[str]]:
    """Every entry with a key in file order, the first where a key stands twice, and warnings."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    macros = _Macros()
    raws = list(_split(text))
    for raw in raws:
        if raw.type == "string":
            for name, value in raw.fields:
                macros.define(name, value)
    entries: dict[str, Entry] = {}
    warnings: list[str] = []
    for raw in raws:
        if raw.type == "string":
            continue
        place = f"{file}:{raw.line}"
        if not raw.key:
            warnings.append(f"{place}: entry without a key left out")
        elif raw.key in entries:
            first = entries[raw.key].line
            warnings.append(f"{place}: key '{raw.key}' stands twice; the entry of line {first} is used")
        else:
            if raw.mended:
                warnings.append(f"{place}: entry '{raw.key}' is not well formed; read as far as possible")
            fields: dict[str, str] = {}
            for name, value in raw.fields:
                fields.setdefault(name, macros.expand(value))
            entries[raw.key] = Entry(raw.type, raw.key, fields, raw.line)
    if macros.spent > _MACRO_BUDGET:
        warnings.append(f"{file}: abbreviations (@string) expand to too much text; some were left out")
    more = len(warnings) - _MOST_WARNINGS
    return list(entries.values()), warnings[:_MOST_WARNINGS] + [f"{file}: {more} more warnings"] * (more > 0)


def _split(text: str) -> Iterator[_Raw]:
    """The entries and abbreviations of a file, well formed or not."""
    line_heads = [found.end() for found in _LINE_HEAD.finditer(text)] + [len(text)]
    line, counted = 1, 0
    head = _next_head(text, 0, len(text))
    while head is not None:
        line += text.count("\n", counted, head.start())
        counted = head.start()
        limit = line_heads[bisect_right(line_heads, counted)]
        kind, at, closing, key = head[1].lower(), head.end(), _CLOSING[head[2]], ""
        if kind in ("comment", "preamble"):
            end = _closed(text, at - 1, limit)
        else:
            if kind != "string" and (found := _KEY.match(text, at, limit)):
                key, at = found[1] or found[2], found.end()
            fields, end, closed = _fields(text, at, limit, closing)
            mended = not closed or _LEFT_BEHIND.match(text, end, limit) is not None
            if mended:
                after = _next_head(text, end, limit)
                end = after.start() if after else limit
                fields = _mended_fields(text, at, end, closing)
            yield _Raw(kind, key, fields, line, mended)
        head = _next_head(text, end, len(text))


def _next_head(text: str, at: int, limit: int) -> re.Match[str] | None:
    """The next `@type{` that does not stand on a line of comment."""
    return next((found for found in _HEAD.finditer(text, at, limit) if found[1]), None)


def _fields(text: str, at: int, limit: int, closing: str) -> tuple[list[tuple[str, _Value]], int, bool]:
    """The fields from `at` on, where reading ended, and whether that is the end of the entry."""
    fields: list[tuple[str, _Value]] = []
    while found := _FIELD.match(text, at, limit):
        at = found.end()
        if found[1] is None:
            return fields, at, found[2] == closing
        value, at = _value(text, at, limit, closing)
        fields.append((found[1].lower(), value))


def _mended_fields(text: str, at: int, end: int, closing: str) -> list[tuple[str, _Value]]:
    """Every `name = value` of a broken entry; no value goes on past a line that begins a field."""
    stops = [found.start() for found in _FIELD_LINE.finditer(text, at, end)] + [end]
    fields: list[tuple[str, _Value]] = []
    while name := _NAME.search(text, at, end):
        start = name.end()
        value, at = _value(text, start, stops[min(bisect_right(stops, start), len(stops) - 1)], closing)
        fields.append((name[1].lower(), value))
    return fields


def _value(text: str, at: int, limit: int, closing: str) -> tuple[_Value, int]:
    """The value at `at` and where it ends: pieces in braces, in quotes or bare, joined by # or just in a row."""
    value: _Value = []
    between = ""
    while at < limit and text[at] != closing:
        if text[at] in '{"':
            end = _closed(text, at, limit)
            piece = text[at + 1 : end] if end < limit else text[at + 1 : end].rstrip(", \n")
            bare, at = False, min(end + 1, limit)
        elif (found := _BARE.match(text, at, limit)) and not _NAME.match(text, at, limit):
            piece, bare, at = found[0], True, found.end()
        else:
            break
        if between:
            value.append((between, False))
        value.append((piece, bare))
        if join := _JOIN.match(text, at, limit):
            between, at = "" if join[1] else join[0], join.end()
    return value, at


def _closed(text: str, at: int, limit: int) -> int:
    """Where the brace, bracket or quote at `at` is closed, braces within it aside; `limit` if it never is."""
    closing, depth = _CLOSING[text[at]], 0
    for sign in _SIGNS[text[at]].finditer(text, at + 1, limit):
        if sign[0] == closing and depth <= 0:
            return sign.start()
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
    return limit


class _Macros:
    """The abbreviations of a file; what they may add to it is limited, for they can double each other."""

    def __init__(self) -> None:
        self._values = dict(_MONTHS)
        self._own: set[str] = set()
        self.spent = 0

    def define(self, name: str, value: _Value) -> None:
        """Set an abbreviation; the first definition holds. One in terms of itself finds nothing there yet."""
        if name not in self._own:
            self._own.add(name)
            self._values[name] = self.expand(value)[:_MACRO_LENGTH]

    def expand(self, value: _Value) -> str:
        """The text of a value, abbreviations written out."""
        return "".join(self._named(piece) if bare else piece for piece, bare in value)

    def _named(self, name: str) -> str:
        text = self._values.get(name.lower())
        if text is None:
            return name
        self.spent += len(text)
        return text if self.spent <= _MACRO_BUDGET else ""
