"""SCOPE's table 3: worthiness on all, conform and non-conform paragraphs, next to its baselines (4.3.2, 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, title_signs
from whycite.check.detector import Detector
from whycite.check.paragraphs import LabelledDocument
from whycite.lab.scope import worthinessbaselines
from whycite.lab.scope.worthinessmeasures import (
    KINDS,
    TITLES,
    WorthinessScores,
    WorthinessSplit,
    best_threshold,
    measure,
    paragraph_kind,
)
from whycite.models import Encoder

__all__ = ["BASELINES", "WorthinessRow", "worthiness_table"]

Labels = NDArray[np.bool_]
_WORDS = "logistic regression"
BASELINES = ("chance", "class-weighted", "class-weighted by section", _WORDS)


@dataclass(frozen=True, slots=True)
class WorthinessRow:
    """A method's scores on sentences of all paragraphs or of one kind."""

    method: str
    kind: str
    sentences: int
    scores: WorthinessScores


@dataclass(frozen=True, slots=True)
class _SentenceColumns:
    texts: list[str]
    types: list[str | None]
    worthy: Labels
    kinds: NDArray[np.str_]


def worthiness_table(
    parts: WorthinessSplit,
    detector: Detector | None,
    encoder: Encoder | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda word: None,
) -> list[WorthinessRow]:
    """Score the detector and baselines trained on `parts.train` on `parts.test`; thresholds are chosen on dev.

    The detector uses its own thresholds, chosen when it was made. With an encoder, it is also scored with the titles
    in the articles' bibliographies.
    """
    train, dev, test = (_sentences(documents) for documents in (parts.train, parts.dev, parts.test))
    labels = list(zip(train.types, train.worthy.tolist(), strict=True))
    decided: dict[str, Labels] = {}
    priors = (
        worthinessbaselines.chance(),
        worthinessbaselines.class_weighted(labels),
        worthinessbaselines.class_weighted(labels, by_section=True),
    )
    for name, prior in zip(BASELINES, priors, strict=False):
        decided[name] = worthinessbaselines.draws(prior, test.types, seed)
    tell(_WORDS)
    words = worthinessbaselines.fit_regression(train.texts, train.types, train.worthy.tolist())
    threshold = best_threshold(dev.worthy, words.probabilities(dev.texts, dev.types))
    decided[_WORDS] = words.probabilities(test.texts, test.types) >= threshold
    if detector is not None:
        tell(detector.name)
        worthiness = [
            np.concatenate([*detector.worthiness(document.unlabelled()), np.zeros(0)]) for document in parts.test
        ]
        thresholds = detector.thresholds
        limits = np.array([thresholds.get(type or "", thresholds[""]) for type in test.types])
        decided[detector.name] = np.concatenate(worthiness) >= limits
        if encoder is not None and detector.bibliography is not None:
            tell(f"{detector.name}, {TITLES}")
            informed = [
                _decide_informed(*scored_document, detector.bibliography, encoder)
                for scored_document in zip(parts.test, worthiness, strict=True)
            ]
            decided[f"{detector.name}, {TITLES}"] = np.concatenate(informed)
    return [row for name, decisions in decided.items() for row in _rows(name, test, decisions)]


def _decide_informed(
    document: LabelledDocument, worthiness: NDArray[np.float64], bibliography: BibliographyWeights, encoder: Encoder
) -> Labels:
    """Decide which sentences of a document are worthy, given its bibliography."""
    bibliography_signs = title_signs(worthiness, document.texts, document.titles, encoder)
    return bibliography.informed_worthiness(worthiness, bibliography_signs) >= bibliography.threshold


def _rows(method: str, test: _SentenceColumns, decided: Labels) -> list[WorthinessRow]:
    masks = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == name for name in KINDS}
    return [
        WorthinessRow(method, name, int(mask.sum()), measure(test.worthy[mask], decided[mask]))
        for name, mask in masks.items()
    ]


def _sentences(documents: Sequence[LabelledDocument]) -> _SentenceColumns:
    pairs = [
        (paragraph, sentence)
        for document in documents
        for paragraph in document.paragraphs
        for sentence in paragraph.sentences
    ]
    return _SentenceColumns(
        [sentence.text for _, sentence in pairs],
        [paragraph.section_type for paragraph, _ in pairs],
        np.array([sentence.worthy for _, sentence in pairs], bool),
        np.array([paragraph_kind(paragraph) for paragraph, _ in pairs], np.str_),
    )
