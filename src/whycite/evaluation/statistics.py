"""Is a difference more than chance? Confidence intervals and paired t-tests over queries (ILCiteR, 7.2 and 7.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whycite.errors import MissingExtra, UserError

__all__ = ["Interval", "Paired", "bootstrap", "paired_t_test"]

_AT_ONCE = 2**22  # numbers drawn at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the confidence interval around it."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired t-test: the mean difference, its t and the two-sided p."""

    difference: float
    t: float
    p: float


def bootstrap(values: Sequence[float], confidence: float = 0.95, samples: int = 10_000, seed: int = 0) -> Interval:
    """The percentile bootstrap interval of the mean; the same values and seed give the same interval."""
    if not values:
        raise UserError("a confidence interval needs at least one query")
    if not 0 < confidence < 1:
        raise UserError(f"confidence must be between 0 and 1, not {confidence}")
    if samples < 1:
        raise UserError(f"samples must be 1 or more, not {samples}")
    measured = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    rows = max(_AT_ONCE // len(measured), 1)
    means = np.concatenate(
        [
            measured[random.integers(len(measured), size=(min(rows, samples - done), len(measured)))].mean(axis=1)
            for done in range(0, samples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(measured.mean()), float(low), float(high))


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Whether the first values differ from the second, which are of the same queries in the same order."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    if len(first) < 2:
        raise UserError(f"a paired t-test needs at least two queries, not {len(first)}")
    differences = np.subtract(first, second, dtype=np.float64)
    mean, freedom = float(differences.mean()), len(differences) - 1
    if np.all(differences == differences[0]):  # no spread: nothing to be uncertain of
        return Paired(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0)
    t = mean / (float(differences.std(ddof=1)) / math.sqrt(len(differences)))
    return Paired(mean, t, 2 * _below(-abs(t), freedom))


def _below(t: float, freedom: int) -> float:
    """The probability of a value of Student's distribution below t."""
    try:
        from scipy.special import stdtr  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("Evaluation", "eval") from error
    return float(stdtr(freedom, t))
