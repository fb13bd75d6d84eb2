"""Every way to score sentences on the same cases and pairs, trained on others (the thesis, section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.corpus import Watch
from whycite.evaluation.passages.comparisons import KINDS, Comparison, Kind, compare, right
from whycite.evaluation.passages.intervals import by_document
from whycite.evaluation.passages.measures import MEASURES
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.scoring import Scorer
from whycite.evaluation.passages.selection import Selection, best_threshold, chosen, select
from whycite.evaluation.passages.splitting import Parts, folds
from whycite.evaluation.statistics import Interval

__all__ = ["Experiment", "Fit", "always", "joined", "run"]

Fit = Callable[[Parts, int], Scorer]
"""Learns from the parts of a fold, which is given by number, to score the sentences of others."""

Scores = dict[Case, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """The cases of each data set that were tested, the pairs made of them, and what each method gave every sentence."""

    cases: dict[str, tuple[Case, ...]]
    pairs: dict[str, dict[Kind, tuple[Comparison, ...]]]
    scores: dict[str, Scores]
    selected: dict[str, dict[Case, frozenset[int]]]

    def accuracy(self, method: str, dataset: str, kind: Kind) -> Interval:
        """The share of pairs that are right (tables 7.1 and 7.2), with its interval by document."""
        compared, scores = self.pairs[dataset][kind], self.scores[method]
        return by_document([right(each, scores[each.case]) for each in compared], _documents(compared))

    def ranking(self, method: str, dataset: str) -> dict[str, Interval]:
        """Every measure of the order of whole documents, over cases with gold."""
        judged = [case for case in self.cases[dataset] if case.gold]
        documents = [case.document for case in judged]
        return {
            name: by_document([measure(self.scores[method][case], _gold(case)) for case in judged], documents)
            for name, measure in MEASURES.items()
        }

    def selection(self, method: str, dataset: str) -> Selection:
        """The sentences that a threshold chooses, which is the best one on dev, as SciFact counts them."""
        return select((case, self.selected[method][case]) for case in self.cases[dataset])


def always(scorer: Scorer) -> Fit:
    """What learns nothing here."""
    return lambda parts, fold: scorer


def run(
    datasets: Mapping[str, Sequence[Case]],
    methods: Mapping[str, Fit],
    similarity: Scorer,
    number: int = 5,
    seed: int = 0,
    watch: Watch = lambda what, done, total: None,
    gold_only: Collection[str] = (),
) -> Experiment:
    """Fit every method to each fold's training parts, of all data sets together, and score its test parts.

    `gold_only` are methods that only know cases with gold: what they would choose elsewhere cannot be told.
    """
    if not datasets:
        raise UserError("there is no data set that tells which sentences back a claim")
    parted = {name: folds(list(cases), number, seed) for name, cases in datasets.items()}
    tested = {name: tuple(case for part in parts for case in part.test) for name, parts in parted.items()}
    pairs: dict[str, dict[Kind, tuple[Comparison, ...]]] = {}
    for name, cases in tested.items():
        watch(f"pairs of {name}", 0, None)
        pairs[name] = {kind: tuple(compare(cases, similarity, kind, seed)) for kind in KINDS}
        if not pairs[name]["hard"]:
            raise UserError(f"{name}: no gold sentence is among the ten most similar to its claim")
    scores: dict[str, Scores] = {method: {} for method in methods}
    selected: dict[str, dict[Case, frozenset[int]]] = {method: {} for method in methods}
    for fold in range(number):
        together = joined([parts[fold] for parts in parted.values()])
        for method, fit in methods.items():
            watch(f"fold {fold + 1} of {number}: {method}", 0, None)
            scorer = fit(together, fold)
            for name, parts in parted.items():
                for at, case in enumerate(parts[fold].test):
                    watch(f"fold {fold + 1} of {number}: {method}, {name}", at, len(parts[fold].test))
                    if case.gold or method not in gold_only:
                        scores[method][case] = _scored(scorer, case)
                if method not in gold_only and any(case.rationales for case in parts[fold].dev):
                    threshold = best_threshold([(case, _scored(scorer, case)) for case in parts[fold].dev])
                    selected[method] |= {case: chosen(scores[method][case], threshold) for case in parts[fold].test}
    return Experiment(tested, pairs, scores, selected)


def _scored(scorer: Scorer, case: Case) -> NDArray[np.float64]:
    scores = np.asarray(scorer(case.claim, case.sentences), np.float64)
    if scores.shape != (len(case.sentences),) or np.isnan(scores).any():
        raise ValueError(f"{case.id}: the scorer did not give each of {len(case.sentences)} sentences a number")
    return scores


def joined(parts: Sequence[Parts]) -> Parts:
    return Parts(
        tuple(case for each in parts for case in each.train),
        tuple(case for each in parts for case in each.dev),
        tuple(case for each in parts for case in each.test),
    )


def _documents(compared: Sequence[Comparison]) -> list[str]:
    return [each.case.document for each in compared]


def _gold(case: Case) -> NDArray[np.bool_]:
    gold = np.zeros(len(case.sentences), np.bool_)
    gold[list(case.gold)] = True
    return gold
