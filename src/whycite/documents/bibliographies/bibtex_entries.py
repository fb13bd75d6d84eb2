"""Entries of BibTeX files, found in one pass; what is not well formed is read as far as possible."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Entry", "read_entries"]

_MOST_WARNINGS = 100
_MACRO_LENGTH = 10_000  # no abbreviation is longer; they may double each other
_MACRO_BUDGET = 1 << 24  # characters that abbreviations may add to one file

# The blanks before an @ that begins a line; a line of comment; the head of an entry.
_HEAD = re.compile(r"\n[^\S\n]*+(?:%[^\n]*+|(?=@))|@(\w++)\s*+([{(])")
_KEY = re.compile(
    r"\s*+\{*+(?:(?!\w+=[\"{\d])([^,\s{}]++(?:[ \t]++[^,\s{}=\"]++)*+)\s*+(?=[,}])"
    r"|([^,\s{}=\"()]++)(?!\s*+=))"  # with no comma behind it
)

_GAP = r"(?:\s++|%[^\n]*+)*+"
_WORD = r"[^\s,={}\"#%()@]++"
# Behind a key or a value: the name of the next field, or the end of the entry.
_FIELD = re.compile(rf"{_GAP}(?:,{_GAP})?(?:({_WORD}(?:[ \t]++{_WORD})*+)\s*+=[\s=]*+|([}})]))?")
_NAME = re.compile(r"(?<![\w:+.-])([A-Za-z][\w:+.-]*+)\s*+=[\s=]*+")
_LEFT_BEHIND = re.compile(r"\s*+,\s*+[A-Za-z][\w-]*+\s*+=")
_KNOWN = (
    "abstract address annote archiveprefix author booktitle chapter crossref date date-added doi edition editor "
    "eprint eprinttype file howpublished institution isbn issn issue journal journaltitle key keywords language "
    "location month note number organization pages pmid primaryclass publisher school series subtitle title type "
    "url urldate volume year"
).split()
# A known field at the beginning of a line: where a value that is never closed has to end.
_FIELD_LINE = re.compile(rf"\n[ \t]*+(?:,[ \t]*+)?(?:{'|'.join(_KNOWN)})[ \t]*+=", re.IGNORECASE)

_BARE = re.compile(r"(?!%|[A-Za-z][\w:+.-]*+\s*+=)[^\s,#{}\")=@][^\s,#{}\")@]*+|\)++")
_JOIN = re.compile(r"\s*+(#?)\s*+")
_CLOSING = {"{": "}", "(": ")", '"': '"'}
# Not one behind a backslash; but two backslashes are a line break, and what stands behind them counts.
_SIGNS = {opening: re.compile(rf"[{{}}{closing}](?<!(?<!\\)\\.)") for opening, closing in _CLOSING.items()}

_MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June",
    "jul": "July", "aug": "August", "sep": "September", "oct": "October", "nov": "November", "dec": "December",
}  # fmt: skip

# The pieces of a value, and whether each stands bare: an abbreviation, if there is one of that name.
_Value = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its fields as TeX, names in lower case, abbreviations written out."""

    type: str
    key: str
    fields: dict[str, str]
    line: int


class _Raw(NamedTuple):
    """An entry before its abbreviations are known."""

    type: str
    key: str
    fields: list[tuple[str, _Value]]
    line: int
    mended: bool


def read_entries(text: str, file: str) -> tuple[list[Entry], list[str]]:
    """Every entry with a key in file order, the first where a key stands twice, and warnings."""
    text = "\n" + text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    macros = _Macros()
    firsts: dict[str, _Raw] = {}
    warnings: list[str] = []
    for raw in _split(text):
        if raw.type == "string":
            for name, value in raw.fields:
                macros.define(name, value)
        elif not raw.key:
            warnings.append(f"{file}:{raw.line}: entry without a key left out")
        elif first := firsts.get(raw.key):
            twice = f"key '{raw.key}' stands twice; the entry of line {first.line} is used"
            warnings.append(f"{file}:{raw.line}: {twice}")
        else:
            firsts[raw.key] = raw
            if raw.mended:
                broken = f"entry '{raw.key}' is not well formed; read as far as possible"
                warnings.append(f"{file}:{raw.line}: {broken}")
    entries = [Entry(raw.type, raw.key, macros.expand_all(raw.fields), raw.line) for raw in firsts.values()]
    if macros.spent > _MACRO_BUDGET:
        warnings.append(f"{file}: abbreviations (@string) expand to too much text; some were left out")
    more = len(warnings) - _MOST_WARNINGS
    return entries, warnings[:_MOST_WARNINGS] + [f"{file}: {more} more warnings"] * (more > 0)


