"""Know what to cite, where, and why: a local-first, evidence-grounded citation assistant."""

from __future__ import annotations

from pathlib import Path

from whycite.documents import Document
from whycite.documents import read as _read
from whycite.structure import label

__all__ = ["read"]


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path, with the type of every section that has one."""
    return label(_read(path, format))
