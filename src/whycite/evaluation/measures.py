"""ILCiteR's measures (section 7.2), worked out by ir-measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from ir_measures import Measure

__all__ = ["MEASURES", "Run", "Scores", "Truth", "evaluate"]

Run = Mapping[str, Sequence[tuple[str, float]]]
"""For each query the recommended papers (keys) with their scores, best first."""

Truth = Mapping[str, Collection[str]]
"""For each query the true papers (keys)."""

MEASURES = ("MRR", "R@1", "R@3", "R@5", "R@10")


@dataclass(frozen=True, slots=True)
class Scores:
    """What a run is worth: measure -> mean, and measure -> query -> value, queries in the order of the truth."""

    means: dict[str, float]
    by_query: dict[str, dict[str, float]]


def evaluate(run: Run, truth: Truth) -> Scores:
    """MRR, the mean of 1 / rank of the first true paper, and R@k, the share of queries with one among the first k.

    The papers are taken in the order of the run. A query of the truth that the run has no papers for counts 0. (What
    ILCiteR calls recall is elsewhere known as success: any true paper is a hit.)
    """
    if not truth:
        raise UserError("there is no query to evaluate")
    if lost := [query for query, papers in truth.items() if not papers]:
        raise UserError(f"query '{lost[0]}' has no true paper, so nothing can be right for it; leave it out")
    if strange := [query for query in run if query not in truth]:
        raise UserError(f"query '{strange[0]}' of the run has no true papers; run and truth must have the same queries")
    by_query = {name: dict.fromkeys(truth, 0.0) for name in MEASURES}
    names = {measure: name for name, measure in _measures().items()}
    ranked = {query: _places(query, [key for key, _ in papers]) for query, papers in run.items() if papers}
    if ranked:
        import ir_measures

        right = {query: dict.fromkeys(truth[query], 1) for query in ranked}
        for found in ir_measures.iter_calc(list(names), right, ranked):
            by_query[names[found.measure]][found.query_id] = found.value
    return Scores({name: sum(values.values()) / len(truth) for name, values in by_query.items()}, by_query)


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
        raise UserError(f"a paper is recommended twice for query '{query}'")
    return places
