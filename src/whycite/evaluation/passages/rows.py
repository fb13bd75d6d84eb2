"""The rows of a data set's files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whycite.documents.containers import unwrap
from whycite.documents.jsontext import as_dict, as_list, as_text, records
from whycite.documents.sources import DiskFolder, Source
from whycite.errors import UserError

__all__ = ["numbers", "rationales", "read", "texts"]


def read(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The rows of folder/name, a JSONL file, compressed or not."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    files = DiskFolder(folder)
    packed = next((file for file in files.names() if file == name or file.startswith(f"{name}.")), None)
    if packed is None:
        raise UserError(f"{folder}: holds no {name}, compressed or not")
    for record in records(unwrap(Source(files, packed))):
        if record.data is None:
            raise UserError(record.problem)
        yield record.data


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(map(as_text, as_list(value)))


def numbers(value: object) -> frozenset[int]:
    """The whole numbers of a list."""
    return frozenset(number for number in as_list(value) if isinstance(number, int))


def rationales(row: dict[str, Any]) -> dict[str, tuple[frozenset[int], str]]:
    """In rows of SciFact's form: the sentences marked in each document, and the label."""
    found: dict[str, tuple[frozenset[int], str]] = {}
    for document, given in as_dict(row.get("evidence")).items():
        marked = [as_dict(rationale) for rationale in as_list(given)]
        sentences = frozenset[int]().union(*(numbers(rationale.get("sentences")) for rationale in marked))
        found[document] = sentences, next((as_text(rationale.get("label")) for rationale in marked), "")
    return found
