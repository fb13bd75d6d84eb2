"""What an order of a document's sentences is worth: gold sentences should come first (the thesis, section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MEASURES",
    "Measure",
    "average_precision",
    "gains",
    "ndcg",
    "overlap",
    "pairwise_accuracy",
    "recall",
    "reciprocal_rank",
]

Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]
Measure = Callable[[Floats, Gold], float]
"""The scores of a document's sentences, and which of them are gold: at least one. Equal scores: document order."""


def pairwise_accuracy(scores: Floats, gold: Gold) -> float:
    """The share of pairs of a gold sentence and another in which the gold one is above; of equal ones half.

    1 where every sentence is gold, since no pair is wrong.
    """
    others = np.sort(scores[~gold])
    if not len(others):
        return 1.0
    below = np.searchsorted(others, scores[gold], "left") + np.searchsorted(others, scores[gold], "right")
    return float(below.mean() / 2 / len(others))


def reciprocal_rank(scores: Floats, gold: Gold) -> float:
    """1 / the rank of the first gold sentence."""
    return float(1 / _ranks(scores, gold)[0])


def average_precision(scores: Floats, gold: Gold) -> float:
    """The mean over gold sentences of the share of gold down to their rank."""
    ranks = _ranks(scores, gold)
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())


def gains(relevance: NDArray[np.float64], k: int) -> float:
    """The discounted gain of the first k, 2^relevance - 1 over log2(rank + 1)."""
    first = relevance[:k]
    return float(((2**first - 1) / np.log2(np.arange(2, len(first) + 2))).sum())


def ndcg(scores: Floats, gold: Gold, k: int) -> float:
    """The gain of the first k, as a share of that of the best order."""
    relevance = gold.astype(np.float64)
    return gains(relevance[_order(scores)], k) / gains(np.sort(relevance)[::-1], k)


def recall(scores: Floats, gold: Gold, k: int) -> float:
    """The share of gold sentences among the first k."""
    return float((_ranks(scores, gold) <= k).mean())


def overlap(scores: Floats, gold: Gold, k: int) -> float:
    """CL-SciSumm's overlap: F1 of the first k as the answer."""
    right = int((_ranks(scores, gold) <= k).sum())
    return 2 * right / (min(k, len(scores)) + int(gold.sum()))


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
