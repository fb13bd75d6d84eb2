"""Comparisons of sentences (the thesis, 3 and 4.5), and measures of rankings (7.1) and of selections as in SciFact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import Interval, bootstrap, draw
from whycite.lab.thesis.datasets import PassageCase

__all__ = [
    "KINDS",
    "MEASURES",
    "ClaimSentence",
    "ComparisonKind",
    "Measure",
    "PassageScores",
    "Scorer",
    "Selection",
    "SentenceComparison",
    "average_precision",
    "best_threshold",
    "choose_sentences",
    "claim_sentences",
    "comparison_score",
    "evaluate_scorer",
    "gains",
    "make_comparisons",
    "measure_selection",
    "ndcg",
    "overlap",
    "pairwise_accuracy",
    "recall",
    "reciprocal_rank",
]

Floats = NDArray[np.float64]
Gold = NDArray[np.bool_]
Measure = Callable[[Floats, Gold], float]
"""Measures the scores of a document's sentences, at least one of them gold; ties keep document order."""


def pairwise_accuracy(scores: Floats, gold: Gold) -> float:
    """The share of pairs of a gold and another sentence with the gold one ranked higher; ties count half.

    1 if every sentence is gold, since no pair is wrong.
    """
    other_scores = np.sort(scores[~gold])
    if not len(other_scores):
        return 1.0
    below = np.searchsorted(other_scores, scores[gold], "left") + np.searchsorted(other_scores, scores[gold], "right")
    return float(below.mean() / 2 / len(other_scores))


def reciprocal_rank(scores: Floats, gold: Gold) -> float:
    """1 / the rank of the first gold sentence."""
    return float(1 / _ranks(scores, gold)[0])


def average_precision(scores: Floats, gold: Gold) -> float:
    """The mean precision at the rank of each gold sentence."""
    ranks = _ranks(scores, gold)
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())


def gains(relevance: NDArray[np.float64], k: int) -> float:
    """The discounted gains of the top k: 2^relevance - 1 over log2(rank + 1)."""
    top = relevance[:k]
    return float(((2**top - 1) / np.log2(np.arange(2, len(top) + 2))).sum())


def ndcg(scores: Floats, gold: Gold, k: int) -> float:
    """The gain of the top k, relative to the best order."""
    relevance = gold.astype(np.float64)
    return gains(relevance[_order(scores)], k) / gains(np.sort(relevance)[::-1], k)


def recall(scores: Floats, gold: Gold, k: int) -> float:
    """The share of gold sentences that are in the top k."""
    return float((_ranks(scores, gold) <= k).mean())


def overlap(scores: Floats, gold: Gold, k: int) -> float:
    """CL-SciSumm's overlap: F1 of the top k."""
    hits = int((_ranks(scores, gold) <= k).sum())
    return 2 * hits / (min(k, len(scores)) + int(gold.sum()))


def _order(scores: Floats) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")


def _ranks(scores: Floats, gold: Gold) -> NDArray[np.int64]:
    """The ranks of the gold sentences, best first, counted from 1."""
    return np.flatnonzero(gold[_order(scores)]) + 1


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "pairwise": pairwise_accuracy,
        "MRR": reciprocal_rank,
        "MAP": average_precision,
        "nDCG@5": partial(ndcg, k=5),
        "nDCG@10": partial(ndcg, k=10),
        "R@1": partial(recall, k=1),
        "R@3": partial(recall, k=3),
        "R@5": partial(recall, k=5),
        "R@10": partial(recall, k=10),
        "F1@2": partial(overlap, k=2),
    }
)


Scorer = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""Scores the sentences of a document by how well they back a claim."""


@dataclass(frozen=True, slots=True)
class PassageScores:
    """The measures of a scorer: name -> one value per case with gold."""

    ids: tuple[str, ...]
    values: dict[str, tuple[float, ...]]

    def mean(self, measure: str) -> float:
        """The mean over cases."""
        return sum(self.values[measure]) / len(self.ids)

    def interval(self, measure: str, confidence: float = 0.95, seed: int = 0) -> Interval:
        """The mean and its bootstrap interval over cases."""
        return bootstrap(self.values[measure], confidence, seed=seed)


def evaluate_scorer(cases: Iterable[PassageCase], scorer: Scorer) -> PassageScores:
    """Measure a scorer on each case with gold; without gold, every order is right."""
    judged = [case for case in cases if case.gold]
    if not judged:
        raise UserError("no cases with gold sentences to evaluate")
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for case in judged:
        scores = np.asarray(scorer(case.claim, case.sentences), np.float64)
        if scores.shape != (len(case.sentences),) or np.isnan(scores).any():
            raise ValueError(
                f"{case.id}: the scorer did not return a number for each of the {len(case.sentences)} sentences"
            )
        gold = np.zeros(len(scores), np.bool_)
        gold[list(case.gold)] = True
        for name, measure in MEASURES.items():
            values[name].append(measure(scores, gold))
    return PassageScores(
        tuple(case.id for case in judged), {name: tuple(case_values) for name, case_values in values.items()}
    )


_MAX_SENTENCES = 3  # sentences selected per abstract


@dataclass(frozen=True, slots=True)
class Selection:
    """Precision and recall of the selected sentences over all claims."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.precision * self.recall / (self.precision + self.recall) if self.precision else 0.0


