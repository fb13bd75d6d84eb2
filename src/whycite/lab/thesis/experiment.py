"""Compare sentence scorers and their baselines on the same held-out cases and pairs (the thesis, 4.3 and 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import Interval, bootstrap_by_document, draw, group_by_names, pack_groups
from whycite.lab.evaluate.topics import Watch
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.measures import (
    KINDS,
    MEASURES,
    ComparisonKind,
    Scorer,
    Selection,
    SentenceComparison,
    best_threshold,
    choose_sentences,
    comparison_score,
    make_comparisons,
    measure_selection,
)
from whycite.lab.thesis.verdicts import LABELS, VERDICTS, BackingDrop, LabelFigures
from whycite.models.pairs import Ranker
from whycite.text.bm25 import VARIANTS, Bm25Index
from whycite.text.tokens import terms

__all__ = [
    "BEST",
    "DOCUMENT",
    "PAIRWISE",
    "CaseSplit",
    "Cosine",
    "Fit",
    "PassageExperiment",
    "bm25",
    "drops_as_dict",
    "fixed_fit",
    "folds",
    "join_parts",
    "labels_as_dict",
    "report",
    "run",
    "side_by_side",
    "split",
    "without_shared_documents",
]


def bm25(variant: str = "okapi") -> Scorer:
    """BM25 over the sentences of a document, with document frequencies from these sentences."""
    if variant not in VARIANTS:
        raise UserError(f"unknown BM25 variant '{variant}'; choose one of: {', '.join(VARIANTS)}")
    return partial(_bm25, variant)


def _bm25(variant: str, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return Bm25Index([terms(sentence) for sentence in sentences]).scores(terms(claim))[variant]


def side_by_side(ranker: Ranker) -> Scorer:
    """Score with a ranker, which reads claim and sentence together."""
    return lambda claim, sentences: ranker.score("passage", claim, sentences)


class Cosine:
    """The cosine of claim and sentence; texts are encoded once, since many claims share a document."""

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._encode = encode
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def __call__(self, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        """The cosine of each sentence with the claim."""
        unknown = [text for text in dict.fromkeys([claim, *sentences]) if text not in self._vectors]
        if unknown:
            self._vectors |= zip(unknown, self._encode(unknown), strict=True)
        # Not a matrix product: its last digits depend on the number of threads.
        products = np.stack([self._vectors[sentence] for sentence in sentences]) * self._vectors[claim]
        return np.asarray(products.sum(axis=1))


BEST = 0.777
"""The accuracy in its conclusion; the best in table 7.1 is 0.773."""

PAIRWISE: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "majority": {"rnn": 0.56875, "bidirectional": 0.6125, "attention": 0.544},
        "high majority": {"rnn": 0.773, "bidirectional": 0.600, "attention": 0.640},
        "unanimous": {"rnn": 0.677, "bidirectional": 0.754, "attention": 0.646},
        "augmented": {"rnn": 0.625, "bidirectional": 0.625, "attention": 0.725},
    }
)
DOCUMENT: Mapping[str, float] = MappingProxyType({"base": 0.748, "inter-sentence attention": 0.5971})


_DEV = 0.15


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """Cases for training, model selection and testing."""

    train: tuple[PassageCase, ...]
    dev: tuple[PassageCase, ...]
    test: tuple[PassageCase, ...]


def split(cases: Sequence[PassageCase], dev: float = 0.15, test: float = 0.15, seed: int = 0) -> CaseSplit:
    """Split cases at random into parts of about these shares that share no citing or cited documents."""
    if min(dev, test) <= 0 or dev + test >= 1:
        raise UserError(f"the shares of dev and test must be above 0 and add up to less than 1, not {dev} and {test}")
    groups = draw(_groups(cases), lambda group: group[0].id, len(cases), seed)
    chosen_test, rest = pack_groups(groups, round(test * len(cases)))
    chosen_dev, rest = pack_groups(rest, round(dev * len(cases)))
    if not (chosen_test and chosen_dev and rest):
        raise UserError(f"cannot split {len(cases)} cases in {len(groups)} groups that share no documents; add data")
    return CaseSplit(_in_order(cases, rest), _in_order(cases, chosen_dev), _in_order(cases, chosen_test))


def folds(cases: Sequence[PassageCase], number: int, seed: int = 0) -> list[CaseSplit]:
    """Folds with test parts of about equal size and 15% of the rest as dev; parts share no documents.

    One fold is the split of the thesis. With 0 folds, all cases are for testing.
    """
    if number == 0:
        return [CaseSplit((), (), tuple(cases))]
    if number == 1:
        return [split(cases, seed=seed)]
    groups = draw(_groups(cases), lambda group: group[0].id, len(cases), seed)
    if not 1 < number <= len(groups):
        raise UserError(
            f"folds must be between 1 and {len(groups)}, the number of groups that share no documents, not {number}"
        )
    tests: list[list[list[PassageCase]]] = [[] for _ in range(number)]
    for group in sorted(groups, key=len, reverse=True):
        min(tests, key=lambda test: sum(map(len, test))).append(group)
    splits = []
    for test in tests:
        rest = [group for group in groups if not any(group is test_group for test_group in test)]
        dev, train = pack_groups(rest, round(_DEV * sum(map(len, rest))))
        if not (dev and train):
            raise UserError(
                f"cannot split {len(cases)} cases in {len(groups)} groups that share no documents; add data"
            )
        splits.append(CaseSplit(_in_order(cases, train), _in_order(cases, dev), _in_order(cases, test)))
    return splits


def without_shared_documents(cases: Iterable[PassageCase], excluded: Iterable[PassageCase]) -> list[PassageCase]:
    """The cases that share no citing or cited document with the excluded ones."""
    excluded_documents = {name for case in excluded for name in (case.citing, case.document)}
    return [case for case in cases if case.citing not in excluded_documents and case.document not in excluded_documents]


def _groups(cases: Iterable[PassageCase]) -> list[list[PassageCase]]:
    """Groups of cases that are connected by documents."""
    return group_by_names(cases, lambda case: (case.document, case.citing))


def _in_order(cases: Iterable[PassageCase], groups: Iterable[list[PassageCase]]) -> tuple[PassageCase, ...]:
    chosen = {id(case) for group in groups for case in group}
    return tuple(case for case in cases if id(case) in chosen)


Fit = Callable[[CaseSplit, int], Scorer]
"""Trains a scorer on the parts of a fold, given with its number."""

CaseScores = dict[PassageCase, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class PassageExperiment:
    """The tested cases of each dataset, their pairs, and every sentence's score by each method."""

    cases: dict[str, tuple[PassageCase, ...]]
    pairs: dict[str, dict[ComparisonKind, tuple[SentenceComparison, ...]]]
    scores: dict[str, CaseScores]
    selected: dict[str, dict[PassageCase, frozenset[int]]]

    def accuracy(self, method: str, dataset: str, kind: ComparisonKind) -> Interval:
        """The accuracy on pairs (tables 7.1 and 7.2), with a bootstrap interval by document."""
        comparisons, scores = self.pairs[dataset][kind], self.scores[method]
        return bootstrap_by_document(
            [comparison_score(comparison, scores[comparison.case]) for comparison in comparisons],
            _documents(comparisons),
        )

    def ranking(self, method: str, dataset: str) -> dict[str, Interval]:
        """Every ranking measure over cases with gold."""
        judged = [case for case in self.cases[dataset] if case.gold]
        documents = [case.document for case in judged]
        return {
            name: bootstrap_by_document([measure(self.scores[method][case], _gold(case)) for case in judged], documents)
            for name, measure in MEASURES.items()
        }

    def selection(self, method: str, dataset: str) -> Selection:
        """Measure the sentences above the best threshold on dev, as in SciFact."""
        return measure_selection((case, self.selected[method][case]) for case in self.cases[dataset])


