"""A document as the JSON that `whycite read` prints; the keys are an interface."""

from __future__ import annotations

from typing import Any

from whycite.documents.identity import paper_key
from whycite.documents.model import Document, Reference, Sentence

__all__ = ["as_dict"]


def as_dict(document: Document) -> dict[str, Any]:
    """The document in plain types."""
    return {
        "path": document.path,
        "format": document.format,
        "title": document.paper.title,
        "year": document.paper.year,
        "sections": [{"heading": s.heading, "type": s.type, "level": s.level} for s in document.sections],
        "sentences": [_sentence(sentence, document) for sentence in document.sentences],
        "references": [_reference(reference) for reference in document.references],
        "warnings": list(document.warnings),
    }


def _sentence(sentence: Sentence, document: Document) -> dict[str, Any]:
    section = document.sections[sentence.section]
    return {
        "text": sentence.text,
        "section": section.heading,
        "section_type": section.type,
        "paragraph": sentence.paragraph,
        "file": sentence.file,
        "start": sentence.start,
        "end": sentence.end,
        "citations": [{"keys": list(c.keys), "start": c.start, "end": c.end} for c in sentence.citations],
    }


def _reference(reference: Reference) -> dict[str, Any]:
    return {
        "id": reference.id,
        "key": paper_key(reference),
        "title": reference.title,
        "authors": list(reference.authors),
        "year": reference.year,
        "venue": reference.venue,
        "doi": reference.doi,
    }
