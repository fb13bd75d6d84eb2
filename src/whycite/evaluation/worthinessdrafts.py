"""Worthiness on raw drafts (SCOPE 6.2): citations masked, decided by what other drafts taught than those measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.worthiness import Scores, best_threshold, measure
from whycite.worthiness.calibration import Calibration
from whycite.worthiness.facts import Decision
from whycite.worthiness.folder import FolderDetector
from whycite.worthiness.model import LabelledDocument
from whycite.worthiness.rules import english
from whycite.worthiness.signs import SIGNS, signs

__all__ = ["Draft", "Measured", "cross_fitted", "decision", "draft"]

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
_PULL = 30.0  # towards signs that say nothing
_STEPS = 40


@dataclass(frozen=True, slots=True)
class Draft:
    """The sentences of a draft: whether they cite, and a model's scores; `project` is what versions of it share."""

    name: str
    project: str
    sentences: tuple[str, ...]
    worthy: Labels
    scores: Floats

    @property
    def english(self) -> bool:
        """Whether it is in the language that the bundled model has learned."""
        return english(self.sentences)


@dataclass(frozen=True, slots=True)
class Measured:
    """All sentences of all drafts, each decided by what other projects taught; and of each draft."""

    all: Scores
    english: Scores
    by_draft: tuple[tuple[Draft, Scores], ...]


def draft(name: str, project: str, document: LabelledDocument, detector: FolderDetector) -> Draft:
    """A draft as a detector scores it."""
    labelled = [each for paragraph in document.paragraphs for each in paragraph.sentences]
    scores = detector.scores(document.unlabelled())
    return Draft(
        name,
        project,
        tuple(each.text for each in labelled),
        np.array([each.worthy for each in labelled], bool),
        np.concatenate([*scores, np.zeros(0)]).astype(np.float64),
    )


def decision(drafts: Sequence[Draft], with_signs: bool = True) -> Decision:
    """What makes the labels of drafts most likely, and the threshold where F1 over all their sentences is highest."""
    sentences = [text for each in drafts for text in each.sentences]
    worthy = np.concatenate([*(each.worthy for each in drafts), np.zeros(0, bool)])
    scores = np.concatenate([*(each.scores for each in drafts), np.zeros(0)])
    if not worthy.any():
        raise UserError("calibration needs drafts that cite")
    told = signs(sentences) if with_signs else np.zeros((len(scores), 0))
    weights = _logistic(np.column_stack([scores, np.ones(len(scores)), told]), worthy)
    rounded = [round(float(value), 4) for value in weights]
    found = Decision(
        Calibration(rounded[0], rounded[1]), {}, dict(zip(SIGNS, rounded[2:], strict=True)) if with_signs else {}
    )
    threshold = best_threshold(worthy, found.probabilities(scores, sentences))
    return Decision(found.calibration, {"": threshold}, found.signs)


def cross_fitted(drafts: Sequence[Draft], with_signs: bool = True) -> Measured:
    """Every draft measured by the decision that the drafts of all other projects make."""
    projects = sorted({each.project for each in drafts})
    if len(projects) < 2:
        raise UserError("cross-fitting needs drafts of two projects or more")
    made = {own: decision([each for each in drafts if each.project != own], with_signs) for own in projects}
    decided = {
        each.name: made[each.project].probabilities(each.scores, each.sentences) >= made[each.project].thresholds[""]
        for each in drafts
    }
    return Measured(
        _together(drafts, decided),
        _together([each for each in drafts if each.english], decided),
        tuple((each, measure(each.worthy, decided[each.name])) for each in drafts),
    )


def _together(drafts: Sequence[Draft], decided: dict[str, Labels]) -> Scores:
    none = np.zeros(0, bool)
    return measure(
        np.concatenate([none, *(each.worthy for each in drafts)]),
        np.concatenate([none, *(decided[each.name] for each in drafts)]),
    )


def _logistic(rows: Floats, worthy: Labels) -> Floats:
    """Logistic regression by Newton's method; columns from the third on are pulled towards zero."""
    pull = np.diag([1e-6, 1e-6] + [_PULL] * (rows.shape[1] - 2))
    found = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = Calibration().probabilities(rows @ found)
        slope = rows.T @ (chances - worthy) + pull @ found
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + pull
        step = np.linalg.solve(bend, slope)
        found = found - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return found
