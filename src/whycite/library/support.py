"""In how many places papers are cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Support"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Support:
    """Papers that are cited, in the order of their ids, and in how many places each is."""

    papers: Integers
    counts: Integers

    @classmethod
    def count(cls, papers: Integers, documents: Integers, places: Integers) -> Support:
        """What citations add up to: a place of a document counts once, however many spans of it cite a paper."""
        rows = np.array([papers, documents, places], np.int64)
        rows = rows[:, np.lexsort(rows)]
        first = np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0))[: len(papers)]
        return cls(*np.unique(rows[0, first], return_counts=True))

    def of(self, papers: Sequence[int]) -> dict[int, int]:
        """The support of papers, in the order given."""
        if not len(self.papers):
            return dict.fromkeys(papers, 0)
        ids = np.array(papers, np.int64)
        at = np.minimum(np.searchsorted(self.papers, ids), len(self.papers) - 1)
        return dict(zip(papers, np.where(self.papers[at] == ids, self.counts[at], 0).tolist(), strict=True))

    def all(self) -> dict[int, int]:
        """The support of every paper that is cited at all."""
        return dict(zip(self.papers.tolist(), self.counts.tolist(), strict=True))
