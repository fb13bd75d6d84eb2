"""A way to score sentences, measured on cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.passages.measures import MEASURES
from whycite.evaluation.passages.model import Case
from whycite.evaluation.statistics import Interval, bootstrap

__all__ = ["Scorer", "Scores", "evaluate"]

Scorer = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""A claim and the sentences of a document in, a score for each sentence out: the higher the more it backs the claim."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a scorer is worth: measure -> value for each case that has gold, in their order."""

    ids: tuple[str, ...]
    values: dict[str, tuple[float, ...]]

    def mean(self, measure: str) -> float:
        """The mean over cases."""
        return sum(self.values[measure]) / len(self.ids)

    def interval(self, measure: str, confidence: float = 0.95, seed: int = 0) -> Interval:
        """The mean and its bootstrap interval over cases."""
        return bootstrap(self.values[measure], confidence, seed=seed)


def evaluate(cases: Iterable[Case], scorer: Scorer) -> Scores:
    """Every measure of the scorer on each case; those without gold are left out, as no order of them is wrong."""
    judged = [case for case in cases if case.gold]
    if not judged:
        raise UserError("there is no case with gold sentences to evaluate")
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for case in judged:
        scores = np.asarray(scorer(case.claim, case.sentences), np.float64)
        if scores.shape != (len(case.sentences),) or np.isnan(scores).any():
            raise ValueError(f"{case.id}: the scorer did not give each of {len(case.sentences)} sentences a number")
        gold = np.zeros(len(scores), np.bool_)
        gold[list(case.gold)] = True
        for name, measure in MEASURES.items():
            values[name].append(measure(scores, gold))
    return Scores(tuple(case.id for case in judged), {name: tuple(each) for name, each in values.items()})
