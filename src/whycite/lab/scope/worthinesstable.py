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
    measure_with_holes,
    paragraph_kind,
)
from whycite.models import Encoder

__all__ = ["BASELINES", "WorthinessRow", "worthiness_table"]

Labels = NDArray[np.bool_]
Probabilities = NDArray[np.float64]
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
    holed: Labels
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
    judged: dict[str, tuple[Labels, Probabilities | None]] = {}
    priors = (
        worthinessbaselines.chance(),
        worthinessbaselines.class_weighted(labels),
        worthinessbaselines.class_weighted(labels, by_section=True),
    )
    for name, prior in zip(BASELINES, priors, strict=False):
        judged[name] = worthinessbaselines.draws(prior, test.types, seed), None
    tell(_WORDS)
    words = worthinessbaselines.fit_regression(train.texts, train.types, train.worthy.tolist())
    threshold = best_threshold(dev.worthy, words.probabilities(dev.texts, dev.types))
    by_words = words.probabilities(test.texts, test.types)
    judged[_WORDS] = by_words >= threshold, by_words
    if detector is not None:
        tell(detector.name)
        worthiness = [
            np.concatenate([*detector.worthiness(document.unlabelled()), np.zeros(0)]) for document in parts.test
        ]
        alone = np.concatenate(worthiness)
        thresholds = detector.thresholds
        limits = np.array([thresholds.get(type or "", thresholds[""]) for type in test.types])
        judged[detector.name] = alone >= limits, alone
        if encoder is not None and detector.bibliography is not None:
            tell(f"{detector.name}, {TITLES}")
            informed = np.concatenate(
                [
                    _informed_worthiness(*scored_document, detector.bibliography, encoder)
                    for scored_document in zip(parts.test, worthiness, strict=True)
                ]
            )
            judged[f"{detector.name}, {TITLES}"] = informed >= detector.bibliography.threshold, informed
    return [row for name, judgement in judged.items() for row in _rows(name, test, *judgement)]


def _informed_worthiness(
    document: LabelledDocument, worthiness: Probabilities, bibliography: BibliographyWeights, encoder: Encoder
) -> Probabilities:
    """The worthiness of a document's sentences, given its bibliography."""
    bibliography_signs = title_signs(worthiness, document.texts, document.titles, encoder)
    return bibliography.informed_worthiness(worthiness, bibliography_signs)


def _rows(
    method: str, test: _SentenceColumns, decided: Labels, probabilities: Probabilities | None
) -> list[WorthinessRow]:
    masks = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == name for name in KINDS}
    return [
        WorthinessRow(
            method,
            name,
            int(mask.sum()),
            measure_with_holes(
                test.worthy[mask],
                test.holed[mask],
                decided[mask],
                None if probabilities is None else probabilities[mask],
            ),
        )
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
        np.array([sentence.had_hole for _, sentence in pairs], bool),
        np.array([paragraph_kind(paragraph) for paragraph, _ in pairs], np.str_),
    )
