"""How well labels agree: Cohen's kappa, AUC and F1 (the thesis, 4.2)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import combinations

from whycite.annotation.votes import Answered

__all__ = ["area_under_curve", "f1", "kappa", "mutual"]

_SHARED = 2  # tasks that two labellers must share to be compared


def kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Agreement beyond chance, from -1 to 1; 1 where both say one and the same thing throughout."""
    labels = set(one) | set(other)
    seen = sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
    chance = sum(one.count(label) * other.count(label) for label in labels) / len(one) ** 2
    return 1.0 if chance == 1 else (seen - chance) / (1 - chance)


def area_under_curve(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """The probability that a positive one scores above another, of equal ones half; None where either is missing."""
    above = [score for score, good in zip(scores, positive, strict=True) if good]
    below = [score for score, good in zip(scores, positive, strict=True) if not good]
    if not above or not below:
        return None
    ordered = sorted(below)
    won = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in above)
    return won / 2 / len(above) / len(below)


def f1(predicted: Sequence[str], gold: Sequence[str], label: str) -> float:
    """The harmonic mean of precision and recall of a label; 0 where it is never right."""
    right = sum(a == b == label for a, b in zip(predicted, gold, strict=True))
    return 2 * right / (predicted.count(label) + gold.count(label)) if right else 0.0


def mutual(answered: Answered) -> float | None:
    """The mean kappa of pairs of labellers who share tasks, weighted by how many; None where none do."""
    by_labeller: dict[str, dict[str, str]] = {}
    for task, given in answered.items():
        for labeller, label in given.items():
            by_labeller.setdefault(labeller, {})[task] = label
    total, weight = 0.0, 0
    for one, other in combinations(by_labeller.values(), 2):
        shared = sorted(one.keys() & other.keys())
        if len(shared) >= _SHARED:
            total += kappa([one[task] for task in shared], [other[task] for task in shared]) * len(shared)
            weight += len(shared)
    return total / weight if weight else None
