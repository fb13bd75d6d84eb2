"""Verifications as JSON."""

from __future__ import annotations

from typing import Any

from whycite.verify.drafts import CitationVerdict
from whycite.verify.verification import Passage, Verification

__all__ = ["as_dict", "citation_as_dict", "passage_as_dict"]

_DIGITS = 4


def as_dict(verification: Verification, n: int | None = None) -> dict[str, Any]:
    """A verification with its best `n` passages."""
    return {
        "claim": verification.claim,
        "verdict": verification.verdict,
        "confidence": round(verification.confidence, _DIGITS),
        "chances": {name: round(chance, _DIGITS) for name, chance in verification.chances.items()},
        "reason": verification.reason,
        "passages": [passage_as_dict(passage) for passage in verification.passages[:n]],
    }


def passage_as_dict(passage: Passage) -> dict[str, Any]:
    """A passage; what is to be said of quotation and numbers only where there is something to say."""
    fields: dict[str, Any] = {
        "rank": passage.rank,
        "index": passage.index,
        "score": round(passage.score, _DIGITS),
        "text": passage.text,
        "section": passage.section,
    }
    return (
        fields
        | ({"quotes": True} if passage.quotes else {})
        | ({"numbers": passage.numbers} if passage.numbers else {})
    )


def citation_as_dict(citation: CitationVerdict, n: int | None = None) -> dict[str, Any]:
    """A citation of a draft with its verification."""
    return {
        "file": citation.file,
        "line": citation.line,
        "start": citation.start,
        "end": citation.end,
        "section": citation.section,
        "reference": {"id": citation.reference.id, "title": citation.reference.title, "year": citation.reference.year},
        "paper": citation.paper,
        **as_dict(citation.verification, n),
    }
