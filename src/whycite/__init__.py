"""Know what to cite, where, and why: a local-first, evidence-grounded citation assistant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whycite.documents import Document

__all__ = ["read"]


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path, with the type of every section that has one."""
    from whycite import documents, structure

    return structure.label(documents.read(path, format))
