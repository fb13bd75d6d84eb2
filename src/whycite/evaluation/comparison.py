"""Methods side by side on the same claims: measures, intervals, ratios and t-tests (ILCiteR, tables 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whycite.evaluation.measures import MEASURES, Run, Scores, Truth, evaluate
from whycite.evaluation.statistics import Interval, bootstrap, paired_t_test

__all__ = ["TESTED", "Row", "check_installed", "compare"]

TESTED = ("MRR", "R@5")  # the measures that ILCiteR tests (7.2)


@dataclass(frozen=True, slots=True)
class Row:
    """A method's line of a table."""

    method: str
    means: Mapping[str, float]
    interval: Interval  # of the MRR, 95 %
    ratios: Mapping[str, Mapping[str, float]]  # other method -> measure -> how many times as good
    p: Mapping[str, Mapping[str, float]]  # other method -> measure -> p of a paired t-test


def check_installed() -> None:
    """Say at once, not after the work, that the extra for evaluation is missing."""
    evaluate({}, {"query": ["paper"]})
    paired_t_test([0.0, 1.0], [0.0, 0.0])


def compare(runs: Mapping[str, Run], truth: Truth, against: Sequence[str], seed: int = 0) -> list[Row]:
    """A row for each method, held against those of `against` that were run."""
    scores = {method: evaluate(run, truth) for method, run in runs.items()}
    return [_row(method, scores, [other for other in against if other in scores], seed) for method in scores]


def _row(method: str, scores: Mapping[str, Scores], against: Sequence[str], seed: int) -> Row:
    own = scores[method]
    others = [other for other in against if other != method]
    return Row(
        method,
        own.means,
        bootstrap(list(own.by_query["MRR"].values()), seed=seed),
        {other: _ratios(own, scores[other]) for other in others},
        {other: {measure: _p(own, scores[other], measure) for measure in TESTED} for other in others},
    )


def _ratios(own: Scores, other: Scores) -> dict[str, float]:
    """A measure in which the other method has nothing has no ratio."""
    return {name: own.means[name] / other.means[name] for name in MEASURES if other.means[name]}


def _p(own: Scores, other: Scores, measure: str) -> float:
    return paired_t_test(list(own.by_query[measure].values()), list(other.by_query[measure].values())).p
