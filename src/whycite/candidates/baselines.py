"""Recommenders that count (SCOPE 4.3.2): chance, how often a paper is cited, what it is cited together with."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from whycite.candidates.model import CitedSet, K, Lessons, Part
from whycite.candidates.pool import Pool, pool_of

__all__ = ["CoOccurrence", "MostPopular", "Random", "make_co_occurrence", "make_most_popular", "make_random"]


class Random:
    """Papers by lot; the same seed and part give the same ones."""

    name = "random"

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool, self._seed = pool, seed

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """Any papers."""
        asked = (self._seed, part.title, sorted(part.section_types), part.text, sorted(p.key for p in part.cited))
        lot = blake2b(repr(asked).encode("utf-8", "replace"), digest_size=8).digest()
        scores = np.random.default_rng(int.from_bytes(lot)).random(len(self._pool))
        return self._pool.best(scores, part, k)


class MostPopular:
    """Papers that stand in most sets."""

    name = "most-popular"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        _, cited = _flat(pool, lessons)
        self._scores = np.bincount(cited, minlength=len(pool)).astype(np.float64)

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """The papers cited most; the score is how often."""
        return self._pool.best(self._scores, part, k)


class CoOccurrence:
    """Papers that stand in sets together with those cited so far.

    The score is the sum of the entries of the co-occurrence matrix; the matrix itself, X'X, is never built.
    """

    name = "co-occurrence"

    def __init__(self, pool: Pool, lessons: Lessons) -> None:
        self._pool = pool
        sets, self._papers = _flat(pool, lessons)
        self._starts = np.searchsorted(sets, np.arange(len(lessons.sets) + 1))
        order = np.argsort(self._papers, kind="stable")
        self._sets = sets[order]  # the sets of each paper, one paper after the other
        self._of = np.searchsorted(self._papers[order], np.arange(len(pool) + 1))

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """The papers cited most often together with those of the part; only papers that ever were."""
        cited = self._pool.places(part.cited)
        together = [self._sets[self._of[place] : self._of[place + 1]] for place in cited]
        sets, times = np.unique(np.concatenate([*together, np.empty(0, np.int64)]), return_counts=True)
        scores = np.zeros(len(self._pool))
        for number, weight in zip(sets, times, strict=True):
            scores[self._papers[self._starts[number] : self._starts[number + 1]]] += weight
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


def _flat(pool: Pool, lessons: Lessons) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each citation the number of its set and the place of its paper, set by set."""
    found = [_known(pool, each) for each in lessons.sets]
    sets = np.repeat(np.arange(len(found), dtype=np.int64), [len(each) for each in found])
    return sets, np.array([place for each in found for place in each], np.int64)


def _known(pool: Pool, each: CitedSet) -> list[int]:
    return [pool.place[key] for key in each.papers if key in pool.place]
