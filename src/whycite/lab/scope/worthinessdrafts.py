"""Worthiness on raw drafts (SCOPE 6.2), with citations masked and decisions fitted to other drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import fit_calibration, title_signs
from whycite.check.detector import Decision, FolderDetector
from whycite.check.paragraphs import LabelledDocument
from whycite.errors import UserError
from whycite.lab.scope.worthinessmeasures import (
    WorthinessScores,
    best_threshold,
    learn_bibliography,
    measure_with_holes,
)
from whycite.models import Encoder
from whycite.text.language import is_english_draft

__all__ = ["DraftScores", "ScoredDraft", "cross_fit", "fit_decision", "score_draft"]

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoredDraft:
    """A draft's sentences, whether they cite, and a model's scores; versions of a draft share a `project`."""

    name: str
    project: str
    sentences: tuple[str, ...]
    worthy: Labels
    scores: Floats
    holed: Labels  # citations that were part of the grammar; the sentences are repaired
    signs: Floats | None = None  # from its bibliography, if used; all nan if it says nothing

    @property
    def english(self) -> bool:
        """Whether the draft is in English, the language of the bundled model."""
        return is_english_draft(self.sentences)


@dataclass(frozen=True, slots=True)
class DraftScores:
    """Scores over all sentences and for each draft, with decisions fitted to other projects."""

    all: WorthinessScores
    english: WorthinessScores
    by_draft: tuple[tuple[ScoredDraft, WorthinessScores], ...]


def score_draft(
    name: str, project: str, document: LabelledDocument, detector: FolderDetector, encoder: Encoder | None = None
) -> ScoredDraft:
    """Score a draft with a detector and, given an encoder, its bibliography."""
    labelled = [sentence for paragraph in document.paragraphs for sentence in paragraph.sentences]
    paragraphs = document.unlabelled()
    draft = ScoredDraft(
        name,
        project,
        tuple(sentence.text for sentence in labelled),
        np.array([sentence.worthy for sentence in labelled], bool),
        np.concatenate([*detector.scores(paragraphs), np.zeros(0)]).astype(np.float64),
        np.array([sentence.had_hole for sentence in labelled], bool),
    )
    if encoder is None:
        return draft
    titles = document.titles if draft.english else ()
    return replace(draft, signs=title_signs(detector.probabilities(draft.scores), draft.sentences, titles, encoder))


def fit_decision(drafts: Sequence[ScoredDraft]) -> Decision:
    """Fit the calibration that makes the labels most likely, and the threshold with the highest overall F1."""
    worthy = np.concatenate([*(draft.worthy for draft in drafts), np.zeros(0, bool)])
    scores = np.concatenate([*(draft.scores for draft in drafts), np.zeros(0)])
    if not worthy.any():
        raise UserError("calibration needs drafts with citations")
    calibration = fit_calibration(scores, worthy, shift=True)
    bibliography_inputs = [
        (calibration.probabilities(draft.scores), draft.signs, draft.worthy)
        for draft in drafts
        if draft.signs is not None
    ]
    weights = learn_bibliography(*zip(*bibliography_inputs, strict=True)) if bibliography_inputs else None
    return Decision(calibration, {"": best_threshold(worthy, calibration.probabilities(scores))}, weights)


def cross_fit(drafts: Sequence[ScoredDraft]) -> DraftScores:
    """Measure each draft with a decision fitted to the English drafts of all other projects.

    The bundled model does the same: drafts in other languages do not behave like English ones.
    """
    projects = sorted({draft.project for draft in drafts})
    if len(projects) < 2:
        raise UserError("cross-fitting needs drafts of at least two projects")
    decisions = {
        project: fit_decision(_training_drafts([draft for draft in drafts if draft.project != project]))
        for project in projects
    }
    judged = {draft.name: _judge(draft, decisions[draft.project]) for draft in drafts}
    return DraftScores(
        _pooled_scores(drafts, judged),
        _pooled_scores([draft for draft in drafts if draft.english], judged),
        tuple((draft, _pooled_scores([draft], judged)) for draft in drafts),
    )


def _judge(draft: ScoredDraft, decision: Decision) -> tuple[Labels, Floats]:
    """Which sentences are worthy, and the probabilities."""
    probabilities, threshold = decision.calibration.probabilities(draft.scores), decision.thresholds[""]
    if draft.signs is not None and decision.bibliography is not None:
        probabilities = decision.bibliography.informed_worthiness(probabilities, draft.signs)
        threshold = decision.bibliography.threshold
    return probabilities >= threshold, probabilities


def _training_drafts(drafts: Sequence[ScoredDraft]) -> Sequence[ScoredDraft]:
    return [draft for draft in drafts if draft.english] or drafts


def _pooled_scores(drafts: Sequence[ScoredDraft], judged: dict[str, tuple[Labels, Floats]]) -> WorthinessScores:
    none = np.zeros(0, bool)
    return measure_with_holes(
        np.concatenate([none, *(draft.worthy for draft in drafts)]),
        np.concatenate([none, *(draft.holed for draft in drafts)]),
        np.concatenate([none, *(judged[draft.name][0] for draft in drafts)]),
        np.concatenate([np.zeros(0), *(judged[draft.name][1] for draft in drafts)]),
    )
