"""Records of JSON and JSONL files, read one at a time, and where their strings are in the file."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from whycite.documents.builder import Builder, Prose, read_part
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source

__all__ = [
    "JsonRecord",
    "JsonString",
    "StringFinder",
    "as_dict",
    "as_list",
    "as_text",
    "read_documents",
    "read_records",
]

MAX_RECORD = 16 << 20  # bytes; ten times the largest real papers
_LINE_SUFFIXES = (".jsonl", ".ndjson")
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(frozen=True)
class JsonRecord:
    """One object of a file: a line, or all of it. `problem` says why there is no `data`."""

    path: str  # with the line number if the file has several records
    line: int
    start: int  # code points before it in the file
    raw: str = ""
    data: dict[str, Any] | None = None
    problem: str = ""


def read_records(source: Source) -> Iterator[JsonRecord]:
    """The records of a file, with only one in memory at a time."""
    with source.open() as stream:
        first_line = stream.readline(MAX_RECORD + 1)
        whole = first_line.rstrip()
        if source.name.lower().endswith(_LINE_SUFFIXES) or (
            whole.startswith((b"{", b"\xef\xbb\xbf{")) and whole[-1:] == b"}"
        ):
            following = stream.readline(MAX_RECORD + 1)
            alone = not following and not source.name.lower().endswith(_LINE_SUFFIXES)
            yield from _lines(stream, [first_line, following], source.path, alone)
        else:
            yield _record(first_line + stream.read(MAX_RECORD + 1 - len(first_line)), source.path, source.path, 1, 0)


def read_documents(
    source: Source, format: str, read: Callable[[JsonRecord, dict[str, Any], Builder], Document]
) -> Iterator[Document]:
    """The document of every record; the warnings of one that cannot be read say why."""
    for record in read_records(source):
        builder = Builder(record.path, format)
        if record.data is None:
            builder.warn(record.problem)
            yield builder.document(Reference(record.path))
        else:
            yield read_part(record.path, partial(read, record, record.data, builder))


def _lines(stream: BinaryIO, ahead: list[bytes], path: str, alone: bool) -> Iterator[JsonRecord]:
    number = start = record_count = 0
    while line := ahead.pop(0) if ahead else stream.readline(MAX_RECORD + 1):
        number += 1
        length = _points(line)
        if line.strip():
            record_count += 1
            yield _record(line, path if alone else f"{path}:{number}", path, number, start)
        while len(line) > MAX_RECORD and line[-1:] != b"\n":
            # Skip the rest of a line that is too long.
            line = ahead.pop(0) if ahead else stream.readline(MAX_RECORD + 1)
            length += _points(line)
        start += length
    if not record_count:
        yield JsonRecord(path, 1, 0, problem=f"{path}:1: no records in this file")


def _points(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION))


def _record(data: bytes, path: str, file: str, line: int, start: int) -> JsonRecord:
    if len(data) > MAX_RECORD:
        return JsonRecord(path, line, start, problem=f"{file}:{line}: longer than {MAX_RECORD >> 20} MB; skipped")
    try:
        raw = data.decode("utf-8")
        value = json.loads(raw.removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1}"
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        problem = "JSON nested too deeply"
    except ValueError:  # Python refuses to convert thousands of digits
        problem = "not JSON: a number has too many digits"
    else:
        if isinstance(value, dict):
            return JsonRecord(path, line, start, raw, value)
        problem = "not a JSON object"
    return JsonRecord(path, line, start, problem=f"{file}:{line}: {problem}; skipped")


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


class JsonString:
    """A string of a record, and where each of its characters is in the file."""

    def __init__(self, text: str, literal: str, start: int) -> None:
        self.text = text
        self._start = start
        self._text_starts: list[int] | None = None  # of the pieces; None if there are no escapes
        if "\\" in literal:
            self._text_starts, self._pieces = _unescape(literal, start)

    def source(self, start: int, end: int) -> tuple[int, int]:
        """The range of text[start:end] in the file."""
        if self._text_starts is None:
            return self._start + start, self._start + end
        first_piece, last_piece = (
            bisect_right(self._text_starts, start) - 1,
            bisect_right(self._text_starts, max(end - 1, start)) - 1,
        )
        source_start, _, exact = self._pieces[first_piece]
        low = source_start + (start - self._text_starts[first_piece] if exact else 0)
        source_start, source_end, exact = self._pieces[last_piece]
        return low, source_start + end - self._text_starts[last_piece] if exact else source_end

    def add(self, prose: Prose, file: str, start: int, end: int) -> None:
        """Append text[start:end] to a paragraph."""
        if start >= end:
            return
        if self._text_starts is None:
            prose.add(self.text[start:end], file, self._start + start)
            return
        index = bisect_right(self._text_starts, start) - 1
        while start < end:
            upto = min(end, self._text_starts[index + 1] if index + 1 < len(self._text_starts) else end)
            source_start, source_end, exact = self._pieces[index]
            if exact:
                prose.add(self.text[start:upto], file, source_start + start - self._text_starts[index])
            else:
                prose.add(self.text[start:upto], file, source_start, source_end)
            start = upto
            index += 1


# A run of escaped line ends is one piece, and a surrogate pair is one character.
_ESCAPE = re.compile(r"((?:\\[nrt])+)|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")

# A string with more pieces is not a paragraph of a paper: positions are then kept for groups of pieces only.
_MAX_PIECES, _GROUP_SIZE = 50_000, 50


def _unescape(literal: str, start: int) -> tuple[list[int], list[tuple[int, int, bool]]]:
    """Where the pieces of an escaped string are in its text, and in the file."""
    text_starts: list[int] = []
    pieces: list[tuple[int, int, bool]] = []
    text_position = literal_position = 0
    for escape in _ESCAPE.finditer(literal):
        if escape.start() > literal_position:
            text_starts.append(text_position)
            pieces.append((start + literal_position, start + escape.start(), True))
            text_position += escape.start() - literal_position
        text_starts.append(text_position)
        pieces.append((start + escape.start(), start + escape.end(), False))
        text_position += len(escape[1]) // 2 if escape[1] else 1
        literal_position = escape.end()
    if literal_position < len(literal):
        text_starts.append(text_position)
        pieces.append((start + literal_position, start + len(literal), True))
    if len(pieces) > _MAX_PIECES:
        ends = [piece[1] for piece in pieces[_GROUP_SIZE - 1 :: _GROUP_SIZE]] + [pieces[-1][1]]
        pieces = [(piece[0], end, False) for piece, end in zip(pieces[::_GROUP_SIZE], ends, strict=False)]
        text_starts = text_starts[::_GROUP_SIZE]
    return text_starts, pieces


_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ENCODERS = (json.JSONEncoder(ensure_ascii=False).encode, json.JSONEncoder(ensure_ascii=True).encode)
_PREFIX_LENGTH = 80  # characters of a string that are searched for before all of it
_MAX_RESTARTS = 4  # searches from the start of the record before all strings are indexed


class StringFinder:
    """Finds the strings of a record in its raw text; fastest in file order."""

    def __init__(self, record: JsonRecord) -> None:
        self._raw, self._base = record.raw, record.start
        self._encode = _ENCODERS[record.raw.isascii()]
        self._cursor = self._restarts = 0
        self._index: dict[str, list[tuple[int, int]]] | None = None

    def find(self, text: str) -> JsonString:
        """The string of the record that equals `text`; the next one if there are several."""
        if self._index is None:
            literal = self._encode(text)
            # Usually the next string with this beginning is the right one, and searching for all of it takes longer.
            position = self._raw.find(literal[:_PREFIX_LENGTH], self._cursor)
            if position >= 0 and not self._raw.startswith(literal, position):
                position = self._raw.find(literal, position)
            if position < 0 and self._restarts < _MAX_RESTARTS:
                self._restarts += 1
                position = self._raw.find(literal)
            if position >= 0:
                self._cursor = position + len(literal)
                return JsonString(text, literal[1:-1], self._base + position + 1)
            self._index = self._index_strings()
        places = self._index[text]
        start, end = places[bisect_left(places, (self._cursor, 0)) % len(places)]
        self._cursor = end
        return JsonString(text, self._raw[start:end], self._base + start)

    def _index_strings(self) -> dict[str, list[tuple[int, int]]]:
        """Every string by its value, for files with unusual escapes."""
        index: dict[str, list[tuple[int, int]]] = {}
        for match in _STRING.finditer(self._raw):
            index.setdefault(json.loads(match[0]), []).append(match.span(1))
        return index
