"""A document in plain types that JSON can hold, whole and back: what processes give each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from whycite.documents.model import Citation, Document, Reference, Section, Sentence

__all__ = ["from_plain", "to_plain"]


def to_plain(document: Document) -> dict[str, Any]:
    """All of a document."""
    return asdict(document)


def from_plain(plain: Mapping[str, Any]) -> Document:
    """The document that `to_plain` was given."""
    return Document(
        path=plain["path"],
        format=plain["format"],
        paper=_reference(plain["paper"]),
        sections=tuple(Section(**section) for section in plain["sections"]),
        sentences=tuple(map(_sentence, plain["sentences"])),
        references=tuple(map(_reference, plain["references"])),
        warnings=tuple(plain["warnings"]),
        asides=tuple(map(_sentence, plain["asides"])),
    )


def _reference(plain: Mapping[str, Any]) -> Reference:
    return Reference(**{**plain, "authors": tuple(plain["authors"])})


def _sentence(plain: Mapping[str, Any]) -> Sentence:
    citations = (Citation(**{**each, "keys": tuple(each["keys"])}) for each in plain["citations"])
    return Sentence(**{**plain, "citations": tuple(citations)})
