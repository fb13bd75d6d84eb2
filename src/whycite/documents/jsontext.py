"""Records of JSON and JSONL files, read a line at a time, and where in the file their strings stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from whycite.documents.prose import Prose
from whycite.documents.sources import Source

__all__ = ["Passage", "Record", "Strings", "as_dict", "as_list", "as_text", "records"]

MAX_RECORD = 16 << 20  # bytes; the largest real papers are a tenth of this
_LINES = (".jsonl", ".ndjson")
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(frozen=True)
class Record:
    """One object of a file: a line of it, or all of it. `problem` says why there is no `data`."""

    path: str  # with the line, where the file has several records
    line: int
    start: int  # code points before it in the file
    raw: str = ""
    data: dict[str, Any] | None = None
    problem: str = ""


def records(source: Source) -> Iterator[Record]:
    """The records of a file, one after the other; only one is in memory at a time."""
    with source.open() as stream:
        first = stream.readline(MAX_RECORD + 1)
        whole = first.rstrip()
        if source.name.lower().endswith(_LINES) or (whole.startswith((b"{", b"\xef\xbb\xbf{")) and whole[-1:] == b"}"):
            following = stream.readline(MAX_RECORD + 1)
            alone = not following and not source.name.lower().endswith(_LINES)
            yield from _lines(stream, [first, following], source.path, alone)
        else:
            yield _record(first + stream.read(MAX_RECORD + 1 - len(first)), source.path, source.path, 1, 0)


def _lines(stream: BinaryIO, ahead: list[bytes], path: str, alone: bool) -> Iterator[Record]:
    number = start = found = 0
    while line := ahead.pop(0) if ahead else stream.readline(MAX_RECORD + 1):
        number += 1
        length = _points(line)
        if line.strip():
            found += 1
            yield _record(line, path if alone else f"{path}:{number}", path, number, start)
        while len(line) > MAX_RECORD and line[-1:] != b"\n":
            # The rest of a line that is too long: a line of the file, but no record.
            line = ahead.pop(0) if ahead else stream.readline(MAX_RECORD + 1)
            length += _points(line)
        start += length
    if not found:
        yield Record(path, 1, 0, problem=f"{path}:1: no records in this file")


def _points(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION))


def _record(data: bytes, path: str, file: str, line: int, start: int) -> Record:
    if len(data) > MAX_RECORD:
        return Record(path, line, start, problem=f"{file}:{line}: longer than {MAX_RECORD >> 20} MB, left out")
    try:
        raw = data.decode("utf-8")
        value = json.loads(raw.removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1}"
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        problem = "JSON nested too deeply"
    except ValueError as error:  # a number of thousands of digits
        problem = f"not JSON we can read: {error}"
    else:
        if isinstance(value, dict):
            return Record(path, line, start, raw, value)
        problem = "not a JSON object"
    return Record(path, line, start, problem=f"{file}:{line}: {problem}, left out")


def as_text(value: object) -> str:
    """The value if it is a string or a number, else ""."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_dict(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


class Passage:
    """A string of a record and the place of each of its characters in the file."""

    def __init__(self, text: str, literal: str, start: int) -> None:
        self.text = text
        self._start = start
        self._at: list[int] | None = None  # where each piece stands in the text; None: one for one
        if "\\" in literal:
            self._at, self._pieces = _unescape(literal, start)

    def source(self, start: int, end: int) -> tuple[int, int]:
        """The range of the file that text[start:end] stands at."""
        if self._at is None:
            return self._start + start, self._start + end
        first, last = bisect_right(self._at, start) - 1, bisect_right(self._at, max(end - 1, start)) - 1
        source_start, _, exact = self._pieces[first]
        low = source_start + (start - self._at[first] if exact else 0)
        source_start, source_end, exact = self._pieces[last]
        return low, source_start + end - self._at[last] if exact else source_end

    def add(self, prose: Prose, file: str, start: int, end: int) -> None:
        """Append text[start:end] to a paragraph."""
        if start >= end:
            return
        if self._at is None:
            prose.add(self.text[start:end], file, self._start + start)
            return
        index = bisect_right(self._at, start) - 1
        while start < end:
            upto = min(end, self._at[index + 1] if index + 1 < len(self._at) else end)
            source_start, source_end, exact = self._pieces[index]
            if exact:
                prose.add(self.text[start:upto], file, source_start + start - self._at[index])
            else:
                prose.add(self.text[start:upto], file, source_start, source_end)
            start = upto
            index += 1


# Escaped line ends in a row are one piece, a surrogate pair is one character.
_ESCAPE = re.compile(r"((?:\\[nrt])+)|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")

_MANY, _HANDFUL = 50_000, 50


def _unescape(literal: str, start: int) -> tuple[list[int], list[tuple[int, int, bool]]]:
    """Where the pieces of an escaped string stand in its text, and in the file."""
    at: list[int] = []
    pieces: list[tuple[int, int, bool]] = []
    text_at = done = 0
    for escape in _ESCAPE.finditer(literal):
        if escape.start() > done:
            at.append(text_at)
            pieces.append((start + done, start + escape.start(), True))
            text_at += escape.start() - done
        at.append(text_at)
        pieces.append((start + escape.start(), start + escape.end(), False))
        text_at += len(escape[1]) // 2 if escape[1] else 1
        done = escape.end()
    if done < len(literal):
        at.append(text_at)
        pieces.append((start + done, start + len(literal), True))
    if len(pieces) > _MANY:
        # No paragraph of a paper: places by the handful are exact enough.
        ends = [piece[1] for piece in pieces[_HANDFUL - 1 :: _HANDFUL]] + [pieces[-1][1]]
        pieces = [(piece[0], end, False) for piece, end in zip(pieces[::_HANDFUL], ends, strict=False)]
        at = at[::_HANDFUL]
    return at, pieces


_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ENCODERS = (json.JSONEncoder(ensure_ascii=False).encode, json.JSONEncoder(ensure_ascii=True).encode)
_OPENING = 80
_TURNS = 4  # how often a search may begin again at the front of the record


class Strings:
    """Finds the strings of a record in its raw text; cheapest when asked in file order."""

    def __init__(self, record: Record) -> None:
        self._raw, self._base = record.raw, record.start
        self._encode = _ENCODERS[record.raw.isascii()]
        self._cursor = self._turns = 0
        self._index: dict[str, list[tuple[int, int]]] | None = None

    def find(self, text: str) -> Passage:
        """A string of the record that reads `text`, the next one if there are several."""
        if self._index is None:
            literal = self._encode(text)
            # Most often it is the next string that begins this way; a search for all of it costs more.
            at = self._raw.find(literal[:_OPENING], self._cursor)
            if at >= 0 and not self._raw.startswith(literal, at):
                at = self._raw.find(literal, at)
            if at < 0 and self._turns < _TURNS:
                self._turns += 1
                at = self._raw.find(literal)
            if at >= 0:
                self._cursor = at + len(literal)
                return Passage(text, literal[1:-1], self._base + at + 1)
            self._index = self._all()
        places = self._index[text]
        start, end = places[bisect_left(places, (self._cursor, 0)) % len(places)]
        self._cursor = end
        return Passage(text, self._raw[start:end], self._base + start)

    def _all(self) -> dict[str, list[tuple[int, int]]]:
        """Every string by what it reads: for writers that escape in their own way."""
        index: dict[str, list[tuple[int, int]]] = {}
        for found in _STRING.finditer(self._raw):
            index.setdefault(json.loads(found[0]), []).append(found.span(1))
        return index
