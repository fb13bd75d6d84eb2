"""SCOPE's table 3: worthiness on all, conform and non-conform paragraphs, beside its baselines (4.3.2, 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.evaluation.worthiness import KINDS, TITLES, Scores, Split, best_threshold, kind, measure
from whycite.worthiness import baselines, regression
from whycite.worthiness.bibliography import Bibliography, signs
from whycite.worthiness.detector import Detector
from whycite.worthiness.model import LabelledDocument

__all__ = ["BASELINES", "Row", "table"]

Labels = NDArray[np.bool_]
_WORDS = "logistic regression"
BASELINES = ("chance", "class-weighted", "class-weighted by section", _WORDS)


@dataclass(frozen=True, slots=True)
class Row:
    """What a method reaches on the sentences of all paragraphs, or of those of a kind."""

    method: str
    kind: str
    sentences: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class _Sentences:
    texts: list[str]
    types: list[str | None]
    worthy: Labels
    kinds: NDArray[np.str_]


def table(
    parts: Split,
    detector: Detector | None,
    encoder: Encoder | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda word: None,
) -> list[Row]:
    """The baselines learned from `parts.train` and the detector, on `parts.test`; thresholds are chosen on dev.

    The detector decides by its own thresholds, which were chosen when it was made; with an encoder, once more with the
    titles that the articles' bibliographies list.
    """
    train, dev, test = (_sentences(each) for each in (parts.train, parts.dev, parts.test))
    labels = list(zip(train.types, train.worthy.tolist(), strict=True))
    decided: dict[str, Labels] = {}
    priors = (baselines.chance(), baselines.class_weighted(labels), baselines.class_weighted(labels, by_section=True))
    for name, prior in zip(BASELINES, priors, strict=False):
        decided[name] = baselines.draws(prior, test.types, seed)
    tell(_WORDS)
    words = regression.fit(train.texts, train.types, train.worthy.tolist())
    threshold = best_threshold(dev.worthy, words.probabilities(dev.texts, dev.types))
    decided[_WORDS] = words.probabilities(test.texts, test.types) >= threshold
    if detector is not None:
        tell(detector.name)
        found = [np.concatenate([*detector.worthiness(each.unlabelled()), np.zeros(0)]) for each in parts.test]
        own = detector.thresholds
        limits = np.array([own.get(type or "", own[""]) for type in test.types])
        decided[detector.name] = np.concatenate(found) >= limits
        if encoder is not None and detector.bibliography is not None:
            tell(f"{detector.name}, {TITLES}")
            informed = [
                _informed(*each, detector.bibliography, encoder) for each in zip(parts.test, found, strict=True)
            ]
            decided[f"{detector.name}, {TITLES}"] = np.concatenate(informed)
    return [row for name, each in decided.items() for row in _rows(name, test, each)]


def _informed(
    document: LabelledDocument, worthiness: NDArray[np.float64], bibliography: Bibliography, encoder: Encoder
) -> Labels:
    """Which sentences of a document are called worthy when its bibliography is known."""
    found = signs(worthiness, document.texts, document.titles, encoder)
    return bibliography.informed(worthiness, found) >= bibliography.threshold


def _rows(method: str, test: _Sentences, decided: Labels) -> list[Row]:
    masks = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == name for name in KINDS}
    return [
        Row(method, name, int(mask.sum()), measure(test.worthy[mask], decided[mask])) for name, mask in masks.items()
    ]


def _sentences(documents: Sequence[LabelledDocument]) -> _Sentences:
    found = [(paragraph, each) for one in documents for paragraph in one.paragraphs for each in paragraph.sentences]
    return _Sentences(
        [each.text for _, each in found],
        [paragraph.section_type for paragraph, _ in found],
        np.array([each.worthy for _, each in found], bool),
        np.array([kind(paragraph) for paragraph, _ in found], np.str_),
    )
