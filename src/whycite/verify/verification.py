"""What is said of a claim and the document that should back it, also as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal

__all__ = ["Passage", "Verdict", "Verification", "as_html", "passages_html"]


Verdict = Literal["backed", "contradicted", "not found", "could not check"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of the cited document and how well it backs the claim."""

    rank: int
    index: int  # among the document's sentences, behind which come its asides
    score: float  # 0 to 1
    text: str
    section: str  # its heading
    quotes: bool = False  # whether it is the claim itself, word for word or nearly: that backs nothing
    numbers: str = ""  # what is to be said of the claim's numbers: "77 % in the claim, 7.7 % here"

    def _repr_html_(self) -> str:
        return passages_html([self])


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a claim, how sure it is, and all sentences of the document, best first."""

    claim: str
    verdict: Verdict
    confidence: float  # probability that the verdict is right; 0 where nothing could be checked
    passages: tuple[Passage, ...] = ()
    reason: str = ""  # one plain sentence: why this verdict
    chances: Mapping[str, float] = field(default_factory=dict)  # of each verdict; empty where nothing could be checked

    def _repr_html_(self) -> str:
        return as_html(self)


_SHOWN = 5  # passages


def as_html(verification: Verification) -> str:
    """The verdict and the best passages; nothing in them is taken for HTML."""
    sure = f", {verification.confidence:.0%} sure" if verification.confidence else ""
    return (
        f"<p>“{escape(verification.claim)}”<br><b>{escape(verification.verdict)}</b>{sure}: "
        f"{escape(verification.reason)}</p>"
        f"{passages_html(verification.passages[:_SHOWN])}"
    )


def passages_html(passages: Iterable[Passage]) -> str:
    """Passages as a table."""
    rows = "".join(
        f"<tr><td>{passage.rank}</td><td>{passage.score:.2f}</td>"
        f'<td style="text-align: left">{escape(passage.text)}<br><small>{escape(passage.section)}</small></td></tr>'
        for passage in passages
    )
    return f"<table><tr><th>rank</th><th>score</th><th>sentence</th></tr>{rows}</table>" if rows else ""
