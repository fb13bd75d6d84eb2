"""How well worthiness is told (SCOPE 4.2.2, 5.2): splits, measures of the worthy class, thresholds, reliability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.drawing import draw
from whycite.worthiness.bibliography import Bibliography, fit
from whycite.worthiness.model import LabelledDocument, LabelledParagraph

__all__ = [
    "KINDS",
    "TITLES",
    "Bin",
    "Scores",
    "Split",
    "best_threshold",
    "by_date",
    "by_document",
    "by_year",
    "kind",
    "measure",
    "reliability",
    "taught",
    "thresholds_by_type",
]

Labels = NDArray[np.bool_]
Probabilities = NDArray[np.float64]
KINDS = ("conform", "non-conform", "mixed")
"""Kinds of paragraphs: every sentence conforms, none does, some do. SCOPE tests on the first two and on all."""

TITLES = "with the titles of the bibliography"
"""How what a detector says is called where it reads them too."""

_ENOUGH = 300  # sentences of a section type, before it has a threshold of its own


@dataclass(frozen=True, slots=True)
class Split:
    """Documents to learn from, to choose by and to measure on."""

    train: tuple[LabelledDocument, ...]
    dev: tuple[LabelledDocument, ...]
    test: tuple[LabelledDocument, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1 of the worthy class."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Sentences whose probability lies from `low` to `high`: how many, their mean probability, how many are worthy."""

    low: float
    high: float
    number: int
    expected: float
    worthy: float


def by_date(documents: Iterable[LabelledDocument], dev: int, test: int) -> Split:
    """The newest documents for the test, those before them for dev; of one day by key."""
    ordered = sorted(documents, key=lambda each: (each.date, each.key))
    return _parted(ordered, dev, test)


def by_year(documents: Iterable[LabelledDocument], dev: int, test: int) -> Split:
    """Train on the years before `dev`, choose on those before `test`, measure on the rest, as SCOPE does (4.2.1)."""
    if dev >= test:
        raise UserError(f"the first year of the test ({test}) must come after the first of dev ({dev})")
    kept = [each for each in documents if each.year is not None]
    return Split(
        tuple(each for each in kept if (each.year or 0) < dev),
        tuple(each for each in kept if dev <= (each.year or 0) < test),
        tuple(each for each in kept if (each.year or 0) >= test),
    )


def by_document(documents: Iterable[LabelledDocument], dev: int, test: int, seed: int = 0) -> Split:
    """Documents by lot, so that no document is in two parts."""
    listed = list(documents)
    return _parted(draw(listed, lambda each: each.key, len(listed), seed), dev, test)


def _parted(ordered: Sequence[LabelledDocument], dev: int, test: int) -> Split:
    if min(dev, test) < 1:
        raise UserError(f"dev and test need at least one document each, not {dev} and {test}")
    if len(ordered) <= dev + test:
        raise UserError(f"{len(ordered)} documents are too few to hold out {dev + test}; give more or hold out fewer")
    end = len(ordered) - test
    return Split(tuple(ordered[: end - dev]), tuple(ordered[end - dev : end]), tuple(ordered[end:]))


def kind(paragraph: LabelledParagraph) -> str:
    """The kind of a paragraph, one of `KINDS`."""
    if paragraph.conform:
        return "conform"
    return "non-conform" if paragraph.nonconform else "mixed"


def measure(worthy: Labels, decided: Labels) -> Scores:
    """What decisions are worth; 0 where nothing was or should have been found."""
    right = int((worthy & decided).sum())
    precision = right / max(int(decided.sum()), 1)
    recall = right / max(int(worthy.sum()), 1)
    return Scores(precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0)


def best_threshold(worthy: Labels, probabilities: Probabilities) -> float:
    """The probability from which on sentences are called worthy so that F1 is highest."""
    if not len(worthy):
        raise UserError("a threshold needs sentences to be chosen by")
    order = np.argsort(-probabilities, kind="stable")
    right = np.cumsum(worthy[order])
    f1 = 2 * right / (np.arange(1, len(worthy) + 1) + max(int(worthy.sum()), 1))
    ranked = probabilities[order]
    last = np.append(ranked[1:] < ranked[:-1], True)  # a threshold cannot part equal ones
    return float(ranked[np.argmax(np.where(last, f1, -1))])


def taught(
    worthiness: Sequence[Probabilities], signs: Sequence[Probabilities], worthy: Sequence[Labels]
) -> Bibliography | None:
    """What bibliographies count as the sentences of documents have it, with the threshold that is best on these."""
    made = fit(worthiness, signs, worthy)
    if made is None:
        return None
    informed = np.concatenate([made.informed(*each) for each in zip(worthiness, signs, strict=True)])
    return replace(made, threshold=best_threshold(np.concatenate(worthy), informed))


def thresholds_by_type(
    worthy: Labels, probabilities: Probabilities, types: Sequence[str | None], rounds: int = 2
) -> Mapping[str, float]:
    """A threshold for each section type, so that F1 over all sentences is highest (SCOPE 6.4.2).

    Types with few sentences have that of all, under the name "".
    """
    general = best_threshold(worthy, probabilities)
    names = np.array([type or "" for type in types])
    masks = {name: names == name for name in sorted(set(names) - {""}) if (names == name).sum() >= _ENOUGH}
    found = dict.fromkeys(masks, general)
    decided = probabilities >= general
    for _ in range(rounds):
        for name, mask in masks.items():
            others = int((worthy & decided)[~mask].sum()), int(decided[~mask].sum())
            found[name] = _within(worthy[mask], probabilities[mask], *others, int(worthy.sum()))
            decided = np.where(mask, probabilities >= found[name], decided)
    return {"": general, **found}


def _within(worthy: Labels, probabilities: Probabilities, right: int, called: int, all_worthy: int) -> float:
    """The best threshold for some of the sentences, when those right and those called worthy elsewhere are known."""
    order = np.argsort(-probabilities, kind="stable")
    ranked = np.append(np.inf, probabilities[order])  # none of them may be best
    hits = right + np.append(0, np.cumsum(worthy[order]))
    f1 = 2 * hits / np.maximum(called + np.arange(len(ranked)) + all_worthy, 1)
    last = np.append(ranked[1:] < ranked[:-1], True)
    return float(min(ranked[np.argmax(np.where(last, f1, -1))], 1.0))


def reliability(worthy: Labels, probabilities: Probabilities, bins: int = 10) -> list[Bin]:
    """Whether probabilities hold: sentences in bins of the same width; empty ones are left out."""
    if bins < 1:
        raise UserError(f"there must be at least one bin, not {bins}")
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for place in range(bins):
        inside = places == place
        if number := int(inside.sum()):
            expected, share = float(probabilities[inside].mean()), float(worthy[inside].mean())
            found.append(Bin(place / bins, (place + 1) / bins, number, expected, share))
    return found
