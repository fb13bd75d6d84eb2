"""Intervals and t-tests, against scipy and against what they promise."""

import math
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from whycite.errors import MissingExtra, UserError
from whycite.lab.evaluate.comparison import Interval, PairedTest, bootstrap, paired_t_test

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40)


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    intervals = [bootstrap(random.random(80).tolist(), 0.9, 1_000, seed=run) for run in range(200)]
    inside = sum(interval.low <= 0.5 <= interval.high for interval in intervals) / len(intervals)
    assert 0.83 <= inside <= 0.96


def test_the_interval_is_scipys() -> None:
    values = np.random.default_rng(2).random(150)
    ours = bootstrap(values.tolist(), 0.95, 20_000)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=3).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert ours.mean == pytest.approx(values.mean())


def test_the_seed_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.25, 0.1, 0.2]
    once = bootstrap(values, samples=500)
    assert bootstrap(values, samples=500) == once
    assert bootstrap(values, samples=500, seed=1) != once
    monkeypatch.setattr("whycite.lab.evaluate.comparison.MAX_DRAWN", 100)  # the memory it takes changes nothing
    assert bootstrap(values, samples=500) == once


def test_a_wider_confidence_is_a_wider_interval() -> None:
    values = [0.0, 1.0] * 20
    narrow, wide = bootstrap(values, 0.5), bootstrap(values, 0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_one_query() -> None:
    assert bootstrap([0.5]) == Interval(0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("values", "confidence", "samples", "message"),
    [([], 0.95, 10, "at least one query"), ([1.0], 95, 10, "between 0 and 1, not 95"), ([1.0], 0.95, 0, "at least 1")],
    ids=["no query", "percent", "no samples"],
)
def test_mistakes(values: list[float], confidence: float, samples: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        bootstrap(values, confidence, samples)


@given(PAIRS)
def test_the_t_test_is_scipys(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    differences = np.subtract(first, second)
    assume(differences.std() > 1e-6)
    ours, theirs = paired_t_test(first, second), stats.ttest_rel(first, second)
    assert (ours.t, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-6, abs=1e-12)
    assert ours.difference == pytest.approx(differences.mean())


def test_differences_without_spread() -> None:
    assert paired_t_test([0.5, 1.0], [0.5, 1.0]) == PairedTest(0, 0, 1)
    assert paired_t_test([1.0, 0.5], [0.5, 0.0]) == PairedTest(0.5, math.inf, 0)
    assert paired_t_test([0.5, 0.0], [1.0, 0.5]) == PairedTest(-0.5, -math.inf, 0)


def test_pairs_are_needed() -> None:
    with pytest.raises(UserError, match="at least two queries, not 1"):
        paired_t_test([1.0], [0.0])
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        paired_t_test([1.0, 0.5], [0.0])


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtra, match=r"whycite\[eval\]"):
        paired_t_test([1.0, 0.5], [0.0, 0.2])
