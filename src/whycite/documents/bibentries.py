"""Entries of BibTeX files: bibtexparser splits the file, what it gives up on is scanned again here."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["Entry", "read_entries"]

_LONGEST = 1 << 20  # an entry that could not be split is scanned again up to here
_MOST_WARNINGS = 100
_MACRO_LENGTH = 10_000  # no abbreviation is longer; they may double each other
_MACRO_BUDGET = 1 << 24  # characters that abbreviations may add to one file

_COMMENTED = re.compile(r"^([ \t]*%[^\n@]*+)@", re.MULTILINE)
_TYPE_BREAK = re.compile(r"^([ \t]*@\w++)([ \t]*\n\s*+)([{(])", re.MULTILINE)
_LINE_COMMENT = re.compile(r"%[^\n]*+\n?")

_HEAD = re.compile(r"@\s*(\w+)\s*[{(]\s*")
_KEY = re.compile(r"(?!\w+=[\"{\d])([^,\s]++)\s*+,")
_BARE_KEY = re.compile(r"([^,\s{}=\"]++)(?!\s*+=)")

_KNOWN = (
    "abstract address annote archiveprefix author booktitle chapter crossref date date-added doi edition editor "
    "eprint eprinttype file howpublished institution isbn issn issue journal journaltitle key keywords language "
    "location month note number organization pages pmid primaryclass publisher school series subtitle title type "
    "url urldate volume year"
).split()
_NAME = re.compile(r"(?<![\w:+.-])([A-Za-z][\w:+.-]*+)\s*+=\s*+")
# A known field at the beginning of a line: where a value that is never closed has to end.
_FIELD_LINE = re.compile(rf"\n[ \t]*+(?:,[ \t]*+)?(?:{'|'.join(_KNOWN)})[ \t]*+=", re.IGNORECASE)
_LEFT_BEHIND = re.compile(r"\s*+,\s*+[A-Za-z][\w-]*+\s*+=")
_BRACE = re.compile(r"(?<!\\)[{}]")
_QUOTE = re.compile(r'(?<!\\)[{}"]')
_BARE = re.compile(r"[^\s,#{}\"()=]++")
_JOIN = re.compile(r"\s*+#\s*+")

_MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June",
    "jul": "July", "aug": "August", "sep": "September", "oct": "October", "nov": "November", "dec": "December",
}  # fmt: skip


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
    fields: list[tuple[str, str]]
    line: int
    mended: bool = False


def read_entries(text: str, file: str) -> tuple[list[Entry], list[str]]:
    """Every entry with a key in file order, the first where a key stands twice, and warnings."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = _TYPE_BREAK.sub(r"\1\3\2", _COMMENTED.sub(r"\1", text))
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
    from bibtexparser import model
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # it logs what we warn of in our own words
    spans: list[tuple[int, Any]] = []
    at = 0
    for block in parse_string(text, parse_stack=[]).blocks:
        if type(block) is not model.ImplicitComment:
            raw = block.raw or ""
            at = max(at, text.find(raw, at))
            spans.append((at, block))
            # What it gave up on may reach into the next block.
            at += 1 if type(block) is model.ParsingFailedBlock else len(raw)
    for (start, block), (end, _) in pairwise([*spans, (len(text), None)]):
        line = block.start_line + 1
        if type(block) in (model.DuplicateBlockKeyBlock, model.DuplicateFieldKeyBlock):
            block = block.ignore_error_block
        if type(block) is model.String:
            yield _Raw("string", "", list(_fields(block.key, block.value)), line)
        elif type(block) is model.Entry:
            fields = [pair for field in block.fields for pair in _fields(field.key, field.value)]
            behind = start + len(block.raw or "")
            cut_short = _LEFT_BEHIND.match(text, behind, end) is not None
            if cut_short:  # one brace too many ended it early
                fields += _scan(text[behind : min(end, behind + _LONGEST)], mending=True)
            yield _Raw(block.entry_type, block.key, fields, line, mended=cut_short)
        elif type(block) is model.ParsingFailedBlock:
            mended = _mend(text[start : min(end, start + _LONGEST)], line)
            if mended is not None:
                yield mended


