"""Worthiness on raw drafts (SCOPE 6.2): citations masked, decided by what other drafts taught than those measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.evaluation.worthiness import Scores, best_threshold, measure, taught
from whycite.worthiness.bibliography import signs
from whycite.worthiness.calibration import fit
from whycite.worthiness.facts import Decision
from whycite.worthiness.folder import FolderDetector
from whycite.worthiness.model import LabelledDocument
from whycite.worthiness.rules import english

__all__ = ["Draft", "Measured", "cross_fitted", "decision", "draft"]

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Draft:
    """The sentences of a draft: whether they cite, and a model's scores; `project` is what versions of it share."""

    name: str
    project: str
    sentences: tuple[str, ...]
    worthy: Labels
    scores: Floats
    signs: Floats | None = None  # what its bibliography tells, where that is asked; all nan where it tells nothing

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


def draft(
    name: str, project: str, document: LabelledDocument, detector: FolderDetector, encoder: Encoder | None = None
) -> Draft:
    """A draft as a detector scores it; with an encoder, its bibliography is asked too."""
    labelled = [each for paragraph in document.paragraphs for each in paragraph.sentences]
    paragraphs = document.unlabelled()
    made = Draft(
        name,
        project,
        tuple(each.text for each in labelled),
        np.array([each.worthy for each in labelled], bool),
        np.concatenate([*detector.scores(paragraphs), np.zeros(0)]).astype(np.float64),
    )
    if encoder is None:
        return made
    listed = document.titles if made.english else ()
    return replace(made, signs=signs(detector.calibrated(made.scores), made.sentences, listed, encoder))


def decision(drafts: Sequence[Draft]) -> Decision:
    """What makes the labels of drafts most likely, and the threshold where F1 over all their sentences is highest."""
    worthy = np.concatenate([*(each.worthy for each in drafts), np.zeros(0, bool)])
    scores = np.concatenate([*(each.scores for each in drafts), np.zeros(0)])
    if not worthy.any():
        raise UserError("calibration needs drafts that cite")
    calibration = fit(scores, worthy, shift=True)
    asked = [
        (calibration.probabilities(each.scores), each.signs, each.worthy) for each in drafts if each.signs is not None
    ]
    weights = taught(*zip(*asked, strict=True)) if asked else None
    return Decision(calibration, {"": best_threshold(worthy, calibration.probabilities(scores))}, weights)


def cross_fitted(drafts: Sequence[Draft]) -> Measured:
    """Every draft measured by the decision that drafts of all other projects make, of which those in English count.

    So it is with the bundled model: what drafts in other languages have in common is not what the English ones have.
    """
    projects = sorted({each.project for each in drafts})
    if len(projects) < 2:
        raise UserError("cross-fitting needs drafts of two projects or more")
    made = {own: decision(_teaching([each for each in drafts if each.project != own])) for own in projects}
    decided = {each.name: _decided(each, made[each.project]) for each in drafts}
    return Measured(
        _together(drafts, decided),
        _together([each for each in drafts if each.english], decided),
        tuple((each, measure(each.worthy, decided[each.name])) for each in drafts),
    )


def _decided(draft: Draft, decision: Decision) -> Labels:
    alone = decision.calibration.probabilities(draft.scores)
    if draft.signs is None or decision.bibliography is None:
        return alone >= decision.thresholds[""]
    return decision.bibliography.informed(alone, draft.signs) >= decision.bibliography.threshold


def _teaching(drafts: Sequence[Draft]) -> Sequence[Draft]:
    return [each for each in drafts if each.english] or drafts


def _together(drafts: Sequence[Draft], decided: dict[str, Labels]) -> Scores:
    none = np.zeros(0, bool)
    return measure(
        np.concatenate([none, *(each.worthy for each in drafts)]),
        np.concatenate([none, *(decided[each.name] for each in drafts)]),
    )
