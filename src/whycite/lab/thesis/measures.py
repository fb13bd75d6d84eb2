"""Measures of sentence scores: rankings (the thesis, section 7.1), and selections as in SciFact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.evaluate.statistics import Interval, bootstrap
from whycite.lab.thesis.datasets import PassageCase

__all__ = [
    "MEASURES",
    "Measure",
    "PassageScores",
    "Scorer",
    "Selection",
    "average_precision",
    "best_threshold",
    "choose_sentences",
    "evaluate_scorer",
    "gains",
    "measure_selection",
    "ndcg",
    "overlap",
    "pairwise_accuracy",
    "recall",
    "reciprocal_rank",
]


Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]
Measure = Callable[[Floats, Gold], float]
"""Measures the scores of a document's sentences, at least one of them gold; ties keep document order."""


def pairwise_accuracy(scores: Floats, gold: Gold) -> float:
    """The share of pairs of a gold and another sentence with the gold one ranked higher; ties count half.

    1 if every sentence is gold, since no pair is wrong.
    """
    other_scores = np.sort(scores[~gold])
    if not len(other_scores):
        return 1.0
    below = np.searchsorted(other_scores, scores[gold], "left") + np.searchsorted(other_scores, scores[gold], "right")
    return float(below.mean() / 2 / len(other_scores))


def reciprocal_rank(scores: Floats, gold: Gold) -> float:
    """1 / the rank of the first gold sentence."""
    return float(1 / _ranks(scores, gold)[0])


def average_precision(scores: Floats, gold: Gold) -> float:
    """The mean precision at the rank of each gold sentence."""
    ranks = _ranks(scores, gold)
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())


def gains(relevance: NDArray[np.float64], k: int) -> float:
    """The discounted gains of the top k: 2^relevance - 1 over log2(rank + 1)."""
    top = relevance[:k]
    return float(((2**top - 1) / np.log2(np.arange(2, len(top) + 2))).sum())


def ndcg(scores: Floats, gold: Gold, k: int) -> float:
    """The gain of the top k, relative to the best order."""
    relevance = gold.astype(np.float64)
    return gains(relevance[_order(scores)], k) / gains(np.sort(relevance)[::-1], k)


def recall(scores: Floats, gold: Gold, k: int) -> float:
    """The share of gold sentences that are in the top k."""
    return float((_ranks(scores, gold) <= k).mean())


def overlap(scores: Floats, gold: Gold, k: int) -> float:
    """CL-SciSumm's overlap: F1 of the top k."""
    hits = int((_ranks(scores, gold) <= k).sum())
    return 2 * hits / (min(k, len(scores)) + int(gold.sum()))


def _order(scores: Floats) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")


def _ranks(scores: Floats, gold: Gold) -> NDArray[np.int64]:
    """The ranks of the gold sentences, best first, counted from 1."""
    return np.flatnonzero(gold[_order(scores)]) + 1


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "pairwise": pairwise_accuracy,
        "MRR": reciprocal_rank,
        "MAP": average_precision,
        "nDCG@5": partial(ndcg, k=5),
        "nDCG@10": partial(ndcg, k=10),
        "R@1": partial(recall, k=1),
        "R@3": partial(recall, k=3),
        "R@5": partial(recall, k=5),
        "R@10": partial(recall, k=10),
        "F1@2": partial(overlap, k=2),
    }
)


Scorer = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""Scores the sentences of a document by how well they back a claim."""


@dataclass(frozen=True, slots=True)
class PassageScores:
    """The measures of a scorer: name -> one value per case with gold."""

    ids: tuple[str, ...]
    values: dict[str, tuple[float, ...]]

    def mean(self, measure: str) -> float:
        """The mean over cases."""
        return sum(self.values[measure]) / len(self.ids)

    def interval(self, measure: str, confidence: float = 0.95, seed: int = 0) -> Interval:
        """The mean and its bootstrap interval over cases."""
        return bootstrap(self.values[measure], confidence, seed=seed)


def evaluate_scorer(cases: Iterable[PassageCase], scorer: Scorer) -> PassageScores:
    """Measure a scorer on each case with gold; without gold, every order is right."""
    judged = [case for case in cases if case.gold]
    if not judged:
        raise UserError("no cases with gold sentences to evaluate")
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for case in judged:
        scores = np.asarray(scorer(case.claim, case.sentences), np.float64)
        if scores.shape != (len(case.sentences),) or np.isnan(scores).any():
            raise ValueError(
                f"{case.id}: the scorer did not return a number for each of the {len(case.sentences)} sentences"
            )
        gold = np.zeros(len(scores), np.bool_)
        gold[list(case.gold)] = True
        for name, measure in MEASURES.items():
            values[name].append(measure(scores, gold))
    return PassageScores(
        tuple(case.id for case in judged), {name: tuple(case_values) for name, case_values in values.items()}
    )


_MAX_SENTENCES = 3  # sentences selected per abstract


@dataclass(frozen=True, slots=True)
class Selection:
    """Precision and recall of the selected sentences over all claims."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.precision * self.recall / (self.precision + self.recall) if self.precision else 0.0


def choose_sentences(scores: NDArray[np.floating], threshold: float) -> frozenset[int]:
    """The best sentences that reach the threshold, three at most."""
    order = np.argsort(-scores, kind="stable")[:_MAX_SENTENCES]
    return frozenset(int(index) for index in order if scores[index] >= threshold)


def measure_selection(judged: Iterable[tuple[PassageCase, frozenset[int]]]) -> Selection:
    """Measure the sentences selected for each case: one is right only if its whole rationale is selected.

    Without rationales in the dataset, each gold sentence is one. In cases without gold, every selection is wrong.
    """
    hits = selected = gold = 0
    for case, sentences in judged:
        rationales = case.rationales or tuple(frozenset({index}) for index in case.gold)
        hits += len(frozenset[int]().union(*(rationale for rationale in rationales if rationale <= sentences)))
        selected += len(sentences)
        gold += len(case.gold)
    return Selection(hits / selected if selected else 0.0, hits / gold if gold else 0.0)


def best_threshold(scored: Sequence[tuple[PassageCase, NDArray[np.floating]]], steps: int = 100) -> float:
    """The threshold with the best F1 among `steps` quantiles of the scores, the lowest if tied."""
    every = np.unique(np.concatenate([scores for _, scores in scored])) if scored else np.zeros(1)
    thresholds = [float(score) for score in np.quantile(every, np.linspace(0, 1, steps), method="nearest")]
    return max(
        thresholds,
        key=lambda threshold: (
            measure_selection((case, choose_sentences(scores, threshold)) for case, scores in scored).f1
        ),
    )
