"""What a ranker reads: a claim told what it is compared with, and the other text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

__all__ = ["Kind", "claim_text", "paper_text", "passage_text", "side_by_side"]

Kind = Literal["paper", "passage", "span", "stance"]
"""What a claim is compared with: a paper, a sentence of the paper it cites, a text that cites the same paper.

A stance is asked of a sentence of the cited paper too: above 0 it says so, below it says otherwise.
"""


def claim_text(kind: Kind, claim: str) -> str:
    """The claim, told apart by what it is compared with."""
    return f"{kind}: {claim}"


def paper_text(title: str, *more: str) -> str:
    """A paper as far as it is known: the title, then the abstract, or what others say when they cite it."""
    return "\n".join(filter(None, (title, *more)))


def passage_text(sentence: str, *beside: str) -> str:
    """A sentence, then those before and after it, if they are to be seen."""
    return "\n".join(filter(None, (sentence, " ".join(beside))))


def side_by_side(claim: Sequence[int], text: Sequence[int], longest: int) -> list[int]:
    """The tokens of the claim, then those of the text without its first mark; the longer one is cut at its end.

    Both come with the marks that their tokenizer puts at either end.
    """
    room = longest - len(claim) - len(text) + 1
    if room < 0:
        half = longest // 2
        kept = max(half, longest - len(text) + 1)
        if len(claim) > kept:
            claim = [*claim[: kept - 1], claim[-1]]
        kept = longest - len(claim)
        text = [*text[:kept], text[-1]] if len(text) > kept + 1 else text
    return [*claim, *text[1:]]
