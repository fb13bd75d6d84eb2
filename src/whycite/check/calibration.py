"""Scores made probabilities that hold, and what the titles of a document's bibliography add to them.

Every entry is cited somewhere, most likely by a sentence that says what its title says. So each entry is shared out
among the sentences, and who gets much of some entry is more likely to cite than the sentence alone lets one think.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.models import Encoder
from whycite.text.normalise import fold
from whycite.text.tokens import terms

__all__ = [
    "BibliographyWeights",
    "Calibration",
    "bibliography_titles",
    "fit_bibliography",
    "fit_calibration",
    "logistic",
    "newton",
    "title_signs",
]


_STEPS = 50
_RIDGE = 1e-4  # keeps scores that separate the classes from a scale without end


@dataclass(frozen=True, slots=True)
class Calibration:
    """The logistic function of `scale` times the score plus `shift`; 1 / `scale` is known as the temperature."""

    scale: float = 1.0
    shift: float = 0.0

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities for scores."""
        return logistic(self.scale * scores.astype(np.float64) + self.shift)


def fit_calibration(scores: NDArray[np.floating], worthy: NDArray[np.bool_], shift: bool = False) -> Calibration:
    """What makes the labels most likely: the temperature, with the shift too where the share of worthy ones differs."""
    if len(scores) != len(worthy) or not len(scores):
        raise UserError("calibration needs sentences, a score and a label for each")
    rows = np.stack([scores.astype(np.float64), np.ones(len(scores))], axis=1)[:, : 1 + shift]
    weights = newton(rows, worthy, np.array([1.0, 0.0])[: 1 + shift])
    return Calibration(float(weights[0]), float(weights[1]) if shift else 0.0)


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities whose odds have these logarithms."""
    return np.exp(-np.logaddexp(0, -scores))


def newton(rows: NDArray[np.float64], worthy: NDArray[np.bool_], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of columns with which the logistic function makes the labels most likely; the loss is convex."""
    weights = start
    for _ in range(_STEPS):
        chances = logistic(rows @ weights)
        slope = rows.T @ (chances - worthy) + _RIDGE * len(rows) * (weights - start)
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + _RIDGE * len(rows) * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        length = np.abs(step).max()
        weights = weights - step / max(1.0, length)
        if length < 1e-9:
            break
    return weights


Floats = NDArray[np.float64]

_MAX_ENTRIES = 2_000  # entries; a longer list is a collection, of which no draft cites every entry
_MIN_TITLE_SHARE = 0.75  # of the entries must have titles: what cites the others would look as if it cited nothing
_MIN_TITLES_PER_CITATION = (
    0.5  # titles for each sentence that should cite; with fewer, most of the bibliography is still to come
)
_MIN_WORTHINESS = 0.015  # below it, nothing that a title says makes a sentence worthy
_TEMPERATURE = 0.03  # of cosines, in shares
_FLOOR = 1e-3  # of shares
_TITLES_AT_ONCE = 256  # titles whose cosines with all sentences are held at a time
_SHORT_LIST, _COMMON_SHARE = 50, 0.1  # in a list of more titles, words in more than a tenth of them tell nothing


@dataclass(frozen=True, slots=True)
class BibliographyWeights:
    """What each sign counts, beside the logarithm of the odds that the sentence alone has.

    The threshold is that of all documents, also of those whose bibliography tells nothing.
    """

    alone: float
    shares: float
    words: float
    shift: float
    threshold: float = 0.5

    def informed_worthiness(self, worthiness: Floats, signs: Floats) -> Floats:
        """How worthy sentences are when the bibliography is known; those that have no signs stay as they are."""
        has_signs = ~np.isnan(signs[:, 0])
        rows = np.column_stack([_odds(worthiness[has_signs]), signs[has_signs]])
        probabilities = worthiness.copy()
        probabilities[has_signs] = logistic(rows @ np.array([self.alone, self.shares, self.words]) + self.shift)
        return probabilities


