"""Verifications as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

from whycite.verify.verification import Passage, Verdict, Verification

if TYPE_CHECKING:
    from whycite.verify.drafts import CitationVerdict

__all__ = ["VerificationJson", "citation_verdict_json", "verdict_json", "verification_json"]

_DIGITS = 4


class PassageJson(TypedDict):
    """A sentence of the cited paper, and how well it backs the claim."""

    rank: int
    index: int
    score: float
    text: str
    section: str
    quotes: NotRequired[bool]  # only if it does
    numbers: NotRequired[str]  # only if there is something to say about them


class VerdictJson(TypedDict):
    """The verdict on a claim, and why."""

    verdict: Verdict
    confidence: float
    chances: dict[str, float]
    reason: str


class VerificationJson(VerdictJson):
    """The verdict on a claim and the best passages."""

    claim: str
    passages: list[PassageJson]


class CitedReferenceJson(TypedDict):
    """The reference that a citation points to."""

    id: str
    title: str
    year: int | None


class CitationVerdictJson(VerificationJson):
    """A citation of a draft with its verification."""

    file: str
    line: int | None
    start: int
    end: int
    section: str
    reference: CitedReferenceJson
    paper: str


def verdict_json(verification: Verification) -> VerdictJson:
    """The verdict as JSON, without claim and passages."""
    return {
        "verdict": verification.verdict,
        "confidence": round(verification.confidence, _DIGITS),
        "chances": {name: round(chance, _DIGITS) for name, chance in verification.chances.items()},
        "reason": verification.reason,
    }


def verification_json(verification: Verification, n: int | None = None) -> VerificationJson:
    """A verification with its best `n` passages as JSON."""
    return {
        "claim": verification.claim,
        **verdict_json(verification),
        "passages": [_passage_json(passage) for passage in verification.passages[:n]],
    }


def _passage_json(passage: Passage) -> PassageJson:
    result: PassageJson = {
        "rank": passage.rank,
        "index": passage.index,
        "score": round(passage.score, _DIGITS),
        "text": passage.text,
        "section": passage.section,
    }
    if passage.quotes:
        result["quotes"] = True
    if passage.numbers:
        result["numbers"] = passage.numbers
    return result


def citation_verdict_json(citation: CitationVerdict, n: int | None = None) -> CitationVerdictJson:
    """A citation of a draft and its verification as JSON."""
    reference = citation.reference
    return {
        "file": citation.file,
        "line": citation.line,
        "start": citation.start,
        "end": citation.end,
        "section": citation.section,
        "reference": {"id": reference.id, "title": reference.title, "year": reference.year},
        "paper": citation.paper,
        **verification_json(citation.verification, n),
    }
