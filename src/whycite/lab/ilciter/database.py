"""ILCiteR's evidence database: spans, the papers they cite and how often (sections 3 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whycite.text.tokens import words

__all__ = ["DatabaseStatistics", "EvidenceDatabase"]


@dataclass(frozen=True, slots=True)
class DatabaseStatistics:
    """A row of ILCiteR's table 2."""

    spans: int
    characters: float  # mean per span
    tokens: float  # mean per span
    papers: int  # cited papers


@dataclass(frozen=True, slots=True)
class EvidenceDatabase:
    """Unique spans with the papers they cite and their support; only equal spans are merged."""

    spans: Sequence[str]
    cited: Sequence[Sequence[tuple[int, int]]]  # per span: indices into `papers`, with support
    papers: Sequence[tuple[str, int | None]]  # key and year

    def __post_init__(self) -> None:
        if len(self.spans) != len(self.cited):
            raise ValueError(f"{len(self.spans)} spans, but cited papers for {len(self.cited)}")
        if len(set(self.spans)) < len(self.spans):
            raise ValueError("the database has a duplicate span")
        if len({key for key, _ in self.papers}) < len(self.papers):
            raise ValueError("the database has a duplicate paper")
        if any(not 0 <= paper < len(self.papers) or support < 1 for pairs in self.cited for paper, support in pairs):
            raise ValueError("a span cites an unknown paper, or cites it less than once")

    @classmethod
    def from_occurrences(cls, occurrences: Iterable[tuple[str, str, int | None]]) -> EvidenceDatabase:
        """Build a database from (span text, key of the cited paper, its year), one for each citation.

        A paper with several years (preprint and publication) gets the latest.
        """
        papers: dict[str, int] = {}
        years: list[int | None] = []
        spans: dict[str, dict[int, int]] = {}
        for text, key, year in occurrences:
            paper = papers.setdefault(key, len(papers))
            if paper == len(years):
                years.append(year)
            elif year is not None:
                years[paper] = max(year, years[paper] or year)
            support = spans.setdefault(text, {})
            support[paper] = support.get(paper, 0) + 1
        cited = [tuple(support.items()) for support in spans.values()]
        return cls(list(spans), cited, list(zip(papers, years, strict=True)))

    def statistics(self) -> DatabaseStatistics:
        """The figures of table 2."""
        number = max(len(self.spans), 1)
        return DatabaseStatistics(
            spans=len(self.spans),
            characters=sum(map(len, self.spans)) / number,
            tokens=sum(len(words(span)) for span in self.spans) / number,
            papers=len({paper for pairs in self.cited for paper, _ in pairs}),
        )
