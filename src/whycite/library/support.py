"""The support of papers (the number of places that cite them), and statistics of a library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.library.records import Paper

if TYPE_CHECKING:
    from whycite.library.reader import Library

__all__ = ["LibraryStatistics", "SupportCounts", "statistics"]


Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SupportCounts:
    """Cited papers in the order of their ids, and the number of places that cite each."""

    papers: Integers
    counts: Integers

    @classmethod
    def count(cls, papers: Integers, documents: Integers, places: Integers) -> SupportCounts:
        """Count citations; a place in a document counts once, however many spans there cite a paper."""
        rows = np.array([papers, documents, places], np.int64)
        rows = rows[:, np.lexsort(rows)]
        is_distinct = np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0))[: len(papers)]
        return cls(*np.unique(rows[0, is_distinct], return_counts=True))

    def of_papers(self, papers: Sequence[int]) -> dict[int, int]:
        """The support of papers, in the order given."""
        if not len(self.papers):
            return dict.fromkeys(papers, 0)
        ids = np.array(papers, np.int64)
        positions = np.minimum(np.searchsorted(self.papers, ids), len(self.papers) - 1)
        return dict(
            zip(papers, np.where(self.papers[positions] == ids, self.counts[positions], 0).tolist(), strict=True)
        )

    def of_all_papers(self) -> dict[int, int]:
        """The support of every cited paper."""
        return dict(zip(self.papers.tolist(), self.counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Papers by year, papers by how often they are cited, and the most cited ones with their support."""

    years: dict[int, int]
    support: dict[int, int]
    most_cited: tuple[tuple[Paper, int], ...]


def statistics(library: Library, number: int = 10) -> LibraryStatistics:
    """Statistics of a library, with its `number` most cited papers."""
    years, support = library.all_years(), library.all_support()
    best = sorted(support, key=lambda paper: (-support[paper], paper))[:number]
    papers = library.papers(best)
    return LibraryStatistics(
        years=dict(sorted(Counter(years).items())),
        support=dict(sorted(Counter(support.values()).items())),
        most_cited=tuple((papers[paper], support[paper]) for paper in best if paper in papers),
    )
