"""A document as JSON: as `whycite read` prints it, and whole and back, as processes give it to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from whycite.documents.identity import paper_key
from whycite.documents.model import Citation, Document, Reference, Section, Sentence

__all__ = ["as_dict", "from_plain", "to_plain"]


def as_dict(document: Document) -> dict[str, Any]:
    """The document in plain types."""
    return {
        "path": document.path,
        "format": document.format,
        "title": document.paper.title,
        "year": document.paper.year,
        "sections": [{"heading": s.heading, "type": s.type, "level": s.level} for s in document.sections],
        "sentences": [_sentence_dict(sentence, document) for sentence in document.sentences],
        "references": [_reference_dict(reference) for reference in document.references],
        "warnings": list(document.warnings),
    }


def _sentence_dict(sentence: Sentence, document: Document) -> dict[str, Any]:
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


def _reference_dict(reference: Reference) -> dict[str, Any]:
    return {
        "id": reference.id,
        "key": paper_key(reference),
        "title": reference.title,
        "authors": list(reference.authors),
        "year": reference.year,
        "venue": reference.venue,
        "doi": reference.doi,
    }


def to_plain(document: Document) -> dict[str, Any]:
    """All of a document."""
    return asdict(document)


def from_plain(plain: Mapping[str, Any]) -> Document:
    """The document that `to_plain` was given."""
    return Document(
        path=plain["path"],
        format=plain["format"],
        paper=_load_reference(plain["paper"]),
        sections=tuple(Section(**section) for section in plain["sections"]),
        sentences=tuple(map(_load_sentence, plain["sentences"])),
        references=tuple(map(_load_reference, plain["references"])),
        warnings=tuple(plain["warnings"]),
        asides=tuple(map(_load_sentence, plain["asides"])),
    )


def _load_reference(plain: Mapping[str, Any]) -> Reference:
    return Reference(**{**plain, "authors": tuple(plain["authors"])})


def _load_sentence(plain: Mapping[str, Any]) -> Sentence:
    citations = (Citation(**{**citation, "keys": tuple(citation["keys"])}) for citation in plain["citations"])
    return Sentence(**{**plain, "citations": tuple(citations)})
