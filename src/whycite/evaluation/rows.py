"""The rows of a data set's files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whycite.documents.containers import unwrap
from whycite.documents.jsontext import records
from whycite.documents.sources import DiskFolder, Source
from whycite.errors import UserError

__all__ = ["read"]


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
