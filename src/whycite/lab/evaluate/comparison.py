"""Compare methods on the same claims: measures, intervals, ratios and t-tests (ILCiteR, 7.2, tables 4 and 5)."""

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
"""Keys and scores of the recommended papers for each query, best first."""

Truth = Mapping[str, Collection[str]]
"""Keys of the true papers for each query."""

MEASURES = ("MRR", "R@1", "R@3", "R@5", "R@10")


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of a run: measure -> mean, and measure -> query -> value, with queries in the order of the truth."""

    means: dict[str, float]
    by_query: dict[str, dict[str, float]]


def evaluate(run: Run, truth: Truth) -> RunScores:
    """Compute MRR (mean of 1 / rank of the first true paper) and R@k (share of queries with one among the first k).

    Papers are taken in the order of the run. Queries without papers in the run count as 0. (What ILCiteR calls recall
    is usually called success: any true paper is a hit.)
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
    """Scores that decrease by one per paper, because trec_eval keeps few digits and breaks ties by name."""
    places = {key: float(len(keys) - place) for place, key in enumerate(keys)}
    if len(places) < len(keys):
        raise UserError(f"the run lists a paper twice for query '{query}'")
    return places


TESTED = ("MRR", "R@5")  # the measures that ILCiteR tests (7.2)


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method's row in a table."""

    method: str
    means: Mapping[str, float]
    interval: Interval  # 95 %, of the MRR
    ratios: Mapping[str, Mapping[str, float]]  # other method -> measure -> ratio to it
    p: Mapping[str, Mapping[str, float]]  # other method -> measure -> p of a paired t-test


def check_installed() -> None:
    """Fail early if the extra for evaluation is not installed."""
    evaluate({}, {"query": ["paper"]})
    paired_t_test([0.0, 1.0], [0.0, 0.0])


def compare(runs: Mapping[str, Run], truth: Truth, against: Sequence[str], seed: int = 0) -> list[MethodRow]:
    """One row per method, compared with those of `against` that were run."""
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
    """Ratios to a baseline, without measures where the baseline is 0."""
    return {name: scores.means[name] / baseline.means[name] for name in MEASURES if baseline.means[name]}


def _p_value(scores: RunScores, baseline: RunScores, measure: str) -> float:
    return paired_t_test(list(scores.by_query[measure].values()), list(baseline.by_query[measure].values())).p