def fixed_fit(scorer: Scorer) -> Fit:
    """Use a scorer as it is, without training."""
    return lambda parts, fold: scorer


def run(
    datasets: Mapping[str, Sequence[PassageCase]],
    methods: Mapping[str, Fit],
    similarity: Scorer,
    number: int = 5,
    seed: int = 0,
    watch: Watch = lambda stage, count, total: None,
    gold_only: Collection[str] = (),
) -> PassageExperiment:
    """Fit every method to each fold's training parts of all datasets together, and score its test parts.

    `gold_only` methods only have scores for cases with gold, so their selections cannot be measured.
    """
    if not datasets:
        raise UserError("no dataset has labelled passages")
    parted = {name: folds(list(cases), number, seed) for name, cases in datasets.items()}
    tested = {name: tuple(case for part in parts for case in part.test) for name, parts in parted.items()}
    pairs: dict[str, dict[ComparisonKind, tuple[SentenceComparison, ...]]] = {}
    for name, cases in tested.items():
        watch(f"pairs of {name}", 0, None)
        pairs[name] = {kind: tuple(make_comparisons(cases, similarity, kind, seed)) for kind in KINDS}
        if not pairs[name]["hard"]:
            raise UserError(f"{name}: no gold sentence is among the ten sentences most similar to its claim")
    scores: dict[str, CaseScores] = {method: {} for method in methods}
    selected: dict[str, dict[PassageCase, frozenset[int]]] = {method: {} for method in methods}
    for fold in range(max(number, 1)):
        together = join_parts([parts[fold] for parts in parted.values()])
        stage = f"fold {fold + 1} of {number}: " if number else ""
        for method, fit in methods.items():
            watch(f"{stage}{method}", 0, None)
            scorer = fit(together, fold)
            for name, parts in parted.items():
                for index, case in enumerate(parts[fold].test):
                    watch(f"{stage}{method}, {name}", index, len(parts[fold].test))
                    if case.gold or method not in gold_only:
                        scores[method][case] = _score_case(scorer, case)
                if method not in gold_only and any(case.rationales for case in parts[fold].dev):
                    threshold = best_threshold([(case, _score_case(scorer, case)) for case in parts[fold].dev])
                    selected[method] |= {
                        case: choose_sentences(scores[method][case], threshold) for case in parts[fold].test
                    }
    return PassageExperiment(tested, pairs, scores, selected)


