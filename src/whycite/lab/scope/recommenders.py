"""Recommenders without training (SCOPE 4.3.2, 4.5.4): BM25, random, most popular and co-occurrence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from whycite.lab.scope.candidates import POOL_SIZE, CitedSet, DraftPart, Lessons, Pool, pool_of
from whycite.text.tokens import terms

__all__ = [
    "AccumulatedBm25",
    "Bm25",
    "CoOccurrence",
    "LocalBm25",
    "MostPopular",
    "Random",
    "make_accumulated",
    "make_co_occurrence",
    "make_local",
    "make_most_popular",
    "make_random",
]


EPSILON = 0.25
Floats = NDArray[np.float64]


class Bm25:
    """BM25 index of tokenised texts; negative term weights become epsilon times the mean, as in rank_bm25."""

    def __init__(self, texts: Iterable[Sequence[str]], k1: float, b: float, epsilon: float = EPSILON) -> None:
        counted = [Counter(text) for text in texts]
        self._size = len(counted)
        lengths = np.array([counter.total() for counter in counted], np.float64)
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for place, counter in enumerate(counted):
            for term, times in counter.items():
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
            positions, tf = np.array(places, np.int32), np.array(counts, np.float64)
            weight = idf[term] if idf[term] >= 0 else floor
            self._postings[term] = positions, weight * tf * (k1 + 1) / (tf + norm[positions])

    def scores(self, query: Iterable[str]) -> Floats:
        """Score every text; repeated query tokens count repeatedly, order does not matter."""
        total = np.zeros(self._size)
        for term, times in sorted(Counter(query).items()):
            if term in self._postings:
                places, values = self._postings[term]
                total[places] += times * values
        return total


class AccumulatedBm25:
    """Papers with titles similar to those cited so far, by the sum of BM25 scores over the cited titles."""

    name = "accumulated-bm25"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._index = Bm25((terms(paper.title) for paper in pool.papers), k1=1.1, b=0.3)

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend the papers whose titles match the cited ones best; those without a common word are left out."""
        # A query's score is a sum over its words, so all titles can form one query.
        scores = self._index.scores(term for paper in part.cited for term in terms(paper.title))
        return self._pool.best(scores, part, k, above=0)


class LocalBm25:
    """Papers whose title and abstract match the part's text best; searched per sentence."""

    name = "local-bm25"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._index = Bm25((terms(f"{paper.title} {paper.abstract}") for paper in pool.papers), k1=1.5, b=0.75)

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend the papers that match the text best; those without a common word are left out."""
        return self._pool.best(self.scores(part.text), part, k, above=0)

    def scores(self, text: str) -> Floats:
        """Score of each paper in the pool."""
        return self._index.scores(terms(text))


def make_accumulated(name: str, lessons: Lessons) -> AccumulatedBm25:
    """Make a BM25 recommender that queries with the cited titles."""
    return AccumulatedBm25(pool_of(lessons))


def make_local(name: str, lessons: Lessons) -> LocalBm25:
    """Make a BM25 recommender that queries with a sentence's text."""
    return LocalBm25(pool_of(lessons))


class Random:
    """Random papers; the same seed and part give the same ones."""

    name = "random"

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool, self._seed = pool, seed

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend random papers."""
        question = (self._seed, part.title, sorted(part.section_types), part.text, sorted(p.key for p in part.cited))
        lot = blake2b(repr(question).encode("utf-8", "replace"), digest_size=8).digest()
        scores = np.random.default_rng(int.from_bytes(lot)).random(len(self._pool))
        return self._pool.best(scores, part, k)


class MostPopular:
    """Papers that appear in the most sets."""

    name = "most-popular"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        _, cited = _flat_citations(pool, lessons)
        self._scores = np.bincount(cited, minlength=len(pool)).astype(np.float64)

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend the most cited papers; scores are counts."""
        return self._pool.best(self._scores, part, k)


class CoOccurrence:
    """Papers that appear in sets together with those cited so far.

    Scores are sums over the co-occurrence matrix X'X, which is never built.
    """

    name = "co-occurrence"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        sets, self._papers = _flat_citations(pool, lessons)
        self._set_starts = np.searchsorted(sets, np.arange(len(lessons.sets) + 1))
        order = np.argsort(self._papers, kind="stable")
        self._sets = sets[order]  # the sets of each paper, grouped by paper
        self._paper_starts = np.searchsorted(self._papers[order], np.arange(len(pool) + 1))

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend the papers most often cited together with those in the part; others are left out."""
        cited = self._pool.places(part.cited)
        together = [self._sets[self._paper_starts[place] : self._paper_starts[place + 1]] for place in cited]
        sets, times = np.unique(np.concatenate([*together, np.empty(0, np.int64)]), return_counts=True)
        scores = np.zeros(len(self._pool))
        for number, weight in zip(sets, times, strict=True):
            scores[self._papers[self._set_starts[number] : self._set_starts[number + 1]]] += weight
        return self._pool.best(scores, part, k, above=0)


def make_random(name: str, lessons: Lessons) -> Random:
    """Make a recommender of random cited papers."""
    return Random(pool_of(lessons), lessons.seed)


def make_most_popular(name: str, lessons: Lessons) -> MostPopular:
    """Make a recommender of the most cited papers."""
    return MostPopular(pool_of(lessons), lessons)


def make_co_occurrence(name: str, lessons: Lessons) -> CoOccurrence:
    """Make a recommender of papers cited together."""
    return CoOccurrence(pool_of(lessons), lessons)


def _flat_citations(pool: Pool, lessons: Lessons) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Set index and pool position of each citation, set by set."""
    set_places = [_pool_places(pool, cited_set) for cited_set in lessons.sets]
    sets = np.repeat(np.arange(len(set_places), dtype=np.int64), [len(places) for places in set_places])
    return sets, np.array([place for places in set_places for place in places], np.int64)


def _pool_places(pool: Pool, cited_set: CitedSet) -> list[int]:
    return [pool.place[key] for key in cited_set.papers if key in pool.place]
