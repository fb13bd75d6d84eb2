"""From ranked spans to ranked papers (ILCiteR, section 6.2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from whycite.recommend.ilciter.database import Database

__all__ = ["Ranked", "rank_papers"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A paper with the evidence that speaks for it."""

    paper: int  # index into the database's papers
    rank_of_best: int  # of its best span: the sum of its ranks in the lists of the method, from 0
    support: int  # over all candidate spans
    score: float  # 1 for the first paper, 1/2 for the second, and so on: the order and nothing else
    evidence: tuple[int, ...]  # the candidate spans that cite it, best first


@dataclass(slots=True)
class _Tally:
    best: int
    support: int = 0
    evidence: list[int] = field(default_factory=list)


def rank_papers(database: Database, evidence: Iterable[tuple[int, int]]) -> list[Ranked]:
    """The papers of spans, given best first with their ranks: by best rank, then support, year (new first) and key.

    Ranks, not places, are compared, as in the published runs: where two spans have the same rank, support decides
    between their papers. A paper without a year comes after those with one.
    """
    found: dict[int, _Tally] = {}
    for span, rank in evidence:
        for paper, support in database.cited[span]:
            tally = found.setdefault(paper, _Tally(rank))
            tally.support += support
            tally.evidence.append(span)

    def precedence(paper: int) -> tuple[int, int, int, str]:
        key, year = database.papers[paper]
        return found[paper].best, -found[paper].support, -(year or 0), key

    return [
        Ranked(paper, found[paper].best, found[paper].support, 1 / place, tuple(found[paper].evidence))
        for place, paper in enumerate(sorted(found, key=precedence), start=1)
    ]