def _split(text: str) -> Iterator[_Raw]:
    """The entries and abbreviations of a file, well formed or not."""
    starts, limits = _heads(text)
    line, counted, end = 0, 0, 0
    for start, following in pairwise(starts):
        head = _HEAD.match(text, start) if start >= end else None
        if head is None:
            continue
        line += text.count("\n", counted, start)
        counted = start
        # A line that begins an entry ends the one before, closed or not: one slip must not cost the rest of the file.
        limit = limits[bisect_right(limits, start)]
        kind, at, closing, key = head[1].lower(), head.end(), _CLOSING[head[2]], ""
        if kind in ("comment", "preamble"):
            end = _closed(text, at - 1, limit)
            continue
        if kind != "string" and (found := _KEY.match(text, at, following)):
            key, at = found[1] or found[2], found.end()
        fields, end, closed = _fields(text, at, limit, closing)
        no_comma = key and fields and text[at] != ","
        mended = not closed or no_comma or _LEFT_BEHIND.match(text, end, limit)
        if mended:
            end = starts[bisect_left(starts, end)]
            fields = _mended_fields(text, at, end, closing)
        yield _Raw(kind, key, fields, line, bool(mended))


def _heads(text: str) -> tuple[list[int], list[int]]:
    """Where entries may begin, and those of these places that begin a line; the end of the text closes both."""
    starts: list[int] = []
    limits: list[int] = []
    line_start = -1
    for found in _HEAD.finditer(text):
        if not found[1]:
            line_start = found.end()
            continue
        starts.append(found.start())
        if found.start() == line_start:
            limits.append(line_start)
    return [*starts, len(text)], [*limits, len(text)]


def _fields(text: str, at: int, limit: int, closing: str) -> tuple[list[tuple[str, _Value]], int, bool]:
    """The fields from `at` on, where reading ended, and whether that is the end of the entry."""
    fields: list[tuple[str, _Value]] = []
    while (found := _FIELD.match(text, at, limit)) and found[1]:
        value, at = _value(text, found.end(), limit, closing)
        fields.append((found[1].lower(), value))
    return fields, found.end() if found else at, bool(found and found[2] == closing)


def _mended_fields(text: str, at: int, end: int, closing: str) -> list[tuple[str, _Value]]:
    """Every `name = value` of a broken entry; no value goes on past a line that begins a field."""
    stops = [found.start() for found in _FIELD_LINE.finditer(text, at, end)] + [end]
    fields: list[tuple[str, _Value]] = []
    while name := _NAME.search(text, at, end):
        value, at = _value(text, name.end(), stops[bisect_left(stops, name.end())], closing)
        fields.append((name[1].lower(), value))
    return fields


def _value(text: str, at: int, limit: int, closing: str) -> tuple[_Value, int]:
    """The value at `at` and where it ends: pieces in braces, in quotes or bare, joined by #; bare words in a row."""
    value: list[tuple[str, bool]] = []
    between, joined = "", True
    while at < limit and text[at] != closing:
        if text[at] == "{" or (text[at] == '"' and joined):
            end = _closed(text, at, limit)
            if end == limit:
                return tuple(value) or ((text[at + 1 : end].rstrip(', \n}"'), False),), limit
            piece, bare, at = text[at + 1 : end], False, end + 1
        elif found := _BARE.match(text, at, limit):
            piece, bare, at = found[0], True, found.end()
        else:
            break
        value += [(between, False), (piece, bare)] if between else [(piece, bare)]
        if join := _JOIN.match(text, at, limit):
            joined, at = bool(join[1]), join.end()
            between = "" if joined else join[0]
    return tuple(value), at


def _closed(text: str, at: int, limit: int) -> int:
    """Where the brace, bracket or quote at `at` is closed, braces within it aside; `limit` if it never is."""
    closing, depth = _CLOSING[text[at]], 0
    end = text.find(closing, at + 1, limit)
    if end < 0:
        return limit
    if text[end - 1] != "\\" and text.find("{", at + 1, end) < 0:
        return end
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
            self._values[name] = self._expand(value)[:_MACRO_LENGTH]

    def expand_all(self, fields: list[tuple[str, _Value]]) -> dict[str, str]:
        """The text of every field, the first where one stands twice."""
        texts: dict[str, str] = {}
        for name, value in fields:
            texts.setdefault(name, self._expand(value))
        return texts

    def _expand(self, value: _Value) -> str:
        return "".join(self._named(piece) if bare else piece for piece, bare in value)

    def _named(self, name: str) -> str:
        text = self._values.get(name.lower())
        if text is None:
            return name
        self.spent += len(text)
        return text if self.spent <= _MACRO_BUDGET else ""
