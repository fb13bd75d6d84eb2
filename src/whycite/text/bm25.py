"""BM25 as ILCiteR ran it (section 6.1): one function per variant, and an index that scores them all exactly.

The published runs took both variants from the package rank_bm25, which differs from the formulas the paper prints:
its Okapi has a floor instead of the + 1 in the logarithm, and its BM25+ adds delta to texts without the term as well,
so that delta never changes the order.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "VARIANTS",
    "Bm25Index",
    "Bm25Variant",
    "best_indices",
    "okapi",
    "okapi_idf",
    "plus",
    "plus_idf",
    "plus_rank_bm25",
    "saturation",
]

K1, B, DELTA, EPSILON = 1.5, 0.75, 1.0, 0.25  # the defaults of rank_bm25, which ILCiteR kept (7.5)
DIGITS = 9  # scores equal to this many decimals are tied: the rest is rounding error

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def saturation(tf: Floats, length: Floats, average: float) -> Floats:
    """The weight of `tf` occurrences of a term in a text of this length, at most k1 + 1 (Robertson & Zaragoza 2009)."""
    return tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))


def okapi_idf(texts: int, containing: Integers) -> Floats:
    """Weights of all terms: ln((N - n + .5) / (n + .5)); negative ones become epsilon times the mean.

    The floor is that of rank_bm25, after Trotman, Jia & Crane 2012.
    """
    idf: Floats = np.log(texts - containing + 0.5) - np.log(containing + 0.5)
    if len(idf):
        mean = math.fsum(idf) / len(idf)  # exact, so the order of the terms does not matter
        idf[idf < 0] = EPSILON * mean
    return idf


def plus_idf(texts: int, containing: Integers) -> Floats:
    """Weights of all terms: ln((N + 1) / n) (Lv & Zhai 2011)."""
    return np.log((texts + 1) / containing)


def okapi(saturated: Floats, idf: float) -> Floats:
    """Okapi BM25 of a term (Robertson & Zaragoza 2009)."""
    return idf * saturated


def plus(saturated: Floats, idf: float) -> Floats:
    """BM25+ of a term (Lv & Zhai 2011): at least delta where it occurs, however long the text; 0 elsewhere."""
    return idf * (saturated + DELTA * (saturated > 0))


def plus_rank_bm25(saturated: Floats, idf: float) -> Floats:
    """BM25+ of a term as rank_bm25 computes it, with delta everywhere: ILCiteR's figures come from this one."""
    return idf * (saturated + DELTA)


@dataclass(frozen=True, slots=True)
class Bm25Variant:
    """A BM25: how terms are weighted by the number of texts that contain them, and how a term scores a text."""

    idf: Callable[[int, Integers], Floats]
    score: Callable[[Floats, float], Floats]


VARIANTS: Mapping[str, Bm25Variant] = MappingProxyType(
    {
        "okapi": Bm25Variant(okapi_idf, okapi),
        "plus": Bm25Variant(plus_idf, plus),
        "plus-rank-bm25": Bm25Variant(plus_idf, plus_rank_bm25),
    }
)


class Bm25Index:
    """An inverted index of tokenised texts that scores a query by every variant."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._terms, term_numbers, lengths = _number_terms(texts)
        self._size = len(lengths)
        self.average = float(lengths.mean()) if self._size else 0.0  # length of a text in tokens
        # One number per term and text, so that sorting groups the texts by term.
        term_numbers = term_numbers * self._size + np.repeat(np.arange(self._size), lengths)
        postings, counts = np.unique(term_numbers, return_counts=True)
        terms, places = np.divmod(postings, max(self._size, 1))
        self._starts = np.searchsorted(terms, np.arange(len(self._terms) + 1))
        self._texts = places.astype(np.int32)
        # The same for all variants, and the expensive part: computed once.
        self._saturated = saturation(counts.astype(np.float64), lengths[places].astype(np.float64), self.average)
        containing = np.diff(self._starts)
        self._idf = {name: variant.idf(self._size, containing) for name, variant in VARIANTS.items()}

    def scores(self, query: Sequence[str]) -> dict[str, Floats]:
        """The score of every text, by variant; a token that occurs twice in the query counts twice."""
        counted = [(self._terms[token], times) for token, times in Counter(query).items() if token in self._terms]
        return {name: self._scores(name, counted) for name in VARIANTS}

    def _scores(self, name: str, counted: list[tuple[int, int]]) -> Floats:
        score, idf = VARIANTS[name].score, self._idf[name]
        total = np.zeros(self._size)
        everywhere = 0.0  # what texts without the term get as well
        nothing = np.zeros(1)
        for term, times in counted:
            weight = times * float(idf[term])
            absent = float(score(nothing, weight)[0])
            place = slice(self._starts[term], self._starts[term + 1])
            # Each text occurs once per term, so `total[…] += …` would do, but this is more than twice as fast.
            np.add.at(total, self._texts[place], score(self._saturated[place], weight) - absent)
            everywhere += absent
        return total + everywhere

    def best(self, query: Sequence[str], number: int) -> dict[str, Integers]:
        """The best texts by variant, best first and ties in index order; only texts that share a token with the query.

        (rank_bm25 fills up with texts that share nothing, in reverse index order.)
        """
        scores = self.scores(query)
        sharing = np.flatnonzero(scores["plus"])  # all its weights are above zero, unlike Okapi's
        return {name: best_indices(values, sharing, number) for name, values in scores.items()}


def best_indices(scores: Floats, among: Integers, number: int) -> Integers:
    """The indices with the highest scores, best first and ties in order."""
    if len(among) > number:
        values = scores[among]
        among = among[values > np.partition(values, -number)[-number] - 10**-DIGITS]
    return among[np.argsort(-scores[among].round(DIGITS), kind="stable")][:number]


def _number_terms(texts: Iterable[Sequence[str]]) -> tuple[dict[str, int], Integers, Integers]:
    """A number for each term, the term numbers of all texts in a row, and the lengths of the texts."""
    terms: dict[str, int] = {}
    flat, lengths = array("q"), array("q")
    for tokens in texts:
        lengths.append(len(tokens))
        flat.extend([terms.setdefault(token, len(terms)) for token in tokens])
    return terms, np.array(flat, np.int64), np.array(lengths, np.int64)
