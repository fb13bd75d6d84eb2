"""Turn scores into calibrated probabilities, and improve them with the titles of a document's bibliography.

Every entry is cited somewhere, most likely by a sentence that says what its title says. So each entry is divided among
the sentences, and a sentence with a large share is more likely to cite than it seems by itself. The weights are fitted
by `whycite train worthiness`; fit them again after changing a constant below.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.models import Encoder
from whycite.text.tokens import fold, terms

__all__ = [
    "BibliographyWeights",
    "Calibration",
    "bibliography_titles",
    "fit_bibliography",
    "fit_calibration",
    "logistic",
    "newton",
    "title_shares",
    "title_signs",
]


_MAX_STEPS = 50  # of Newton's method
_CONVERGED = 1e-9  # the longest step after which it stops
_RIDGE = 1e-4  # keeps the scale finite if scores separate the classes


@dataclass(frozen=True, slots=True)
class Calibration:
    """The logistic function of `scale` times the score plus `shift`; 1 / `scale` is the temperature."""

    scale: float = 1.0
    shift: float = 0.0

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities for scores."""
        return logistic(self.scale * scores.astype(np.float64) + self.shift)


def fit_calibration(scores: NDArray[np.floating], worthy: NDArray[np.bool_], shift: bool = False) -> Calibration:
    """Fit the temperature to labels, and the `shift` if the share of worthy sentences differs from training."""
    if len(scores) != len(worthy) or not len(scores):
        raise UserError("calibration needs sentences, each with a score and a label")
    rows = np.stack([scores.astype(np.float64), np.ones(len(scores))], axis=1)[:, : 1 + shift]
    weights = newton(rows, worthy, np.array([1.0, 0.0])[: 1 + shift])
    return Calibration(float(weights[0]), float(weights[1]) if shift else 0.0)


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logistic function."""
    return np.exp(-np.logaddexp(0, -scores))


def newton(
    rows: NDArray[np.float64],
    worthy: NDArray[np.bool_],
    start: NDArray[np.float64],
    importance: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Logistic regression by Newton's method, pulled towards `start`; the loss is convex.

    Rows count equally unless their `importance` is given.
    """
    weights = start
    counts = np.ones(len(rows)) if importance is None else importance
    pull = _RIDGE * counts.sum()
    for _ in range(_MAX_STEPS):
        chances = logistic(rows @ weights)
        slope = rows.T @ (counts * (chances - worthy)) + pull * (weights - start)
        bend = (rows * (counts * chances * (1 - chances))[:, None]).T @ rows + pull * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        length = np.abs(step).max()
        weights = weights - step / max(1.0, length)
        if length < _CONVERGED:
            break
    return weights


Floats = NDArray[np.float64]

_MAX_ENTRIES = 2_000  # a longer bibliography is a collection, of which a draft cites few entries
_MIN_TITLE_SHARE = 0.75  # of entries with titles; otherwise sentences that cite the others would seem not to cite
_MIN_TITLES_PER_CITATION = 0.5  # expected citation; with fewer, most of the bibliography is still to come
_MIN_WORTHINESS = 0.015  # below it, no title makes a sentence worthy
_TEMPERATURE = 0.03  # of cosines when an entry is divided: the closest few sentences share it
_MIN_SHARE = 1e-3  # keeps logarithms of shares finite
_TITLES_AT_ONCE = 256  # compared with all sentences, so that memory stays bounded
_SHORT_LIST = 50  # titles; in longer lists, words in more than _COMMON_SHARE of the titles do not count
_COMMON_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class BibliographyWeights:
    """The weights of the signs and of the log odds of the sentence alone.

    The threshold applies to all documents, even those whose bibliography says nothing.
    """

    alone: float
    shares: float
    words: float
    shift: float
    threshold: float = 0.5

    def informed_worthiness(self, worthiness: Floats, signs: Floats) -> Floats:
        """The worthiness of sentences given the signs; without signs it stays as it is."""
        has_signs = ~np.isnan(signs[:, 0])
        rows = np.column_stack([_odds(worthiness[has_signs]), signs[has_signs]])
        probabilities = worthiness.copy()
        probabilities[has_signs] = logistic(rows @ np.array([self.alone, self.shares, self.words]) + self.shift)
        return probabilities


