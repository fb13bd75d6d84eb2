"""Scores of a model turned into probabilities that hold: of sentences called 70 % worthy, 70 % are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError

__all__ = ["Calibration", "fit", "logistic", "newton"]

_STEPS = 50
_STEADY = 1e-4  # keeps scores that separate the classes from a scale without end


@dataclass(frozen=True, slots=True)
class Calibration:
    """The logistic function of `scale` times the score plus `shift`; 1 / `scale` is known as the temperature."""

    scale: float = 1.0
    shift: float = 0.0

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities for scores."""
        return logistic(self.scale * scores.astype(np.float64) + self.shift)


def fit(scores: NDArray[np.floating], worthy: NDArray[np.bool_], shift: bool = False) -> Calibration:
    """What makes the labels most likely: the temperature, with the shift too where the share of worthy ones differs."""
    if len(scores) != len(worthy) or not len(scores):
        raise UserError("calibration needs sentences, a score and a label for each")
    rows = np.stack([scores.astype(np.float64), np.ones(len(scores))], axis=1)[:, : 1 + shift]
    found = newton(rows, worthy, np.array([1.0, 0.0])[: 1 + shift])
    return Calibration(float(found[0]), float(found[1]) if shift else 0.0)


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities whose odds have these logarithms."""
    return np.exp(-np.logaddexp(0, -scores))


def newton(rows: NDArray[np.float64], worthy: NDArray[np.bool_], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of columns with which the logistic function makes the labels most likely; the loss is convex."""
    found = start
    for _ in range(_STEPS):
        chances = logistic(rows @ found)
        slope = rows.T @ (chances - worthy) + _STEADY * len(rows) * (found - start)
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + _STEADY * len(rows) * np.eye(len(found))
        step = np.linalg.solve(bend, slope)
        length = np.abs(step).max()
        found = found - step / max(1.0, length)
        if length < 1e-9:
            break
    return found
