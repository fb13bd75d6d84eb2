"""A whole library as ILCiteR's evidence database, as TREC documents, and in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from whycite.library.reader import Library
from whycite.library.records import Paper
from whycite.library.tables import identifier

__all__ = ["LibraryStatistics", "export_ilciter", "export_trec", "statistics"]


def export_ilciter(library: Library) -> Iterator[dict[str, Any]]:
    """Each span with the papers it cites and their support, as in ILCiteR's evidence database (5.3)."""
    cited: dict[str, Counter[int]] = {}
    for text, paper in library.pairs():
        cited.setdefault(text, Counter())[paper] += 1
    papers = library.papers(sorted({paper for support in cited.values() for paper in support}))
    for text, support in cited.items():
        ranked = sorted(support.items(), key=lambda pair: (-pair[1], papers[pair[0]].key))
        yield {
            "span": text,
            "papers": [
                {
                    "key": papers[paper].key,
                    "title": papers[paper].title,
                    "year": papers[paper].year,
                    "authors": list(papers[paper].authors),
                    "support": count,
                }
                for paper, count in ranked
            ],
        }


def export_trec(library: Library) -> Iterator[str]:
    """Each span as a TREC document, with its id as document number."""
    for text in dict.fromkeys(text for text, _ in library.pairs()):
        yield f"<DOC>\n<DOCNO>{identifier(text)}</DOCNO>\n<TEXT>\n{escape(text)}\n</TEXT>\n</DOC>\n"


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