def fit_bibliography(
    worthiness: Sequence[Floats], signs: Sequence[Floats], worthy: Sequence[NDArray[np.bool_]]
) -> BibliographyWeights | None:
    """Fit the weights to the labels of documents; `worthiness` is that of each sentence alone.

    None if there are no signs. The threshold is left to the caller.
    """
    if not any((~np.isnan(document_signs[:, 0])).any() for document_signs in signs):
        return None
    alone, features, labels = np.concatenate(worthiness), np.concatenate(signs), np.concatenate(worthy)
    has_signs = ~np.isnan(features[:, 0])
    rows = np.column_stack([_odds(alone[has_signs]), features[has_signs], np.ones(has_signs.sum())])
    return BibliographyWeights(*newton(rows, labels[has_signs], np.array([1.0, 0.0, 0.0, 0.0])).tolist())


def bibliography_titles(references: Iterable[Reference]) -> list[str]:
    """The titles of a bibliography without duplicates; none if they say nothing about what is cited."""
    entries = {reference.id: reference.title for reference in references}
    real_titles = [title for title in entries.values() if any(map(str.isalpha, title))]
    if len(entries) > _MAX_ENTRIES or len(real_titles) < _MIN_TITLE_SHARE * len(entries):
        return []
    return list({fold(title): title for title in real_titles}.values())


def title_signs(
    worthiness: Floats,
    sentences: Sequence[str],
    titles: Sequence[str],
    encoder: Encoder,
    progress: Callable[[int, int], None] = lambda count, total: None,
) -> Floats:
    """Two signs for each sentence of a document, or nan where the titles say nothing.

    The first is the logarithm of its share of the entries, scaled to the expected number of citations, so that entries
    that are not cited add nothing. The second is the weight of the rare words that it shares with one title.
    `progress` is called with the number of texts encoded so far, and of all.
    """
    features = np.full((len(sentences), 2), np.nan)
    indices = np.flatnonzero(worthiness >= _MIN_WORTHINESS).tolist()
    expected = float(worthiness[indices].sum())
    if not titles or not indices or len(titles) < _MIN_TITLES_PER_CITATION * expected:
        return features
    texts = [*(sentences[index] for index in indices), *titles]
    encoded_count = 0

    def count_texts(number: int) -> None:
        nonlocal encoded_count
        encoded_count += number
        progress(encoded_count, len(texts))

    vectors = encoder.encode(texts, count_texts)
    vectors = vectors.astype(np.float16).astype(np.float32)  # as the cache keeps them
    sentence_vectors, title_vectors = vectors[: len(indices)], vectors[len(indices) :]
    shares = title_shares(sentence_vectors, title_vectors, _odds(worthiness[indices])) * expected / len(titles)
    features[indices] = np.column_stack([np.log(shares + _MIN_SHARE), _shared_words(sentences, titles)[indices]])
    return features


def title_shares(sentence_vectors: NDArray[np.float32], title_vectors: NDArray[np.float32], odds: Floats) -> Floats:
    """Divide every title among the sentences: more goes to close ones and to those likely to cite."""
    shares = np.zeros(len(sentence_vectors))
    for start in range(0, len(title_vectors), _TITLES_AT_ONCE):
        near = (sentence_vectors @ title_vectors[start : start + _TITLES_AT_ONCE].T).astype(
            np.float64
        ) / _TEMPERATURE + odds[:, None]
        parts = np.exp(near - near.max(0))
        shares += (parts / parts.sum(0)).sum(1)
    return shares


def _shared_words(sentences: Sequence[str], titles: Sequence[str]) -> Floats:
    """The weight of the words that each sentence shares with one title; words rare in both count more."""
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
        for word in sorted(text & weights.keys()):  # in a fixed order, so that sums are reproducible
            for place in titles_by_word[word]:
                sums[place] += weights[word]
        overlaps[index] = max(sums.values(), default=0.0)
    return overlaps


def _odds(worthiness: Floats) -> Floats:
    """The logarithm of the odds."""
    inner = np.clip(worthiness, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inner / (1 - inner)))
