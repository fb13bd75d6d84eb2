"""Methods side by side on the same claims: measures, intervals, ratios and t-tests (ILCiteR, 7.2, tables 4 and 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra, UserError
from whycite.lab.evaluate.statistics import Interval, bootstrap, paired_t_test

if TYPE_CHECKING:
    from ir_measures import Measure

__all__ = ["MEASURES", "TESTED", "MethodRow", "Run", "RunScores", "Truth", "check_installed", "compare", "evaluate"]


Run = Mapping[str, Sequence[tuple[str, float]]]
"""For each query the recommended papers (keys) with their scores, best first."""

Truth = Mapping[str, Collection[str]]
"""For each query the true papers (keys)."""

MEASURES = ("MRR", "R@1", "R@3", "R@5", "R@10")


@dataclass(frozen=True, slots=True)
class RunScores:
    """What a run is worth: measure -> mean, and measure -> query -> value, queries in the order of the truth."""

    means: dict[str, float]
    by_query: dict[str, dict[str, float]]


def evaluate(run: Run, truth: Truth) -> RunScores:
    """MRR, the mean of 1 / rank of the first true paper, and R@k, the share of queries with one among the first k.

    The papers are taken in the order of the run. A query of the truth that the run has no papers for counts 0. (What
    ILCiteR calls recall is elsewhere known as success: any true paper is a hit.)
    """
    if not truth:
        raise UserError("no queries to evaluate")
    if lost := [query for query, papers in truth.items() if not papers]:
        raise UserError(f"query '{lost[0]}' has no relevant papers; remove it")
    if strange := [query for query in run if query not in truth]:
        raise UserError(
            f"query '{strange[0]}' has no relevant papers; the run and the qrels must have the same queries"
        )
    by_query = {name: dict.fromkeys(truth, 0.0) for name in MEASURES}
    names = {measure: name for name, measure in _measures().items()}
    ranked = {query: _places(query, [key for key, _ in papers]) for query, papers in run.items() if papers}
    if ranked:
        import ir_measures

        relevance = {query: dict.fromkeys(truth[query], 1) for query in ranked}
        for metric in ir_measures.iter_calc(list(names), relevance, ranked):
            by_query[names[metric.measure]][metric.query_id] = metric.value
    return RunScores({name: sum(values.values()) / len(truth) for name, values in by_query.items()}, by_query)


def _measures() -> dict[str, Measure]:
    try:
        from ir_measures import RR, Success
    except ImportError as error:
        raise MissingExtra("Evaluation", "eval") from error
    return {name: RR if name == "MRR" else Success @ int(name.removeprefix("R@")) for name in MEASURES}


def _places(query: str, keys: list[str]) -> dict[str, float]:
    """Scores that fall by one from paper to paper: trec_eval keeps few digits and orders equal ones by name."""
    places = {key: float(len(keys) - place) for place, key in enumerate(keys)}
    if len(places) < len(keys):
        raise UserError(f"the run lists a paper twice for query '{query}'")
    return places


TESTED = ("MRR", "R@5")  # the measures that ILCiteR tests (7.2)


@dataclass(frozen=True, slots=True)
class MethodRow:
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


def compare(runs: Mapping[str, Run], truth: Truth, against: Sequence[str], seed: int = 0) -> list[MethodRow]:
    """A row for each method, held against those of `against` that were run."""
    scores = {method: evaluate(run, truth) for method, run in runs.items()}
    return [
        _method_row(method, scores, [baseline for baseline in against if baseline in scores], seed) for method in scores
    ]


def _method_row(method: str, scores: Mapping[str, RunScores], against: Sequence[str], seed: int) -> MethodRow:
    method_scores = scores[method]
    baselines = [baseline for baseline in against if baseline != method]
    return MethodRow(
        method,
        method_scores.means,
        bootstrap(list(method_scores.by_query["MRR"].values()), seed=seed),
        {baseline: _ratios(method_scores, scores[baseline]) for baseline in baselines},
        {
            baseline: {measure: _p_value(method_scores, scores[baseline], measure) for measure in TESTED}
            for baseline in baselines
        },
    )


def _ratios(scores: RunScores, baseline: RunScores) -> dict[str, float]:
    """A measure in which the other method has nothing has no ratio."""
    return {name: scores.means[name] / baseline.means[name] for name in MEASURES if baseline.means[name]}


def _p_value(scores: RunScores, baseline: RunScores, measure: str) -> float:
    return paired_t_test(list(scores.by_query[measure].values()), list(baseline.by_query[measure].values())).p
