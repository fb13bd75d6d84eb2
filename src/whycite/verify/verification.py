"""The verdict on a claim and the passages behind it, as objects, as JSON and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal, NotRequired

from typing_extensions import TypedDict

__all__ = [
    "WORST_FIRST",
    "Passage",
    "Role",
    "Stance",
    "Verdict",
    "VerdictJson",
    "Verification",
    "VerificationJson",
    "certainty",
    "passage_notes",
    "unchecked",
    "verdict_json",
    "verification_from_json",
    "verification_json",
]

Verdict = Literal["backed", "secondary", "contradicted", "not found", "could not check"]
"""`secondary`: the paper says so, but citing another; that one should be cited."""

WORST_FIRST: tuple[Verdict, ...] = ("contradicted", "secondary", "not found", "backed", "could not check")
"""The order in which a reviewer wants to see verdicts."""

Stance = Literal["supports", "contradicts", "neither"]
"""What a passage says of the claim."""

Role = Literal["own", "hypothesis", "others", "method", "background"]
"""What a passage is to its paper: `own` is what it found itself, `others` what it reports citing them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of the cited document and how well it backs the claim."""

    rank: int
    index: int  # in the document's sentences, followed by its asides
    score: float  # 0 to 1
    text: str
    section: str  # the heading
    quotes: bool = False  # whether it quotes the claim, which is no backing
    numbers: str = ""  # how its numbers compare: "77 % in the claim, 7.7 % here"
    stance: Stance = "neither"
    role: Role = "own"
    decides: bool = False  # whether the verdict rests on it
    page: int | None = None  # of a PDF, from 1

    def _repr_html_(self) -> str:
        return _passages_html([self])


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a claim, how certain it is, and the document's sentences, best first."""

    claim: str
    verdict: Verdict
    confidence: float  # probability that the verdict is right; 0 if the claim could not be checked
    passages: tuple[Passage, ...] = ()
    reason: str = ""  # one plain sentence
    chances: Mapping[str, float] = field(default_factory=dict)  # of each verdict; empty if it could not be checked

    def deciding_first(self) -> tuple[Passage, ...]:
        """The passages in the order to show them: those the verdict rests on, then the rest by rank."""
        return tuple(sorted(self.passages, key=lambda passage: not passage.decides))

    def _repr_html_(self) -> str:
        return _verification_html(self)


def unchecked(claim: str, reason: str, passages: tuple[Passage, ...] = ()) -> Verification:
    """The verification of a claim that could not be checked."""
    return Verification(claim, "could not check", 0.0, passages, reason)


_CERTAIN, _PROBABLE = 0.85, 0.65  # least confidence for these words


def certainty(verification: Verification) -> str:
    """The confidence of a verdict in words: "probably (71%)"."""
    sure = verification.confidence
    words = "almost certainly" if sure >= _CERTAIN else "probably" if sure >= _PROBABLE else "perhaps"
    return f"{words} ({round(100 * sure)}%)"


_ROLE_NOTES: Mapping[Role, str] = {
    "own": "",
    "hypothesis": "a hypothesis or aim",
    "others": "what others found",
    "method": "describes a method",
    "background": "background",
}


def passage_notes(passage: Passage) -> list[str]:
    """What a reader should know about a passage, in words; nothing for an ordinary finding of the paper."""
    notes = [
        "contradicts the claim" if passage.stance == "contradicts" else "",
        _ROLE_NOTES[passage.role],
        "quotes the claim, so it is not evidence" if passage.quotes else "",
        passage.numbers,
    ]
    return [note for note in notes if note]


_DIGITS = 4  # of scores in JSON


class PassageJson(TypedDict):
    """A sentence of the cited paper, and how well it backs the claim."""

    rank: int
    index: int
    score: float
    text: str
    section: str
    stance: Stance
    role: Role
    decides: NotRequired[bool]  # only if it does
    page: NotRequired[int]  # only for a PDF
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


def verdict_json(verification: Verification) -> VerdictJson:
    """The verdict as JSON, without claim and passages."""
    return {
        "verdict": verification.verdict,
        "confidence": round(verification.confidence, _DIGITS),
        "chances": {name: round(chance, _DIGITS) for name, chance in verification.chances.items()},
        "reason": verification.reason,
    }


def verification_json(verification: Verification, n: int | None = None) -> VerificationJson:
    """A verification with its best `n` passages as JSON, those that decided in front."""
    return {
        "claim": verification.claim,
        **verdict_json(verification),
        "passages": [_passage_json(passage) for passage in verification.deciding_first()[:n]],
    }


def _passage_json(passage: Passage) -> PassageJson:
    result: PassageJson = {
        "rank": passage.rank,
        "index": passage.index,
        "score": round(passage.score, _DIGITS),
        "text": passage.text,
        "section": passage.section,
        "stance": passage.stance,
        "role": passage.role,
    }
    if passage.decides:
        result["decides"] = True
    if passage.page is not None:
        result["page"] = passage.page
    if passage.quotes:
        result["quotes"] = True
    if passage.numbers:
        result["numbers"] = passage.numbers
    return result


def verification_from_json(record: VerificationJson) -> Verification:
    """The verification that JSON describes, with the passages that are in it."""
    passages = tuple(Passage(**passage) for passage in record["passages"])
    return Verification(
        record["claim"], record["verdict"], record["confidence"], passages, record["reason"], record["chances"]
    )


_SHOWN_PASSAGES = 5  # in a notebook


def _verification_html(verification: Verification) -> str:
    confidence = f", {verification.confidence:.0%} sure" if verification.confidence else ""
    return (
        f"<p>“{escape(verification.claim)}”<br><b>{escape(verification.verdict)}</b>{confidence}: "
        f"{escape(verification.reason)}</p>"
        f"{_passages_html(verification.deciding_first()[:_SHOWN_PASSAGES])}"
    )


def _passages_html(passages: Iterable[Passage]) -> str:
    rows = "".join(_passage_row(passage) for passage in passages)
    return f"<table><tr><th>rank</th><th>score</th><th>sentence</th></tr>{rows}</table>" if rows else ""


def _passage_row(passage: Passage) -> str:
    rank = f"<b>▶ {passage.rank}</b>" if passage.decides else str(passage.rank)
    page = f"p. {passage.page}" if passage.page is not None else ""
    details = " · ".join(escape(part) for part in (passage.section, page, *passage_notes(passage)) if part)
    return (
        f"<tr><td>{rank}</td><td>{passage.score:.2f}</td>"
        f'<td style="text-align: left">{escape(passage.text)}<br><small>{details}</small></td></tr>'
    )
