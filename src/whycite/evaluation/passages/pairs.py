"""Claims with the sentences of a document, as a ranker learns from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whycite.evaluation.passages.model import Case

__all__ = ["Pair", "pairs"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and a sentence, whether it backs (or contradicts) the claim, and the sentences beside it ("": none)."""

    claim: str
    sentence: str
    before: str
    after: str
    relevant: bool
    document: str


def pairs(cases: Iterable[Case]) -> Iterator[list[Pair]]:
    """For each case with gold one pair a sentence, in the order of the document."""
    for case in cases:
        if case.gold:
            yield [
                Pair(case.claim, sentence, before, after, at in case.gold, case.document)
                for at, (before, sentence, after) in enumerate(
                    zip(("", *case.sentences), case.sentences, (*case.sentences[1:], ""), strict=False)
                )
            ]
