"""Seeded samples, splits that share no names, confidence intervals and paired t-tests (ILCiteR, 7.2 and 7.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from whycite.errors import MissingExtra, UserError

__all__ = [
    "MAX_DRAWN",
    "Interval",
    "PairedTest",
    "bootstrap",
    "bootstrap_by_document",
    "draw",
    "group_by_names",
    "order_by_lot",
    "pack_groups",
    "paired_t_test",
]

Thing = TypeVar("Thing")


def draw(elements: Iterable[Thing], id: Callable[[Thing], str], number: int, seed: int) -> list[Thing]:
    """Sample up to `number` elements.

    The order depends only on the seed and each element's id, so a larger sample includes the smaller one.
    """

    def lot(element: Thing) -> bytes:
        return blake2b(f"{seed} {id(element)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(elements, key=lot)[:number]


MAX_DRAWN = 2**22  # random numbers drawn at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired t-test: mean difference, t and two-sided p."""

    difference: float
    t: float
    p: float


def bootstrap(values: Sequence[float], confidence: float = 0.95, samples: int = 10_000, seed: int = 0) -> Interval:
    """Percentile bootstrap interval of the mean; deterministic for the same values and seed."""
    if not values:
        raise UserError("a confidence interval needs at least one query")
    if not 0 < confidence < 1:
        raise UserError(f"confidence must be between 0 and 1, not {confidence}")
    if samples < 1:
        raise UserError(f"samples must be at least 1, not {samples}")
    measured = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    rows = max(MAX_DRAWN // len(measured), 1)
    means = np.concatenate(
        [
            measured[random.integers(len(measured), size=(min(rows, samples - start), len(measured)))].mean(axis=1)
            for start in range(0, samples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(measured.mean()), float(low), float(high))


def paired_t_test(scores: Sequence[float], baseline_scores: Sequence[float]) -> PairedTest:
    """Test whether two lists of scores differ; both have the same queries in the same order."""
    if len(scores) != len(baseline_scores):
        raise ValueError(f"{len(scores)} values cannot be paired with {len(baseline_scores)}")
    if len(scores) < 2:
        raise UserError(f"a paired t-test needs at least two queries, not {len(scores)}")
    differences = np.subtract(scores, baseline_scores, dtype=np.float64)
    mean, freedom = float(differences.mean()), len(differences) - 1
    if np.all(differences == differences[0]):  # no variance
        return PairedTest(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0)
    t = mean / (float(differences.std(ddof=1)) / math.sqrt(len(differences)))
    return PairedTest(mean, t, 2 * _student_cdf(-abs(t), freedom))


def _student_cdf(t: float, freedom: int) -> float:
    """Cumulative distribution function of Student's t."""
    try:
        from scipy.special import stdtr  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("Evaluation", "eval") from error
    return float(stdtr(freedom, t))


_CONFIDENCE = 0.95


def bootstrap_by_document(
    values: Sequence[float], documents: Sequence[Hashable], samples: int = 2000, seed: int = 0
) -> Interval:
    """Mean of the values and its 95 % bootstrap interval, resampling the documents they come from."""
    if not values:
        raise UserError("a confidence interval needs at least one value")
    if len(values) != len(documents):
        raise ValueError(f"{len(values)} values for {len(documents)} documents")
    numbers = {document: number for number, document in enumerate(dict.fromkeys(documents))}
    groups = np.array([numbers[document] for document in documents])
    sums, sizes = np.bincount(groups, values), np.bincount(groups)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(samples, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return Interval(float(np.mean(values)), float(low), float(high))


ItemT = TypeVar("ItemT")


def order_by_lot(items: Iterable[ItemT], name: Callable[[ItemT], str], seed: int) -> list[ItemT]:
    """Shuffle items, depending only on the seed and their names."""

    def lot(item: ItemT) -> bytes:
        return blake2b(f"{seed} {name(item)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(items, key=lot)


def group_by_names(items: Iterable[ItemT], names: Callable[[ItemT], Sequence[str]]) -> list[list[ItemT]]:
    """Groups of items connected by shared names; an item without names is its own group."""
    items = list(items)
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (above := leader.setdefault(name, name)) != name:
            leader[name] = name = leader[above]
        return name

    for item in items:
        anchor, *partners = names(item) or ("",)
        for partner in partners:
            leader[find(partner)] = find(anchor)
    groups: dict[str, list[ItemT]] = {}
    alone: list[list[ItemT]] = []
    for item in items:
        if item_names := names(item):
            groups.setdefault(find(item_names[0]), []).append(item)
        else:
            alone.append([item])
    return [*groups.values(), *alone]


def pack_groups(groups: Sequence[list[ItemT]], size: int) -> tuple[list[list[ItemT]], list[list[ItemT]]]:
    """The groups that best fill the size without exceeding it, preferring earlier ones, and the rest."""
    reachable = [1]  # bit n: the groups so far can make up n items
    for group in groups:
        reachable.append((reachable[-1] | reachable[-1] << len(group)) & (2 << size) - 1)
    remaining = reachable[-1].bit_length() - 1
    chosen, rest = [], []
    for index in range(len(groups) - 1, -1, -1):
        if reachable[index] >> remaining & 1:
            rest.append(groups[index])
        else:
            chosen.append(groups[index])
            remaining -= len(groups[index])
    return chosen[::-1], rest[::-1]