def choose_sentences(scores: NDArray[np.floating], threshold: float) -> frozenset[int]:
    """The best sentences that reach the threshold, three at most."""
    order = np.argsort(-scores, kind="stable")[:_MAX_SENTENCES]
    return frozenset(int(index) for index in order if scores[index] >= threshold)


def measure_selection(judged: Iterable[tuple[PassageCase, frozenset[int]]]) -> Selection:
    """Measure the sentences selected for each case: one is right only if its whole rationale is selected.

    Without rationales in the dataset, each gold sentence is one. In cases without gold, every selection is wrong.
    """
    hits = selected = gold = 0
    for case, sentences in judged:
        rationales = case.rationales or tuple(frozenset({index}) for index in case.gold)
        hits += len(frozenset[int]().union(*(rationale for rationale in rationales if rationale <= sentences)))
        selected += len(sentences)
        gold += len(case.gold)
    return Selection(hits / selected if selected else 0.0, hits / gold if gold else 0.0)


def best_threshold(scored: Sequence[tuple[PassageCase, NDArray[np.floating]]], steps: int = 100) -> float:
    """The threshold with the best F1 among `steps` quantiles of the scores, the lowest if tied."""
    every = np.unique(np.concatenate([scores for _, scores in scored])) if scored else np.zeros(1)
    thresholds = [float(score) for score in np.quantile(every, np.linspace(0, 1, steps), method="nearest")]
    return max(
        thresholds,
        key=lambda threshold: (
            measure_selection((case, choose_sentences(scores, threshold)) for case, scores in scored).f1
        ),
    )


ComparisonKind = Literal["hard", "augmented"]
KINDS: tuple[ComparisonKind, ...] = ("hard", "augmented")

_SIMILAR = 10  # sentences most similar to the claim, as many as the thesis showed its labellers
_DISCARDED = 7  # less similar sentences compared with each winner; augmenting gave the thesis 7.6 times as many pairs


@dataclass(frozen=True, slots=True)
class SentenceComparison:
    """A claim, the indices of two sentences, and which of them backs it better."""

    case: PassageCase
    first_index: int
    second_index: int
    better: Literal[0, 1]

    @property
    def winner(self) -> int:
        """The sentence that backs the claim better."""
        return self.second_index if self.better else self.first_index

    @property
    def loser(self) -> int:
        """The other sentence."""
        return self.first_index if self.better else self.second_index


def make_comparisons(
    cases: Iterable[PassageCase], similarity: Scorer, kind: ComparisonKind = "hard", seed: int = 0
) -> list[SentenceComparison]:
    """Compare gold sentences with the others among the ten most similar to the claim.

    `augmented` also compares these gold sentences, which never lose, with less similar ones that were discarded. The
    first and the second sentence win equally often.
    """
    pairs: list[tuple[PassageCase, int, int]] = []
    for case in cases:
        if case.gold:
            scores = np.asarray(similarity(case.claim, case.sentences), np.float64)
            pairs += ((case, *pair) for pair in _sentence_pairs(case, scores, kind, seed))
    return _balance(pairs, seed)


def comparison_score(comparison: SentenceComparison, scores: NDArray[np.floating]) -> float:
    """1 if the scores order the two sentences correctly, 0 if not, 0.5 if they tie."""
    return float(np.sign(scores[comparison.winner] - scores[comparison.loser]) + 1) / 2


def _sentence_pairs(
    case: PassageCase, scores: NDArray[np.float64], kind: ComparisonKind, seed: int
) -> list[tuple[int, int]]:
    order = [int(index) for index in np.argsort(-scores, kind="stable")]
    shown, discarded = order[:_SIMILAR], [index for index in order[_SIMILAR:] if index not in case.gold]
    winners = [index for index in shown if index in case.gold]
    pairs = [(winner, loser) for winner in winners for loser in shown if loser not in case.gold]
    if kind == "augmented":
        for winner in winners:
            drawn = draw(discarded, lambda index, winner=winner: f"{case.id} {winner} {index}", _DISCARDED, seed)  # type: ignore[misc]
            pairs += ((winner, loser) for loser in drawn)
    return pairs


def _balance(pairs: Sequence[tuple[PassageCase, int, int]], seed: int) -> list[SentenceComparison]:
    """Put the winner first in a random half of the pairs."""
    lots = draw(range(len(pairs)), str, len(pairs), seed)
    swapped = frozenset(lots[: len(pairs) // 2])
    return [
        SentenceComparison(case, loser, winner, 1) if index in swapped else SentenceComparison(case, winner, loser, 0)
        for index, (case, winner, loser) in enumerate(pairs)
    ]


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    """A claim and a sentence, whether it backs (or contradicts) the claim, and its neighbours ("" if none)."""

    claim: str
    sentence: str
    previous: str
    following: str
    relevant: bool
    document: str


def claim_sentences(cases: Iterable[PassageCase]) -> Iterator[list[ClaimSentence]]:
    """For each case with gold, one item per sentence in document order."""
    for case in cases:
        if case.gold:
            yield [
                ClaimSentence(case.claim, sentence, previous, following, index in case.gold, case.document)
                for index, (previous, sentence, following) in enumerate(
                    zip(("", *case.sentences), case.sentences, (*case.sentences[1:], ""), strict=False)
                )
            ]
