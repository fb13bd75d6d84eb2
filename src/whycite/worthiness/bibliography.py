"""What the titles of a document's own bibliography tell of which sentences need a citation.

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
from whycite.encoders import Encoder
from whycite.text.normalise import fold
from whycite.text.tokens import terms
from whycite.worthiness.calibration import logistic, newton

__all__ = ["Bibliography", "fit", "signs", "titles"]

Floats = NDArray[np.float64]

_MOST = 2_000  # entries; a longer list is a collection, of which no draft cites every entry
_KNOWN = 0.75  # of the entries must have titles: what cites the others would look as if it cited nothing
_WHOLE = 0.5  # titles for each sentence that should cite; with fewer, most of the bibliography is still to come
_FAINT = 0.015  # below it, nothing that a title says makes a sentence worthy
_TEMPERATURE = 0.03  # of cosines, in shares
_FLOOR = 1e-3  # of shares
_COLUMNS = 256  # titles whose cosines with all sentences are held at a time
_FEW, _OFTEN = 50, 0.1  # in a list of more titles, words in more than a tenth of them tell nothing


@dataclass(frozen=True, slots=True)
class Bibliography:
    """What each sign counts, beside the logarithm of the odds that the sentence alone has.

    The threshold is that of all documents, also of those whose bibliography tells nothing.
    """

    alone: float
    shares: float
    words: float
    shift: float
    threshold: float = 0.5

    def informed(self, worthiness: Floats, signs: Floats) -> Floats:
        """How worthy sentences are when the bibliography is known; those that have no signs stay as they are."""
        known = ~np.isnan(signs[:, 0])
        rows = np.column_stack([_odds(worthiness[known]), signs[known]])
        found = worthiness.copy()
        found[known] = logistic(rows @ np.array([self.alone, self.shares, self.words]) + self.shift)
        return found


def fit(
    worthiness: Sequence[Floats], signs: Sequence[Floats], worthy: Sequence[NDArray[np.bool_]]
) -> Bibliography | None:
    """What makes the labels of the sentences of documents most likely; `worthiness` is what each sentence has alone.

    None where there is nothing to learn from. The threshold is left for the caller to choose.
    """
    if not any((~np.isnan(each[:, 0])).any() for each in signs):
        return None
    alone, found, labels = np.concatenate(worthiness), np.concatenate(signs), np.concatenate(worthy)
    known = ~np.isnan(found[:, 0])
    rows = np.column_stack([_odds(alone[known]), found[known], np.ones(known.sum())])
    return Bibliography(*newton(rows, labels[known], np.array([1.0, 0.0, 0.0, 0.0])).tolist())


def titles(references: Iterable[Reference]) -> list[str]:
    """The titles of a bibliography, each once; none where they tell nothing of what is cited."""
    entries = {each.id: each.title for each in references}
    named = [title for title in entries.values() if any(map(str.isalpha, title))]
    if len(entries) > _MOST or len(named) < _KNOWN * len(entries):
        return []
    return list({fold(title): title for title in named}.values())


def signs(worthiness: Floats, sentences: Sequence[str], titles: Sequence[str], encoder: Encoder) -> Floats:
    """For each sentence of a document, what the titles say: two numbers, or nan where they say nothing.

    The first is the logarithm of what falls to the sentence when as much is shared out as there are citations to be
    expected, so that a list with entries that nobody cites says no more; the second the weight of the rare words that
    it has in common with one title.
    """
    found = np.full((len(sentences), 2), np.nan)
    asked = np.flatnonzero(worthiness >= _FAINT).tolist()
    expected = float(worthiness[asked].sum())
    if not titles or not asked or len(titles) < _WHOLE * expected:
        return found
    vectors = encoder.encode([*(sentences[at] for at in asked), *titles])
    vectors = vectors.astype(np.float16).astype(np.float32)  # as they are remembered
    said, named = vectors[: len(asked)], vectors[len(asked) :]
    shares = _shares(said, named, _odds(worthiness[asked])) * expected / len(titles)
    found[asked] = np.column_stack([np.log(shares + _FLOOR), _common(sentences, titles)[asked]])
    return found


def _shares(said: NDArray[np.float32], named: NDArray[np.float32], odds: Floats) -> Floats:
    """Every title shared out among the sentences: more to those near it, and to those that are likely to cite."""
    shares = np.zeros(len(said))
    for at in range(0, len(named), _COLUMNS):
        near = (said @ named[at : at + _COLUMNS].T).astype(np.float64) / _TEMPERATURE + odds[:, None]
        parts = np.exp(near - near.max(0))
        shares += (parts / parts.sum(0)).sum(1)
    return shares


def _common(sentences: Sequence[str], titles: Sequence[str]) -> Floats:
    """The weight of the words that each sentence shares with one title: rare in the text, rare in the bibliography."""
    said = [set(terms(text)) for text in sentences]
    named = [set(terms(title)) for title in titles]
    inside = Counter(word for text in said for word in text)
    listed: dict[str, list[int]] = defaultdict(list)
    for place, title in enumerate(named):
        for word in title:
            listed[word].append(place)
    most = len(titles) if len(titles) <= _FEW else _OFTEN * len(titles)
    weights = {
        word: math.log(1 + len(said) / (1 + inside[word])) * math.log((len(titles) + 1) / len(places))
        for word, places in listed.items()
        if len(places) <= most
    }
    found = np.zeros(len(said))
    for at, text in enumerate(said):
        sums: dict[int, float] = defaultdict(float)
        for word in sorted(text & weights.keys()):  # in one order, so that sums are the same each time
            for place in listed[word]:
                sums[place] += weights[word]
        found[at] = max(sums.values(), default=0.0)
    return found


def _odds(worthiness: Floats) -> Floats:
    """The logarithm of the odds."""
    inner = np.clip(worthiness, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inner / (1 - inner)))
