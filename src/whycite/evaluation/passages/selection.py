"""Sentences that are given as evidence, counted as SciFact counts them (Wadden et al. 2020, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.evaluation.passages.model import Case

__all__ = ["Selection", "best_threshold", "chosen", "select"]

_MOST = 3  # sentences of an abstract that count


@dataclass(frozen=True, slots=True)
class Selection:
    """Precision and recall of sentences over all claims."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.precision * self.recall / (self.precision + self.recall) if self.precision else 0.0


def chosen(scores: NDArray[np.floating], threshold: float) -> frozenset[int]:
    """The sentences above the threshold, at most three, the best."""
    order = np.argsort(-scores, kind="stable")[:_MOST]
    return frozenset(int(at) for at in order if scores[at] >= threshold)


def select(judged: Iterable[tuple[Case, frozenset[int]]]) -> Selection:
    """How right the sentences given for each case are: one counts only if its whole rationale is given.

    Where a data set does not tell rationales, each gold sentence is one. Cases without gold count: nothing is right.
    """
    right = given = gold = 0
    for case, sentences in judged:
        rationales = case.rationales or tuple(frozenset({at}) for at in case.gold)
        right += len(frozenset[int]().union(*(rationale for rationale in rationales if rationale <= sentences)))
        given += len(sentences)
        gold += len(case.gold)
    return Selection(right / given if given else 0.0, right / gold if gold else 0.0)


def best_threshold(scored: Sequence[tuple[Case, NDArray[np.floating]]], steps: int = 100) -> float:
    """The threshold that gives these cases the best F1: the lowest of so many of the scores that does."""
    every = np.unique(np.concatenate([scores for _, scores in scored])) if scored else np.zeros(1)
    tried = [float(each) for each in np.quantile(every, np.linspace(0, 1, steps), method="nearest")]
    return max(tried, key=lambda at: select((case, chosen(scores, at)) for case, scores in scored).f1)
