"""BM25 over the candidates, and the two recommenders that use it (SCOPE 4.3.2, 4.5.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from whycite.candidates.model import K, Lessons, Part
from whycite.candidates.pool import Pool, pool_of
from whycite.text.tokens import terms

__all__ = ["AccumulatedBm25", "Bm25", "LocalBm25", "make_accumulated", "make_local"]

EPSILON = 0.25
Floats = NDArray[np.float64]


class Bm25:
    """An index of tokenised texts; negative weights of terms are put to epsilon times their mean, as in rank_bm25."""

    def __init__(self, texts: Iterable[Sequence[str]], k1: float, b: float, epsilon: float = EPSILON) -> None:
        counted = [Counter(text) for text in texts]
        self._size = len(counted)
        lengths = np.array([each.total() for each in counted], np.float64)
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for place, each in enumerate(counted):
            for term, times in each.items():
                places, counts = postings.setdefault(term, ([], []))
                places.append(place)
                counts.append(times)
        average = float(lengths.mean()) if lengths.any() else 1.0
        norm = k1 * (1 - b + b * lengths / average)
        idf = {
            term: math.log(self._size - len(places) + 0.5) - math.log(len(places) + 0.5)
            for term, (places, _) in postings.items()
        }
        floor = epsilon * math.fsum(idf.values()) / max(len(idf), 1)
        self._postings: dict[str, tuple[NDArray[np.int32], Floats]] = {}
        for term, (places, counts) in postings.items():
            at, tf = np.array(places, np.int32), np.array(counts, np.float64)
            weight = idf[term] if idf[term] >= 0 else floor
            self._postings[term] = at, weight * tf * (k1 + 1) / (tf + norm[at])

    def scores(self, query: Iterable[str]) -> Floats:
        """The score of every text; a token that stands in the query twice counts twice, and order does not count."""
        total = np.zeros(self._size)
        for term, times in sorted(Counter(query).items()):
            if term in self._postings:
                places, values = self._postings[term]
                total[places] += times * values
        return total


class AccumulatedBm25:
    """Papers whose titles are like those of the papers cited so far: the scores for each of them added up."""

    name = "accumulated-bm25"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._index = Bm25((terms(paper.title) for paper in pool.papers), k1=1.1, b=0.3)

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """The papers whose titles share most with those that are cited; only such that share something."""
        # Scores of a query are sums over its words, so all titles make one query.
        scores = self._index.scores(term for paper in part.cited for term in terms(paper.title))
        return self._pool.best(scores, part, k, above=0)


class LocalBm25:
    """Papers whose title and abstract share most with the text of the part; asked anew for each sentence."""

    name = "local-bm25"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._index = Bm25((terms(f"{paper.title} {paper.abstract}") for paper in pool.papers), k1=1.5, b=0.75)

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """The papers that share most with the text; only such that share something."""
        return self._pool.best(self.scores(part.text), part, k, above=0)

    def scores(self, text: str) -> Floats:
        """The score of every paper of the pool, by place."""
        return self._index.scores(terms(text))


def make_accumulated(name: str, lessons: Lessons) -> AccumulatedBm25:
    """BM25 by the titles of what is cited."""
    return AccumulatedBm25(pool_of(lessons))


def make_local(name: str, lessons: Lessons) -> LocalBm25:
    """BM25 by the text of a sentence."""
    return LocalBm25(pool_of(lessons))