def _score_case(scorer: Scorer, case: PassageCase) -> NDArray[np.float64]:
    scores = np.asarray(scorer(case.claim, case.sentences), np.float64)
    if scores.shape != (len(case.sentences),) or np.isnan(scores).any():
        raise ValueError(
            f"{case.id}: the scorer did not return a number for each of the {len(case.sentences)} sentences"
        )
    return scores


def join_parts(parts: Sequence[CaseSplit]) -> CaseSplit:
    return CaseSplit(
        tuple(case for part in parts for case in part.train),
        tuple(case for part in parts for case in part.dev),
        tuple(case for part in parts for case in part.test),
    )


def _documents(comparisons: Sequence[SentenceComparison]) -> list[str]:
    return [comparison.case.document for comparison in comparisons]


def _gold(case: PassageCase) -> NDArray[np.bool_]:
    gold = np.zeros(len(case.sentences), np.bool_)
    gold[list(case.gold)] = True
    return gold


def report(experiment: PassageExperiment) -> dict[str, Any]:
    """The size of each dataset, and all results of every method."""
    return {
        "datasets": {name: _dataset(experiment, name) for name in experiment.cases},
        "pairs": {
            name: {
                method: {kind: _interval(experiment.accuracy(method, name, kind)) for kind in KINDS}
                for method in experiment.scores
            }
            for name in experiment.cases
        },
        "documents": {
            name: {
                method: {measure: _interval(value) for measure, value in experiment.ranking(method, name).items()}
                for method in experiment.scores
            }
            for name in experiment.cases
        },
        "selection": {
            name: {
                method: {"precision": selection.precision, "recall": selection.recall, "f1": selection.f1}
                for method, selected in experiment.selected.items()
                if selected
                for selection in [experiment.selection(method, name)]
            }
            for name in experiment.cases
            if any(case.rationales for case in experiment.cases[name])
        },
    }


def labels_as_dict(datasets: Mapping[str, LabelFigures]) -> dict[str, Any]:
    """All figures of verdicts on each dataset."""
    return {name: _label_figures(figures) for name, figures in datasets.items()}


def _label_figures(figures: LabelFigures) -> dict[str, Any]:
    contradicted = figures.classes["contradicted"].cases
    return {
        "cases": sum(map(sum, figures.confusion)),
        "accuracy": figures.accuracy,
        "majority": figures.majority,
        "macro_f1": figures.macro_f1,
        "classes": {label: asdict(class_figures) for label, class_figures in figures.classes.items()},
        "contradicted_called_backed": {
            "cases": figures.called_backed,
            "share": figures.called_backed / contradicted if contradicted else 0.0,
        },
        "confusion": {
            label: dict(zip(VERDICTS, row, strict=True)) for label, row in zip(LABELS, figures.confusion, strict=True)
        },
    }


def drops_as_dict(drops: Mapping[str, BackingDrop]) -> dict[str, Any]:
    """The drop in backing for each kind of alteration."""
    return {kind: asdict(drop) for kind, drop in drops.items()}


def _dataset(experiment: PassageExperiment, name: str) -> dict[str, int]:
    cases = experiment.cases[name]
    return {
        "cases": len(cases),
        "with_gold": sum(bool(case.gold) for case in cases),
        "documents": len({case.document for case in cases}),
        **{kind: len(experiment.pairs[name][kind]) for kind in KINDS},
    }


def _interval(value: Interval) -> dict[str, float]:
    return {"mean": value.mean, "low": value.low, "high": value.high}
