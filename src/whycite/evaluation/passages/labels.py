"""Verdicts beside the labels that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from whycite.errors import UserError
from whycite.evaluation.passages.model import Label
from whycite.verify.model import Verdict

__all__ = ["GIVEN", "LABELS", "Labels", "measure_labels"]

LABELS: tuple[Label, ...] = get_args(Label)
GIVEN: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Labels:
    """How often verdicts are right: `confusion` has a row for each label, a column for each verdict."""

    accuracy: float
    majority: float  # accuracy of the most frequent label given always
    macro_f1: float
    confusion: tuple[tuple[int, ...], ...]


def measure_labels(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> Labels:
    """Accuracy and mean F1 over labels; `could not check` is never right."""
    if not labels:
        raise UserError("there is no case with a label to evaluate")
    counts = Counter(zip(labels, verdicts, strict=True))
    confusion = tuple(tuple(counts[label, verdict] for verdict in GIVEN) for label in LABELS)
    by_label = Counter(labels)
    by_verdict = Counter(verdicts)
    f1 = [2 * counts[each, each] / total for each in LABELS if (total := by_label[each] + by_verdict[each])]
    return Labels(
        accuracy=sum(counts[each, each] for each in LABELS) / len(labels),
        majority=max(by_label.values()) / len(labels),
        macro_f1=sum(f1) / len(f1),
        confusion=confusion,
    )
