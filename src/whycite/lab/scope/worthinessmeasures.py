"""Evaluating worthiness (SCOPE 4.2.2, 5.2): splits, measures of the worthy class, thresholds, reliability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, fit_bibliography
from whycite.check.paragraphs import LabelledDocument, LabelledParagraph
from whycite.errors import UserError
from whycite.lab.evaluate.comparison import draw

__all__ = [
    "KINDS",
    "QUIET_SHARE",
    "TITLES",
    "HoleScores",
    "ReliabilityBin",
    "WorthinessScores",
    "WorthinessSplit",
    "best_threshold",
    "learn_bibliography",
    "measure",
    "measure_with_holes",
    "paragraph_kind",
    "reliability",
    "split_by_date",
    "split_by_document",
    "split_by_year",
    "thresholds_by_type",
]

Labels = NDArray[np.bool_]
Probabilities = NDArray[np.float64]
KINDS = ("conform", "non-conform", "mixed")
"""Kinds of paragraphs: all sentences conform, none do, some do. SCOPE tests on the first two and on all."""

TITLES = "with the titles of the bibliography"
"""Label for a detector's results when it also reads these titles."""

QUIET_SHARE = 0.025
"""Share of sentences without citations that a check may flag before a writer stops reading what it says."""

_MIN_SENTENCES = 300  # a section type needs this many sentences for its own threshold


@dataclass(frozen=True, slots=True)
class WorthinessSplit:
    """Documents for training, development and test."""

    train: tuple[LabelledDocument, ...]
    dev: tuple[LabelledDocument, ...]
    test: tuple[LabelledDocument, ...]


@dataclass(frozen=True, slots=True)
class HoleScores:
    """Sentences whose citations were part of the grammar ("holed", measured repaired), and the others ("clean").

    None where there are no such sentences, or no probabilities.
    """

    clean_recall: float | None
    holed_recall: float | None
    clean_f1: float | None  # without holed sentences
    quiet_clean_recall: float | None  # where the share QUIET_SHARE of uncited sentences is flagged
    quiet_holed_recall: float | None


