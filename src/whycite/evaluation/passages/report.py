"""The figures of the experiment on passages, as programs read them and tables show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from whycite.evaluation.passages.comparisons import KINDS
from whycite.evaluation.passages.experiment import Experiment
from whycite.evaluation.passages.labels import GIVEN, LABELS, Labels
from whycite.evaluation.passages.verdicts import Fall
from whycite.evaluation.statistics import Interval

__all__ = ["falls_dict", "labels_dict", "report"]


def report(found: Experiment) -> dict[str, Any]:
    """Of each data set how much there is, and every figure of every method."""
    return {
        "datasets": {name: _dataset(found, name) for name in found.cases},
        "pairs": {
            name: {
                method: {kind: _interval(found.accuracy(method, name, kind)) for kind in KINDS}
                for method in found.scores
            }
            for name in found.cases
        },
        "documents": {
            name: {
                method: {measure: _interval(value) for measure, value in found.ranking(method, name).items()}
                for method in found.scores
            }
            for name in found.cases
        },
        "selection": {
            name: {
                method: {"precision": chosen.precision, "recall": chosen.recall, "f1": chosen.f1}
                for method, given in found.selected.items()
                if given
                for chosen in [found.selection(method, name)]
            }
            for name in found.cases
            if any(case.rationales for case in found.cases[name])
        },
    }


def labels_dict(found: Mapping[str, Labels]) -> dict[str, Any]:
    """Of each data set the accuracy of verdicts, and how often each label was given each verdict."""
    return {
        name: {
            "accuracy": each.accuracy,
            "majority": each.majority,
            "macro_f1": each.macro_f1,
            "confusion": {
                label: dict(zip(GIVEN, row, strict=True)) for label, row in zip(LABELS, each.confusion, strict=True)
            },
        }
        for name, each in found.items()
    }


def falls_dict(found: Mapping[str, Fall]) -> dict[str, Any]:
    """For each kind of alteration how `backed` falls."""
    return {kind: asdict(each) for kind, each in found.items()}


def _dataset(found: Experiment, name: str) -> dict[str, int]:
    cases = found.cases[name]
    return {
        "cases": len(cases),
        "with_gold": sum(bool(case.gold) for case in cases),
        "documents": len({case.document for case in cases}),
        **{kind: len(found.pairs[name][kind]) for kind in KINDS},
    }


def _interval(value: Interval) -> dict[str, float]:
    return {"mean": value.mean, "low": value.low, "high": value.high}
