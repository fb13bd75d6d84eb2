"""Compare methods on the same claims (ILCiteR, 7.2, tables 4 and 5): measures, intervals, t-tests, TREC files.

A run in TREC format has lines "query Q0 paper rank score tag", the truth (qrels) "query 0 paper 1". White space in the
names of queries and papers is percent-encoded, as is the percent sign itself: "title:a%20study". Reading decodes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote

import numpy as np

from whycite.errors import MissingExtra, UserError
from whycite.files import write_lines

if TYPE_CHECKING:
    from ir_measures import Measure

__all__ = [
    "MAX_DRAWN",
    "MEASURES",
    "TESTED",
    "Interval",
    "MethodRow",
    "PairedTest",
    "Run",
    "RunScores",
    "Truth",
    "bootstrap",
    "bootstrap_by_document",
    "check_installed",
    "compare",
    "draw",
    "evaluate",
    "group_by_names",
    "order_by_lot",
    "pack_groups",
    "paired_t_test",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]

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


def write_run(path: Path, run: Run, tag: str = "whycite") -> None:
    """Write a run atomically; queries without papers have no line."""
    for query, papers in run.items():
        scores = [score for _, score in papers]
        if not all(map(math.isfinite, scores)) or any(later > score for score, later in pairwise(scores)):
            raise UserError(f"the scores of query '{query}' must be finite and in descending order")
    lines = (
        f"{_name(query)} Q0 {_name(key)} {rank} {float(score)!r} {_name(tag)}\n"
        for query, papers in run.items()
        for rank, (key, score) in enumerate(papers, start=1)
    )
    write_lines(path, lines)


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a run, sorted by score, then by rank."""
    papers_by_query: dict[str, list[tuple[float, int, str]]] = {}
    for place, (query, _, key, rank, score, _) in _lines(path, 6):
        try:
            value, position = float(score), int(rank)
        except ValueError as error:
            raise UserError(f"{place}: '{rank} {score}' is not a rank and a score") from error
        if not math.isfinite(value):
            raise UserError(f"{place}: the score must be finite, not {value}")
        papers_by_query.setdefault(query, []).append((-value, position, key))
    return {query: [(key, -score) for score, _, key in sorted(papers)] for query, papers in papers_by_query.items()}


def write_qrels(path: Path, truth: Truth) -> None:
    """Write the true papers atomically; queries without any have no line."""
    write_lines(path, (f"{_name(query)} 0 {_name(key)} 1\n" for query, keys in truth.items() for key in sorted(keys)))


def read_qrels(path: Path) -> dict[str, set[str]]:
    """Read the true papers: those with relevance above 0."""
    keys_by_query: dict[str, set[str]] = {}
    for place, (query, _, key, relevance) in _lines(path, 4):
        try:
            is_relevant = int(relevance) > 0
        except ValueError as error:
            raise UserError(f"{place}: the relevance '{relevance}' is not a whole number") from error
        if is_relevant:
            keys_by_query.setdefault(query, set()).add(key)
    return keys_by_query


def _name(text: str) -> str:
    if not text:
        raise UserError("a TREC file needs names for all queries and papers")
    return "".join(
        quote(sign, safe="", errors="surrogatepass") if sign == "%" or sign.isspace() or _lone(sign) else sign
        for sign in text
    )


def _lone(sign: str) -> bool:
    """Whether a character is a lone surrogate, which cannot be written to a file."""
    return "\ud800" <= sign <= "\udfff"


def _lines(path: Path, fields: int) -> Iterator[tuple[str, list[str]]]:
    """Decoded fields of each non-empty line, with its location for error messages."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a UTF-8 text file") from error
    for number, line in enumerate(lines, start=1):
        place, parts = f"{path}:{number}", line.split()
        if parts and len(parts) != fields:
            raise UserError(f"{place}: expected {fields} fields, not {len(parts)}")
        try:
            decoded = [unquote(part, errors="surrogatepass") for part in parts]
        except UnicodeDecodeError as error:
            raise UserError(f"{place}: write a literal percent sign as %25") from error
        if parts:
            yield place, decoded


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
