"""What a library holds, in figures: years, support, and what is cited most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.library.model import Paper

if TYPE_CHECKING:
    from whycite.library.library import Library

__all__ = ["Statistics", "statistics"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Papers by year, papers by how often they are cited, and the most cited ones with their support."""

    years: dict[int, int]
    support: dict[int, int]
    most_cited: tuple[tuple[Paper, int], ...]


def statistics(library: Library, most: int = 10) -> Statistics:
    """The figures of a library, with so many of the most cited papers."""
    years, support = library.all_years(), library.all_support()
    best = sorted(support, key=lambda paper: (-support[paper], paper))[:most]
    papers = library.papers(best)
    return Statistics(
        years=dict(sorted(Counter(years).items())),
        support=dict(sorted(Counter(support.values()).items())),
        most_cited=tuple((papers[paper], support[paper]) for paper in best if paper in papers),
    )
