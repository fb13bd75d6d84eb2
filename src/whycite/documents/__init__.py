"""Papers and drafts of every format, read into one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whycite.documents.model import Citation, Document, Reference, Section, Sentence

if TYPE_CHECKING:
    from whycite.documents.reading import read, stream

__all__ = ["Citation", "Document", "Reference", "Section", "Sentence", "read", "stream"]


def __getattr__(name: str) -> Any:
    if name in ("read", "stream"):  # imported on demand: the readers take longer to import than the model
        from whycite.documents import reading

        return getattr(reading, name)
    raise AttributeError(f"module 'whycite.documents' has no attribute '{name}'")
