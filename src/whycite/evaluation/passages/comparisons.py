"""Two sentences of a document, and which of them backs a claim: pairs as the thesis made them (sections 3 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whycite.evaluation.drawing import draw
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.scoring import Scorer

__all__ = ["KINDS", "Comparison", "Kind", "compare", "right"]

Kind = Literal["hard", "augmented"]
KINDS: tuple[Kind, ...] = ("hard", "augmented")

_SIMILAR = 10  # sentences of a document that the thesis's labellers saw: those most similar to the claim
_DISCARDED = 7  # of the others, so many are held against each winner: the thesis had 7.6 times as many pairs then


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim and two sentences of the document by index, and which one backs it more."""

    case: Case
    first: int
    second: int
    better: Literal[0, 1]

    @property
    def winner(self) -> int:
        """The sentence that backs the claim."""
        return self.second if self.better else self.first

    @property
    def loser(self) -> int:
        """The other one."""
        return self.first if self.better else self.second


def compare(cases: Iterable[Case], similarity: Scorer, kind: Kind = "hard", seed: int = 0) -> list[Comparison]:
    """Each gold sentence among the ten most similar to the claim against the others of these.

    `augmented` adds gold ones that never lose against sentences that were discarded as less similar. As often the
    first wins as the second.
    """
    found: list[tuple[Case, int, int]] = []
    for case in cases:
        if case.gold:
            scores = np.asarray(similarity(case.claim, case.sentences), np.float64)
            found += ((case, *pair) for pair in _pairs(case, scores, kind, seed))
    return _balanced(found, seed)


def right(comparison: Comparison, scores: NDArray[np.floating]) -> float:
    """1 where the scores of the document's sentences order the two rightly, 0 where wrongly, half where they tie."""
    return float(np.sign(scores[comparison.winner] - scores[comparison.loser]) + 1) / 2


def _pairs(case: Case, scores: NDArray[np.float64], kind: Kind, seed: int) -> list[tuple[int, int]]:
    order = [int(at) for at in np.argsort(-scores, kind="stable")]
    shown, discarded = order[:_SIMILAR], [at for at in order[_SIMILAR:] if at not in case.gold]
    winners = [at for at in shown if at in case.gold]
    found = [(winner, other) for winner in winners for other in shown if other not in case.gold]
    if kind == "augmented":
        for winner in winners:
            drawn = draw(discarded, lambda at, winner=winner: f"{case.id} {winner} {at}", _DISCARDED, seed)  # type: ignore[misc]
            found += ((winner, other) for other in drawn)
    return found


def _balanced(found: Sequence[tuple[Case, int, int]], seed: int) -> list[Comparison]:
    """The winner is first in one half of the pairs, drawn by lot, and second in the other."""
    lots = draw(range(len(found)), str, len(found), seed)
    swapped = frozenset(lots[: len(found) // 2])
    return [
        Comparison(case, loser, winner, 1) if at in swapped else Comparison(case, winner, loser, 0)
        for at, (case, winner, loser) in enumerate(found)
    ]
