"""Comparisons: which of two sentences of a document backs a claim (the thesis, sections 3 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whycite.lab.evaluate.statistics import draw
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.measures import Scorer

__all__ = [
    "KINDS",
    "ClaimSentence",
    "ComparisonKind",
    "SentenceComparison",
    "claim_sentences",
    "comparison_score",
    "make_comparisons",
]


ComparisonKind = Literal["hard", "augmented"]
KINDS: tuple[ComparisonKind, ...] = ("hard", "augmented")

_SIMILAR = 10  # sentences most similar to the claim, as many as the thesis showed its labellers
_DISCARDED = 7  # less similar sentences compared with each winner; augmenting gave the thesis 7.6 times as many pairs


@dataclass(frozen=True, slots=True)
class SentenceComparison:
    """A claim, the indices of two sentences, and which of them backs it better."""

    case: PassageCase
    first_index: int
    second_index: int
    better: Literal[0, 1]

    @property
    def winner(self) -> int:
        """The sentence that backs the claim better."""
        return self.second_index if self.better else self.first_index

    @property
    def loser(self) -> int:
        """The other sentence."""
        return self.first_index if self.better else self.second_index


def make_comparisons(
    cases: Iterable[PassageCase], similarity: Scorer, kind: ComparisonKind = "hard", seed: int = 0
) -> list[SentenceComparison]:
    """Compare gold sentences with the others among the ten most similar to the claim.

    `augmented` also compares these gold sentences, which never lose, with less similar ones that were discarded. The
    first and the second sentence win equally often.
    """
    pairs: list[tuple[PassageCase, int, int]] = []
    for case in cases:
        if case.gold:
            scores = np.asarray(similarity(case.claim, case.sentences), np.float64)
            pairs += ((case, *pair) for pair in _sentence_pairs(case, scores, kind, seed))
    return _balance(pairs, seed)


def comparison_score(comparison: SentenceComparison, scores: NDArray[np.floating]) -> float:
    """1 if the scores order the two sentences correctly, 0 if not, 0.5 if they tie."""
    return float(np.sign(scores[comparison.winner] - scores[comparison.loser]) + 1) / 2


def _sentence_pairs(
    case: PassageCase, scores: NDArray[np.float64], kind: ComparisonKind, seed: int
) -> list[tuple[int, int]]:
    order = [int(index) for index in np.argsort(-scores, kind="stable")]
    shown, discarded = order[:_SIMILAR], [index for index in order[_SIMILAR:] if index not in case.gold]
    winners = [index for index in shown if index in case.gold]
    pairs = [(winner, loser) for winner in winners for loser in shown if loser not in case.gold]
    if kind == "augmented":
        for winner in winners:
            drawn = draw(discarded, lambda index, winner=winner: f"{case.id} {winner} {index}", _DISCARDED, seed)  # type: ignore[misc]
            pairs += ((winner, loser) for loser in drawn)
    return pairs


def _balance(pairs: Sequence[tuple[PassageCase, int, int]], seed: int) -> list[SentenceComparison]:
    """Put the winner first in a random half of the pairs."""
    lots = draw(range(len(pairs)), str, len(pairs), seed)
    swapped = frozenset(lots[: len(pairs) // 2])
    return [
        SentenceComparison(case, loser, winner, 1) if index in swapped else SentenceComparison(case, winner, loser, 0)
        for index, (case, winner, loser) in enumerate(pairs)
    ]


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    """A claim and a sentence, whether it backs (or contradicts) the claim, and its neighbours ("" if none)."""

    claim: str
    sentence: str
    previous: str
    following: str
    relevant: bool
    document: str


def claim_sentences(cases: Iterable[PassageCase]) -> Iterator[list[ClaimSentence]]:
    """For each case with gold, one item per sentence in document order."""
    for case in cases:
        if case.gold:
            yield [
                ClaimSentence(case.claim, sentence, previous, following, index in case.gold, case.document)
                for index, (previous, sentence, following) in enumerate(
                    zip(("", *case.sentences), case.sentences, (*case.sentences[1:], ""), strict=False)
                )
            ]
