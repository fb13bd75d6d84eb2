"""Weights fitted to examples: of sentences for their order, of signs for a verdict (see `passagefitting`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.worthiness.calibration import fit as calibrated

__all__ = ["fit_classes", "fit_order"]

Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]

_STEPS, _RATE = 300, 0.1
_PULL = 1e-3  # towards zero, of weights of features made equally large
_WHOLE = 0.3  # how much the order of all sentences at once counts beside that of each two
_OTHERS = 150  # sentences that a gold one is compared with


def fit_order(tables: Sequence[Floats], gold: Sequence[Gold], names: Sequence[str]) -> dict[str, float]:
    """Weights by which gold sentences stand above the others of their document, and a bias that makes them logits."""
    kept = [(table, marked) for table, marked in zip(tables, gold, strict=True) if marked.any() and not marked.all()]
    if not kept:
        raise UserError("there is no case with gold sentences and others to fit to")
    rows = np.concatenate([table for table, _ in kept])
    marked = np.concatenate([each for _, each in kept])
    middle, size = rows.mean(0), rows.std(0)
    usable = size > 1e-9
    scaled = np.where(usable, (rows - middle) / np.where(usable, size, 1.0), 0.0)
    starts = np.cumsum([0, *(len(table) for table, _ in kept)])
    winners, losers, shares = _pairs([each for _, each in kept], starts)
    weights = _descend(scaled, marked, starts, winners, losers, shares)
    scores = scaled @ weights
    logits = calibrated(scores, marked, shift=True)
    unscaled = np.where(usable, weights * logits.scale / np.where(usable, size, 1.0), 0.0)
    bias = logits.shift - float(middle @ unscaled)
    return {**dict(zip(names, unscaled.round(5).tolist(), strict=True)), "bias": round(bias, 5)}


def _pairs(gold: Sequence[Gold], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Rows of gold sentences, rows of others, and what each pair counts: every case as much as another."""
    chance = np.random.default_rng(0)
    winners, losers, shares = [], [], []
    for marked, start in zip(gold, starts, strict=False):
        inside, outside = np.flatnonzero(marked), np.flatnonzero(~marked)
        if len(outside) > _OTHERS:
            outside = chance.choice(outside, _OTHERS, replace=False)
        winners.append(start + np.repeat(inside, len(outside)))
        losers.append(start + np.tile(outside, len(inside)))
        count = len(inside) * len(outside)
        shares.append(np.full(count, 1 / count / len(gold)))
    return np.concatenate(winners), np.concatenate(losers), np.concatenate(shares)


def _descend(
    rows: Floats,
    marked: Gold,
    starts: NDArray[np.int64],
    winners: NDArray[np.int64],
    losers: NDArray[np.int64],
    shares: Floats,
) -> Floats:
    weights = np.zeros(rows.shape[1])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    cases = len(starts) - 1
    of = np.repeat(np.arange(cases), np.diff(starts))
    for step in range(1, _STEPS + 1):
        scores = rows @ weights
        wrong = shares / (1 + np.exp(np.clip(scores[winners] - scores[losers], -30, 30)))
        slope = (1 - _WHOLE) * (np.bincount(losers, wrong, len(rows)) - np.bincount(winners, wrong, len(rows)))
        parts = np.exp(scores - np.maximum.reduceat(scores, starts[:-1])[of])
        among, right = np.add.reduceat(parts, starts[:-1])[of], np.add.reduceat(parts * marked, starts[:-1])[of]
        slope += _WHOLE * (parts / among - parts * marked / np.maximum(right, 1e-12)) / cases
        gradient = rows.T @ slope + _PULL * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights


def fit_classes(
    signs: Sequence[Mapping[str, float]], labels: Sequence[str], classes: Sequence[str], counts: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Weights of signs for each class, by which the labels are most likely; `counts`: how much each example counts."""
    if not labels or set(labels) - set(classes):
        raise UserError(f"there must be examples, each labelled one of: {', '.join(classes)}")
    names = sorted({name for each in signs for name in each})
    rows = np.array([[each.get(name, 0.0) for name in names] for each in signs])
    middle, size = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    scaled = np.concatenate([(rows - middle) / size, np.ones((len(rows), 1))], axis=1)
    wanted = np.array([[label == name for name in classes] for label in labels], np.float64)
    share = (np.array(counts) / np.sum(counts))[:, None]
    weights = np.zeros((scaled.shape[1], len(classes)))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, 2 * _STEPS + 1):
        scores = scaled @ weights
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        gradient = scaled.T @ ((chances - wanted) * share) + _PULL * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    unscaled = weights[:-1] / size[:, None]
    bias = weights[-1] - middle @ unscaled
    return {
        name: {**dict(zip(names, unscaled[:, at].round(5).tolist(), strict=True)), "bias": round(float(bias[at]), 5)}
        for at, name in enumerate(classes)
    }