def fit_bibliography(
    worthiness: Sequence[Floats], signs: Sequence[Floats], worthy: Sequence[NDArray[np.bool_]]
) -> BibliographyWeights | None:
    """What makes the labels of the sentences of documents most likely; `worthiness` is what each sentence has alone.

    None where there is nothing to learn from. The threshold is left for the caller to choose.
    """
    if not any((~np.isnan(document_signs[:, 0])).any() for document_signs in signs):
        return None
    alone, features, labels = np.concatenate(worthiness), np.concatenate(signs), np.concatenate(worthy)
    has_signs = ~np.isnan(features[:, 0])
    rows = np.column_stack([_odds(alone[has_signs]), features[has_signs], np.ones(has_signs.sum())])
    return BibliographyWeights(*newton(rows, labels[has_signs], np.array([1.0, 0.0, 0.0, 0.0])).tolist())


def bibliography_titles(references: Iterable[Reference]) -> list[str]:
    """The titles of a bibliography, each once; none where they tell nothing of what is cited."""
    entries = {reference.id: reference.title for reference in references}
    real_titles = [title for title in entries.values() if any(map(str.isalpha, title))]
    if len(entries) > _MAX_ENTRIES or len(real_titles) < _MIN_TITLE_SHARE * len(entries):
        return []
    return list({fold(title): title for title in real_titles}.values())


def title_signs(worthiness: Floats, sentences: Sequence[str], titles: Sequence[str], encoder: Encoder) -> Floats:
    """For each sentence of a document, what the titles say: two numbers, or nan where they say nothing.

    The first is the logarithm of what falls to the sentence when as much is shared out as there are citations to be
    expected, so that a list with entries that nobody cites says no more; the second the weight of the rare words that
    it has in common with one title.
    """
    features = np.full((len(sentences), 2), np.nan)
    indices = np.flatnonzero(worthiness >= _MIN_WORTHINESS).tolist()
    expected = float(worthiness[indices].sum())
    if not titles or not indices or len(titles) < _MIN_TITLES_PER_CITATION * expected:
        return features
    vectors = encoder.encode([*(sentences[index] for index in indices), *titles])
    vectors = vectors.astype(np.float16).astype(np.float32)  # as they are remembered
    sentence_vectors, title_vectors = vectors[: len(indices)], vectors[len(indices) :]
    shares = _shares(sentence_vectors, title_vectors, _odds(worthiness[indices])) * expected / len(titles)
    features[indices] = np.column_stack([np.log(shares + _FLOOR), _shared_words(sentences, titles)[indices]])
    return features


def _shares(sentence_vectors: NDArray[np.float32], title_vectors: NDArray[np.float32], odds: Floats) -> Floats:
    """Every title shared out among the sentences: more to those near it, and to those that are likely to cite."""
    shares = np.zeros(len(sentence_vectors))
    for start in range(0, len(title_vectors), _TITLES_AT_ONCE):
        near = (sentence_vectors @ title_vectors[start : start + _TITLES_AT_ONCE].T).astype(
            np.float64
        ) / _TEMPERATURE + odds[:, None]
        parts = np.exp(near - near.max(0))
        shares += (parts / parts.sum(0)).sum(1)
    return shares


def _shared_words(sentences: Sequence[str], titles: Sequence[str]) -> Floats:
    """The weight of the words that each sentence shares with one title: rare in the text, rare in the bibliography."""
    sentence_words = [set(terms(text)) for text in sentences]
    title_words = [set(terms(title)) for title in titles]
    frequencies = Counter(word for text in sentence_words for word in text)
    titles_by_word: dict[str, list[int]] = defaultdict(list)
    for place, title in enumerate(title_words):
        for word in title:
            titles_by_word[word].append(place)
    max_titles = len(titles) if len(titles) <= _SHORT_LIST else _COMMON_SHARE * len(titles)
    weights = {
        word: math.log(1 + len(sentence_words) / (1 + frequencies[word])) * math.log((len(titles) + 1) / len(places))
        for word, places in titles_by_word.items()
        if len(places) <= max_titles
    }
    overlaps = np.zeros(len(sentence_words))
    for index, text in enumerate(sentence_words):
        sums: dict[int, float] = defaultdict(float)
        for word in sorted(text & weights.keys()):  # in one order, so that sums are the same each time
            for place in titles_by_word[word]:
                sums[place] += weights[word]
        overlaps[index] = max(sums.values(), default=0.0)
    return overlaps


def _odds(worthiness: Floats) -> Floats:
    """The logarithm of the odds."""
    inner = np.clip(worthiness, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inner / (1 - inner)))
