"""The true entry of a masked citation among all entries of its draft: how high does it come?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.check.entries import FEATURES, Entries
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.evidence.words import content_words
from whycite.recommend.ilciter.bm25 import Index
from whycite.text.tokens import terms

__all__ = ["Case", "Outcome", "cases", "cross_fitted", "fit", "project", "reciprocal_rank"]

Floats = NDArray[np.float64]
_STEPS = 50
_STEADY = 1.0  # holds back weights of what hardly ever occurs
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Case:
    """A citation that was masked: the true entries, and what is known of all of them without it."""

    project: str
    draft: str
    true: tuple[int, ...]  # rows of the features
    features: Floats
    bm25: Floats  # of the titles: what is to be beaten


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured: for each case the reciprocal rank of its best true entry, and the weights for all drafts."""

    cases: Sequence[Case]
    ours: Floats
    bm25: Floats
    weights: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """How many times as high as BM25's our mean reciprocal rank is."""
        return float(self.ours.mean() / self.bm25.mean())


def project(name: str) -> str:
    """What versions of a draft, and drafts of one author, share: "thesis" of "thesis-old"."""
    return name.partition("-")[0]


def cases(document: Document, name: str, encoder: Encoder) -> list[Case]:
    """Every citation of a draft whose entry is known, masked with all others of its sentence."""
    entries = Entries(document, encoder)
    asked = [at for at in entries.citing if content_words(entries.texts[at])]
    if not asked:
        return []
    titles = Index(terms(entry.title or entry.text) for entry in document.references)
    places = {entry.id: place for place, entry in enumerate(document.references)}
    found = []
    for at, held in zip(asked, entries.hold(asked), strict=True):
        rows = {place: row for row, place in enumerate(held.entries.tolist())}
        bm25 = titles.scores(terms(entries.texts[at]))["okapi"][held.entries]
        for citation in document.sentences[at].citations:
            true = tuple(dict.fromkeys(rows[places[key]] for key in citation.keys if places.get(key) in rows))
            if true:
                found.append(Case(project(name), name, true, held.features, bm25))
    return found


def reciprocal_rank(values: Floats, true: Sequence[int]) -> float:
    """1 / rank of the best true entry; equal ones share the middle of their places."""
    rounded = values.round(9)
    best = rounded[list(true)].max()
    return float(1 / ((rounded > best).sum() + ((rounded == best).sum() + 1) / 2))


def fit(examples: Sequence[Case]) -> dict[str, float]:
    """The weights that make the true entries most likely among all of their drafts (a conditional logit)."""
    if not examples:
        raise UserError("weights need citations to be fitted to")
    often = Counter(case.draft for case in examples)
    spread = np.concatenate([case.features for case in examples]).std(axis=0) + 1e-9
    data = [(case.features / spread, list(case.true), often[case.draft] ** -0.5) for case in examples]
    found = np.zeros(len(FEATURES))
    loss, slope, bend = _likelihood(data, found)
    for _ in range(_STEPS):
        step, length = np.linalg.solve(bend, slope), 1.0
        while (new := _likelihood(data, found - length * step))[0] > loss and length > 1e-6:
            length /= 2
        if loss - new[0] < 1e-6 * loss:
            break
        found, (loss, slope, bend) = found - length * step, new
    return dict(zip(FEATURES, (found / spread).tolist(), strict=True))


def cross_fitted(examples: Sequence[Case], told: Callable[[str], None] = lambda _: None) -> Outcome:
    """Each project measured with weights that were fitted to the others."""
    sizes = Counter(case.project for case in examples)
    folds: dict[str, int] = {}
    filled = [0] * _FOLDS
    for name, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        folds[name] = filled.index(min(filled))
        filled[folds[name]] += size
    ours = np.zeros(len(examples))
    for fold in range(_FOLDS):
        inside = [at for at, case in enumerate(examples) if folds[case.project] == fold]
        others = [case for case in examples if folds[case.project] != fold]
        if not inside:
            continue
        told(f"fold {fold + 1} of {_FOLDS}: {len(inside)} citations, weights from {len(others)}")
        weights = np.array([fit(others)[name] for name in FEATURES])
        for at in inside:
            ours[at] = reciprocal_rank((examples[at].features * weights).sum(axis=1), examples[at].true)
    bm25 = np.array([reciprocal_rank(case.bm25, case.true) for case in examples])
    return Outcome(examples, ours, bm25, fit(examples))


def _likelihood(data: Sequence[tuple[Floats, list[int], float]], weights: Floats) -> tuple[float, Floats, Floats]:
    """How unlikely the true entries are, with slope and bend; it is convex."""
    loss = _STEADY * float((weights * weights).sum()) / 2
    slope, bend = _STEADY * weights, _STEADY * np.eye(len(weights))
    for features, true, weight in data:
        values = features @ weights
        values -= values.max()
        chances = np.exp(values)
        total = chances.sum()
        chances /= total
        mean = chances @ features
        loss += weight * float(np.log(total) - values[true].mean())
        slope = slope + weight * (mean - features[true].mean(axis=0))
        bend = bend + weight * ((features * chances[:, None]).T @ features - np.outer(mean, mean))
    return loss, slope, bend
