"""How sure a figure is when what is measured comes in documents: a document is drawn with all that is in it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from whycite.errors import UserError
from whycite.evaluation.statistics import Interval

__all__ = ["by_document"]

_CONFIDENCE = 0.95


def by_document(values: Sequence[float], documents: Sequence[Hashable], samples: int = 2000, seed: int = 0) -> Interval:
    """The mean of the values and its 95 % bootstrap interval over documents, one of which each value is of."""
    if not values:
        raise UserError("a confidence interval needs at least one value")
    if len(values) != len(documents):
        raise ValueError(f"{len(values)} values of {len(documents)} documents")
    numbers = {document: number for number, document in enumerate(dict.fromkeys(documents))}
    groups = np.array([numbers[document] for document in documents])
    sums, sizes = np.bincount(groups, values), np.bincount(groups)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(samples, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return Interval(float(np.mean(values)), float(low), float(high))