def _fields(name: str, value: str) -> Iterator[tuple[str, str]]:
    """A field as it was split; where a comma is missing, the fields it holds."""
    name = _LINE_COMMENT.sub("", name).strip().lower()
    if not name:
        return
    simple = value[:1] == "{" and value[-1:] == "}" and value.find("}") == len(value) - 1
    if simple or value.isdigit() or _BARE.fullmatch(value):
        yield name, value
        return
    end = _value_end(value, 0, len(value))
    more = list(_scan(value[end:], mending=False))
    yield name, value[:end] if more else value
    yield from more


def _mend(text: str, line: int) -> _Raw | None:
    """The entry at the beginning of `text`, however broken; None where there is no sign of one."""
    head = _HEAD.match(text)
    if head is None or head[1].lower() in ("comment", "preamble"):
        return None
    kind, at, key = head[1].lower(), head.end(), ""
    if kind != "string":
        found = _KEY.match(text, at) or _BARE_KEY.match(text, at)
        if found is not None:
            key, at = found[1].strip("{}"), found.end()
    return _Raw(kind, key, list(_scan(text[at:], mending=True)), line, mended=True)


def _scan(text: str, mending: bool) -> Iterator[tuple[str, str]]:
    """The `name = value` pairs of a text; when `mending`, no value goes on past a line that begins a field."""
    stops = [found.start() for found in _FIELD_LINE.finditer(text)] if mending else []
    stops.append(len(text))
    name = _NAME.search(text)
    while name is not None:
        start = name.end()
        limit = stops[min(bisect_right(stops, start), len(stops) - 1)]
        end = _value_end(text, start, limit)
        yield name[1].lower(), text[start:end].rstrip(", \n")
        name = _NAME.search(text, max(end, start))


def _value_end(text: str, at: int, limit: int) -> int:
    """Where the value at `at` ends: pieces in braces, in quotes or bare, joined by #; `limit` if never closed."""
    while True:
        opening = text[at : at + 1]
        if opening == "{":
            at = _closed(text, at, limit, _BRACE)
        elif opening == '"':
            at = _closed(text, at, limit, _QUOTE)
        elif bare := _BARE.match(text, at, limit):
            at = bare.end()
        if at >= limit:
            return limit
        join = _JOIN.match(text, at, limit)
        if join is None:
            return at
        at = join.end()


def _closed(text: str, at: int, limit: int, signs: re.Pattern[str]) -> int:
    """Behind the brace or quote that closes the one at `at`."""
    depth = 0
    for sign in signs.finditer(text, at, limit):
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
        if depth <= 0 and sign.start() > at and (sign[0] == text[at] or (sign[0] == "}" and text[at] == "{")):
            return sign.end()
    return limit


class _Macros:
    """The abbreviations of a file; what they may add to it is limited, for they can double each other."""

    def __init__(self) -> None:
        self._values = dict(_MONTHS)
        self._own: set[str] = set()
        self.spent = 0

    def define(self, name: str, value: str) -> None:
        """Set an abbreviation; the first definition holds. One in terms of itself finds nothing there yet."""
        if name not in self._own:
            self._own.add(name)
            self._values[name] = self.expand(value)[:_MACRO_LENGTH]

    def expand(self, value: str) -> str:
        """The text of a value: braces or quotes around its pieces gone, abbreviations written out."""
        if value[:1] == "{" and value.find("}") == len(value) - 1:
            return value[1:-1]
        pieces: list[str] = []
        at = 0
        while at < len(value):
            if value[at] in '{"':
                end = _closed(value, at, len(value), _BRACE if value[at] == "{" else _QUOTE)
                closed = value[end - 1] == ("}" if value[at] == "{" else '"') and end > at + 1
                pieces.append(value[at + 1 : end - 1] if closed else value[at + 1 : end])
            elif bare := _BARE.match(value, at):
                end = bare.end()
                pieces.append(self._named(bare[0]))
            else:
                end = at + 1
                pieces.append(value[at] if value[at] not in "{},#" else "")
            join = _JOIN.match(value, end)
            at = join.end() if join else end
        return "".join(pieces)

    def _named(self, name: str) -> str:
        text = self._values.get(name.lower())
        if text is None:
            return name
        self.spent += len(text)
        return text if self.spent <= _MACRO_BUDGET else ""
