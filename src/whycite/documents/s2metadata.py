"""The metadata that S2ORC's older releases keep in a file beside the full texts, joined as both are read."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, BinaryIO

from whycite.documents.containers import unwrap
from whycite.documents.jsontext import MAX_RECORD, as_text
from whycite.documents.sources import Source

__all__ = ["Metadata"]

MAX_AHEAD = 64 << 20  # bytes of rows kept for papers not met yet: the two files run in the same order


class Metadata(AbstractContextManager["Metadata"]):
    """Rows by paper id, out of a stream that is read no further than needed."""

    def __init__(self, stream: BinaryIO | None) -> None:
        self._stream = stream
        self._ahead: dict[str, bytes] = {}
        self._size = 0

    @classmethod
    def beside(cls, source: Source) -> Metadata:
        """The metadata file that belongs to a file of full texts, or none."""
        folder, _, name = source.name.rpartition("/")
        if not name.startswith("pdf_parses"):
            return cls(None)
        name = name.replace("pdf_parses", "metadata", 1)
        up, _, last = folder.rpartition("/")
        folders = [folder] + ([f"{up}/metadata".lstrip("/")] if last == "pdf_parses" else [])
        plain = name.removesuffix(".gz")
        for place in folders:
            for choice in (plain, f"{plain}.gz"):
                found = source.sibling(f"{place}/{choice}".lstrip("/"))
                if found is not None:
                    return cls(unwrap(found).open())
        return cls(None)

    def row(self, paper_id: str) -> dict[str, Any]:
        """What the file says of a paper; nothing where it has no row that can still be reached."""
        while paper_id not in self._ahead and self._read_one():
            pass
        line = self._ahead.pop(paper_id, b"")
        self._size -= len(line)
        return _parse(line)

    def _read_one(self) -> bool:
        line = self._stream.readline(MAX_RECORD) if self._stream is not None else b""
        if not line:
            return False
        row = _parse(line)
        key = as_text(row.get("paper_id"))
        if key and row.get("has_pdf_parse", True):
            self._size += len(line) - len(self._ahead.get(key, b""))
            self._ahead[key] = line
            while self._size > MAX_AHEAD:
                self._size -= len(self._ahead.pop(next(iter(self._ahead))))
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line) if line else {}
    except (ValueError, RecursionError):  # a row that cannot be read says nothing of any paper
        row = {}
    return row if isinstance(row, dict) else {}
