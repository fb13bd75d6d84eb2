"""Read and write JSON lines, reporting errors with their line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from whycite.documents.jsontext import read_records
from whycite.documents.sources import DiskFolder, MemoryFolder, Source, unwrap
from whycite.errors import UserError

__all__ = ["as_line", "find_file", "read_objects", "read_rows", "text_of", "whole_numbers"]


def find_file(folder: Path, name: str) -> Path:
    """A file of a folder, compressed or not."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    packed = next((file for file in DiskFolder(folder).names() if file == name or file.startswith(f"{name}.")), None)
    if packed is None:
        raise UserError(f"{folder}: contains no {name}, compressed or not")
    return folder / packed


def read_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file in a folder, compressed or not."""
    return (row for _, row in read_objects(find_file(folder, name)))


def read_objects(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSONL file, compressed or not, or of standard input ("-"), with their locations."""
    if str(path) == "-":
        source = Source(MemoryFolder({"stdin.jsonl": sys.stdin.buffer.read()}, ""), "stdin.jsonl")
    else:
        path = Path(path)
        if not path.is_file():
            raise UserError(f"{path}: no such file")
        source = Source(DiskFolder(path.parent, "" if path.parent == Path() else str(path.parent)), path.name)
    try:
        for record in read_records(unwrap(source)):
            if record.data is None:
                raise UserError(record.problem.removesuffix("; skipped"))
            yield record.path if ":" in record.path else f"{record.path}:{record.line}", record.data
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def text_of(row: Mapping[str, Any], key: str, place: str, default: str | None = None) -> str:
    """A string or integer of an object, as a string; required unless there is a default."""
    value = row.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise UserError(f'{place}: "{key}" must be a non-empty string')
    return value


def whole_numbers(row: Mapping[str, Any], key: str, place: str) -> frozenset[int] | None:
    """A list of integers of an object, or None."""
    value = row.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise UserError(f'{place}: "{key}" must be a list of whole numbers')
    return frozenset(value)


def as_line(content: Mapping[str, Any]) -> str:
    """A line of JSON; text that UTF-8 cannot encode (lone surrogates) is escaped."""
    line = json.dumps(content, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(content)
    return line + "\n"
