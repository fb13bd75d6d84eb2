"""How high the true entry of a masked citation ranks among all entries of its draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.check.bibliography import FEATURES, BibliographyEntries
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.models import Encoder
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import terms

__all__ = [
    "FOLDS",
    "MaskedCitation",
    "MaskedCitationOutcome",
    "cross_fit",
    "fit_entry_weights",
    "mask_citations",
    "project_folds",
    "project_name",
    "reciprocal_rank",
]

Floats = NDArray[np.float64]
_STEPS = 50
_REGULARISATION = 1.0  # keeps weights of rare features small
FOLDS = 5
_FORMATS = ("qmd", "rmd")  # before the name of a draft that is there in another format, too


@dataclass(frozen=True, slots=True)
class MaskedCitation:
    """A masked citation: its true entries, and features of all entries computed without it."""

    project: str
    draft: str
    true: tuple[int, ...]  # rows of `features`
    features: Floats
    bm25: Floats  # of the titles, as baseline


@dataclass(frozen=True, slots=True)
class MaskedCitationOutcome:
    """Reciprocal rank of the best true entry in each case, and the weights fitted to all drafts."""

    cases: Sequence[MaskedCitation]
    reciprocal_ranks: Floats
    bm25: Floats
    weights: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Ratio of our mean reciprocal rank to BM25's."""
        return float(self.reciprocal_ranks.mean() / self.bm25.mean())


def project_name(name: str) -> str:
    """The name shared by versions of a draft and drafts of one author: "thesis" for "thesis-old" and "qmd-thesis"."""
    first, _, rest = name.partition("-")
    return rest.partition("-")[0] if rest and first in _FORMATS else first


def project_folds(projects: Iterable[str]) -> dict[str, int]:
    """Divide projects into folds with about as many citations; `projects` has one for each citation."""
    folds: dict[str, int] = {}
    filled = [0] * FOLDS
    for name, size in sorted(Counter(projects).items(), key=lambda pair: (-pair[1], pair[0])):
        folds[name] = filled.index(min(filled))
        filled[folds[name]] += size
    return folds


def mask_citations(document: Document, name: str, encoder: Encoder) -> list[MaskedCitation]:
    """Mask every citation with a known entry, together with all others in its sentence."""
    entries = BibliographyEntries(document, encoder)
    citing_sentences = [index for index in entries.citing if has_content_words(entries.texts[index])]
    if not citing_sentences:
        return []
    titles = Bm25Index(terms(entry.title or entry.text) for entry in document.references)
    places = {entry.id: place for place, entry in enumerate(document.references)}
    masked_citations = []
    for sentence_index, entry_features in zip(citing_sentences, entries.features_of(citing_sentences), strict=True):
        rows = {place: row for row, place in enumerate(entry_features.positions.tolist())}
        bm25 = titles.scores(terms(entries.texts[sentence_index]))["okapi"][entry_features.positions]
        for citation in document.sentences[sentence_index].citations:
            true = tuple(dict.fromkeys(rows[places[key]] for key in citation.keys if places.get(key) in rows))
            if true:
                masked_citations.append(MaskedCitation(project_name(name), name, true, entry_features.features, bm25))
    return masked_citations


def reciprocal_rank(values: Floats, true: Sequence[int]) -> float:
    """1 / rank of the best true entry; ties share their mean rank."""
    rounded = values.round(9)
    best = rounded[list(true)].max()
    return float(1 / ((rounded > best).sum() + ((rounded == best).sum() + 1) / 2))


def fit_entry_weights(examples: Sequence[MaskedCitation]) -> dict[str, float]:
    """Fit the weights that make the true entries most likely among all entries of their drafts (conditional logit)."""
    if not examples:
        raise UserError("no citations to fit the weights to")
    often = Counter(case.draft for case in examples)
    spread = np.concatenate([case.features for case in examples]).std(axis=0) + 1e-9
    data = [(case.features / spread, list(case.true), often[case.draft] ** -0.5) for case in examples]
    weights = np.zeros(len(FEATURES))
    loss, slope, bend = _likelihood(data, weights)
    for _ in range(_STEPS):
        step, length = np.linalg.solve(bend, slope), 1.0
        while (new := _likelihood(data, weights - length * step))[0] > loss and length > 1e-6:
            length /= 2
        if loss - new[0] < 1e-6 * loss:
            break
        weights, (loss, slope, bend) = weights - length * step, new
    return dict(zip(FEATURES, (weights / spread).tolist(), strict=True))


def cross_fit(
    examples: Sequence[MaskedCitation], tell: Callable[[str], None] = lambda _: None
) -> MaskedCitationOutcome:
    """Measure each project with weights fitted to the others."""
    folds = project_folds(case.project for case in examples)
    reciprocal_ranks = np.zeros(len(examples))
    for fold in range(FOLDS):
        test_indices = [index for index, case in enumerate(examples) if folds[case.project] == fold]
        training_cases = [case for case in examples if folds[case.project] != fold]
        if not test_indices:
            continue
        tell(f"fold {fold + 1} of {FOLDS}: {len(test_indices)} citations, weights from {len(training_cases)}")
        weights = np.array([fit_entry_weights(training_cases)[name] for name in FEATURES])
        for index in test_indices:
            reciprocal_ranks[index] = reciprocal_rank(
                (examples[index].features * weights).sum(axis=1), examples[index].true
            )
    bm25 = np.array([reciprocal_rank(case.bm25, case.true) for case in examples])
    return MaskedCitationOutcome(examples, reciprocal_ranks, bm25, fit_entry_weights(examples))


def _likelihood(data: Sequence[tuple[Floats, list[int], float]], weights: Floats) -> tuple[float, Floats, Floats]:
    """Regularised negative log-likelihood of the true entries (convex), its gradient and its Hessian."""
    loss = _REGULARISATION * float((weights * weights).sum()) / 2
    slope, bend = _REGULARISATION * weights, _REGULARISATION * np.eye(len(weights))
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
