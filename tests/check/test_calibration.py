"""Probabilities that hold."""

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.check.calibration import Calibration, fit_calibration
from whycite.errors import UserError


def drawn(scale: float, shift: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    random = np.random.default_rng(0)
    scores = random.normal(size=20_000) * 3
    return scores, random.random(20_000) < Calibration(scale, shift).probabilities(scores)


def test_temperature() -> None:
    scores, worthy = drawn(0.5, 0)
    found = fit_calibration(scores, worthy)
    assert found.scale == pytest.approx(0.5, abs=0.02)
    assert found.shift == 0


def test_shift() -> None:
    scores, worthy = drawn(2.0, -1.0)
    found = fit_calibration(scores, worthy, shift=True)
    assert [found.scale, found.shift] == pytest.approx([2, -1], abs=0.1)
    assert found.probabilities(scores).mean() == pytest.approx(worthy.mean(), abs=0.005)


def test_classes_apart_have_an_end() -> None:
    scores = np.array([-2.0, -1, 1, 2])
    assert np.isfinite(fit_calibration(scores, scores > 0, shift=True).scale)


def test_extreme_scores() -> None:
    assert Calibration().probabilities(np.array([-1e4, 0, 1e4])) == pytest.approx([0, 0.5, 1])


def test_nothing() -> None:
    with pytest.raises(UserError):
        fit_calibration(np.zeros(0), np.zeros(0, bool))