@dataclass(frozen=True, slots=True)
class WorthinessScores:
    """Precision, recall and F1 of the worthy class."""

    precision: float
    recall: float
    f1: float
    holes: HoleScores | None = None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Sentences with a probability from `low` to `high`: count, mean probability and share of worthy ones."""

    low: float
    high: float
    number: int
    expected: float
    worthy: float


def split_by_date(documents: Iterable[LabelledDocument], dev: int, test: int) -> WorthinessSplit:
    """Split by date: the newest documents for test, the next newest for dev; ties are broken by key."""
    ordered = sorted(documents, key=lambda document: (document.date, document.key))
    return _split_tail(ordered, dev, test)


def split_by_year(documents: Iterable[LabelledDocument], dev: int, test: int) -> WorthinessSplit:
    """Split by year as in SCOPE (4.2.1): train before `dev`, dev before `test`, test on the rest."""
    if dev >= test:
        raise UserError(f"the first year of test ({test}) must be after the first year of dev ({dev})")
    dated_documents = [document for document in documents if document.year is not None]
    return WorthinessSplit(
        tuple(document for document in dated_documents if (document.year or 0) < dev),
        tuple(document for document in dated_documents if dev <= (document.year or 0) < test),
        tuple(document for document in dated_documents if (document.year or 0) >= test),
    )


def split_by_document(documents: Iterable[LabelledDocument], dev: int, test: int, seed: int = 0) -> WorthinessSplit:
    """Split documents at random; no document is in two parts."""
    all_documents = list(documents)
    return _split_tail(draw(all_documents, lambda document: document.key, len(all_documents), seed), dev, test)


def _split_tail(ordered: Sequence[LabelledDocument], dev: int, test: int) -> WorthinessSplit:
    if min(dev, test) < 1:
        raise UserError(f"dev and test need at least one document each, not {dev} and {test}")
    if len(ordered) <= dev + test:
        raise UserError(f"cannot hold out {dev + test} of {len(ordered)} documents; add data or hold out fewer")
    end = len(ordered) - test
    return WorthinessSplit(tuple(ordered[: end - dev]), tuple(ordered[end - dev : end]), tuple(ordered[end:]))


def paragraph_kind(paragraph: LabelledParagraph) -> str:
    """The kind of a paragraph, one of `KINDS`."""
    if paragraph.conform:
        return "conform"
    return "non-conform" if paragraph.nonconform else "mixed"


def measure(worthy: Labels, decided: Labels) -> WorthinessScores:
    """Score decisions; 0 where nothing was found or should have been."""
    hits = int((worthy & decided).sum())
    precision = hits / max(int(decided.sum()), 1)
    recall = hits / max(int(worthy.sum()), 1)
    return WorthinessScores(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


def measure_with_holes(
    worthy: Labels, holed: Labels, decided: Labels, probabilities: Probabilities | None = None
) -> WorthinessScores:
    """Score decisions, also of holed and of clean sentences apart."""
    clean = worthy & ~holed
    quiet = None if probabilities is None or worthy.all() else _quiet_decisions(worthy, probabilities)
    holes = HoleScores(
        _share(decided, clean),
        _share(decided, holed),
        measure(worthy[~holed], decided[~holed]).f1 if clean.any() else None,
        None if quiet is None else _share(quiet, clean),
        None if quiet is None else _share(quiet, holed),
    )
    return replace(measure(worthy, decided), holes=holes)


def _quiet_decisions(worthy: Labels, probabilities: Probabilities) -> Labels:
    """Decisions that flag at most the share QUIET_SHARE of the uncited sentences."""
    uncited = np.sort(probabilities[~worthy])[::-1]
    return np.asarray(probabilities > uncited[int(QUIET_SHARE * len(uncited))])


def _share(decided: Labels, mask: Labels) -> float | None:
    return float(decided[mask].mean()) if mask.any() else None


def best_threshold(worthy: Labels, probabilities: Probabilities) -> float:
    """The threshold with the highest F1; sentences at or above it count as worthy."""
    if not len(worthy):
        raise UserError("no sentences to choose a threshold with")
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum(worthy[order])
    f1 = 2 * hits / (np.arange(1, len(worthy) + 1) + max(int(worthy.sum()), 1))
    ranked = probabilities[order]
    tie_ends = np.append(ranked[1:] < ranked[:-1], True)  # a threshold cannot separate ties
    return float(ranked[np.argmax(np.where(tie_ends, f1, -1))])


def learn_bibliography(
    worthiness: Sequence[Probabilities], signs: Sequence[Probabilities], worthy: Sequence[Labels]
) -> BibliographyWeights | None:
    """Fit how much bibliographies count, and the best threshold on the same sentences."""
    bibliography = fit_bibliography(worthiness, signs, worthy)
    if bibliography is None:
        return None
    informed = np.concatenate(
        [bibliography.informed_worthiness(*signals) for signals in zip(worthiness, signs, strict=True)]
    )
    return replace(bibliography, threshold=best_threshold(np.concatenate(worthy), informed))


def thresholds_by_type(
    worthy: Labels, probabilities: Probabilities, types: Sequence[str | None], rounds: int = 2
) -> Mapping[str, float]:
    """Thresholds by section type that maximise F1 over all sentences (SCOPE 6.4.2).

    Types with few sentences use the general threshold, stored under "".
    """
    general = best_threshold(worthy, probabilities)
    names = np.array([type or "" for type in types])
    masks = {name: names == name for name in sorted(set(names) - {""}) if (names == name).sum() >= _MIN_SENTENCES}
    thresholds = dict.fromkeys(masks, general)
    decided = probabilities >= general
    for _ in range(rounds):
        for name, mask in masks.items():
            outside_counts = int((worthy & decided)[~mask].sum()), int(decided[~mask].sum())
            thresholds[name] = _best_threshold_within(
                worthy[mask], probabilities[mask], *outside_counts, int(worthy.sum())
            )
            decided = np.where(mask, probabilities >= thresholds[name], decided)
    return {"": general, **thresholds}


def _best_threshold_within(
    worthy: Labels, probabilities: Probabilities, outside_hits: int, called: int, all_worthy: int
) -> float:
    """The best threshold for some of the sentences, given the hits and calls among the others."""
    order = np.argsort(-probabilities, kind="stable")
    ranked = np.append(np.inf, probabilities[order])  # calling none worthy may be best
    hits = outside_hits + np.append(0, np.cumsum(worthy[order]))
    f1 = 2 * hits / np.maximum(called + np.arange(len(ranked)) + all_worthy, 1)
    tie_ends = np.append(ranked[1:] < ranked[:-1], True)
    return float(min(ranked[np.argmax(np.where(tie_ends, f1, -1))], 1.0))


def reliability(worthy: Labels, probabilities: Probabilities, bins: int = 10) -> list[ReliabilityBin]:
    """Check calibration: sentences in bins of equal width, without empty bins."""
    if bins < 1:
        raise UserError(f"there must be at least one bin, not {bins}")
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    filled_bins = []
    for place in range(bins):
        in_bin = places == place
        if number := int(in_bin.sum()):
            expected, share = float(probabilities[in_bin].mean()), float(worthy[in_bin].mean())
            filled_bins.append(ReliabilityBin(place / bins, (place + 1) / bins, number, expected, share))
    return filled_bins
