"""Recommenders without training (SCOPE 4.3.2, 4.5.4): BM25, chance, how often a paper is cited, and with what."""

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
    """An index of tokenised texts; negative weights of terms are put to epsilon times their mean, as in rank_bm25."""

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

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
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

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
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


class Random:
    """Papers by lot; the same seed and part give the same ones."""

    name = "random"

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool, self._seed = pool, seed

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Any papers."""
        question = (self._seed, part.title, sorted(part.section_types), part.text, sorted(p.key for p in part.cited))
        lot = blake2b(repr(question).encode("utf-8", "replace"), digest_size=8).digest()
        scores = np.random.default_rng(int.from_bytes(lot)).random(len(self._pool))
        return self._pool.best(scores, part, k)


class MostPopular:
    """Papers that stand in most sets."""

    name = "most-popular"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        _, cited = _flat_citations(pool, lessons)
        self._scores = np.bincount(cited, minlength=len(pool)).astype(np.float64)

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """The papers cited most; the score is how often."""
        return self._pool.best(self._scores, part, k)


class CoOccurrence:
    """Papers that stand in sets together with those cited so far.

    The score is the sum of the entries of the co-occurrence matrix; the matrix itself, X'X, is never built.
    """

    name = "co-occurrence"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        sets, self._papers = _flat_citations(pool, lessons)
        self._set_starts = np.searchsorted(sets, np.arange(len(lessons.sets) + 1))
        order = np.argsort(self._papers, kind="stable")
        self._sets = sets[order]  # the sets of each paper, one paper after the other
        self._paper_starts = np.searchsorted(self._papers[order], np.arange(len(pool) + 1))

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """The papers cited most often together with those of the part; only papers that ever were."""
        cited = self._pool.places(part.cited)
        together = [self._sets[self._paper_starts[place] : self._paper_starts[place + 1]] for place in cited]
        sets, times = np.unique(np.concatenate([*together, np.empty(0, np.int64)]), return_counts=True)
        scores = np.zeros(len(self._pool))
        for number, weight in zip(sets, times, strict=True):
            scores[self._papers[self._set_starts[number] : self._set_starts[number + 1]]] += weight
        return self._pool.best(scores, part, k, above=0)


def make_random(name: str, lessons: Lessons) -> Random:
    """Random papers of those that are cited."""
    return Random(pool_of(lessons), lessons.seed)


def make_most_popular(name: str, lessons: Lessons) -> MostPopular:
    """The most popular papers."""
    return MostPopular(pool_of(lessons), lessons)


def make_co_occurrence(name: str, lessons: Lessons) -> CoOccurrence:
    """What is cited together."""
    return CoOccurrence(pool_of(lessons), lessons)


def _flat_citations(pool: Pool, lessons: Lessons) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each citation the number of its set and the place of its paper, set by set."""
    set_places = [_pool_places(pool, cited_set) for cited_set in lessons.sets]
    sets = np.repeat(np.arange(len(set_places), dtype=np.int64), [len(places) for places in set_places])
    return sets, np.array([place for places in set_places for place in places], np.int64)


def _pool_places(pool: Pool, cited_set: CitedSet) -> list[int]:
    return [pool.place[key] for key in cited_set.papers if key in pool.place]
