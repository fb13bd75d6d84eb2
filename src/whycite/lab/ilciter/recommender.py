"""ILCiteR's published methods over a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from whycite.cite.recommendations import (
    Claim,
    EvidencePiece,
    Recommendation,
    check_number,
    citation_shown,
    is_allowed,
    shown_evidence,
)
from whycite.lab.ilciter import EvidenceDatabase, IlciterMethods, IlciterPaper
from whycite.library.tables import identifier
from whycite.models import Encoder

if TYPE_CHECKING:
    from whycite.library import Library, Paper, SpanCitation

__all__ = ["IlciterMethod", "make"]

_AT_ONCE = 50  # papers looked up together

_METHODS_BY_LIBRARY: WeakKeyDictionary[Library, dict[str, IlciterMethods]] = WeakKeyDictionary()
_LOCK = Lock()


class IlciterMethod:
    """One of ILCiteR's methods; all share a database, read from the library on first use."""

    def __init__(self, name: str, library: Library, encoder: Encoder) -> None:
        self.name = name
        self._library, self._encoder = library, encoder

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]:
        """Recommend the best papers for a claim; scores only reflect the order."""
        check_number(n)
        methods = _open_methods(self._library, self._encoder)
        ranked = methods.rank(self.name, claim.text)
        best = list(islice(self._allowed(methods.database, ranked, claim), n))
        cited = self._citations(methods.database, [ranked_paper for ranked_paper, _ in best])
        # ILCiteR's support counts an entity and its sentence separately; show how often the paper is cited instead.
        support = self._library.support([identifier(paper.key) for _, paper in best])
        pieces = [
            [
                EvidencePiece(methods.database.spans[span], 1 / (rank * place), citation_shown(rows, claim))
                for place, (span, rows) in enumerate(cited[ranked_paper.paper].items(), start=1)
            ]
            for rank, (ranked_paper, _) in enumerate(best, start=1)
        ]
        return [
            Recommendation(rank, 1 / rank, support[identifier(paper.key)], paper, shown, {"order": 1 / rank})
            for rank, ((_, paper), shown) in enumerate(
                zip(best, shown_evidence(self._library, pieces, {}), strict=True), start=1
            )
        ]

    def _allowed(
        self, database: EvidenceDatabase, ranked: list[IlciterPaper], claim: Claim
    ) -> Iterator[tuple[IlciterPaper, Paper]]:
        for start in range(0, len(ranked), _AT_ONCE):
            batch = ranked[start : start + _AT_ONCE]
            ids = [identifier(database.papers[ranked_paper.paper][0]) for ranked_paper in batch]
            papers = self._library.papers(ids)
            for ranked_paper, paper in zip(batch, ids, strict=True):
                if is_allowed(papers[paper], claim):
                    yield ranked_paper, papers[paper]

    def _citations(
        self, database: EvidenceDatabase, best: list[IlciterPaper]
    ) -> Mapping[int, Mapping[int, list[SpanCitation]]]:
        """Spans of each paper, best first, and where they cite it; all by database index."""
        spans = {identifier(database.spans[span]): span for ranked_paper in best for span in ranked_paper.evidence}
        papers = {identifier(database.papers[ranked_paper.paper][0]): ranked_paper for ranked_paper in best}
        citations: dict[int, dict[int, list[SpanCitation]]] = {
            ranked_paper.paper: {span: [] for span in ranked_paper.evidence} for ranked_paper in best
        }
        for row in self._library.citations(sorted(spans)):
            if row.paper in papers and row.kind != "context":
                citations[papers[row.paper].paper][spans[row.span]].append(row)
        return citations


def make(name: str, library: Library, encoder: Encoder) -> IlciterMethod:
    """Make the method of that name, for the registry."""
    return IlciterMethod(name, library, encoder)


def _open_methods(library: Library, encoder: Encoder) -> IlciterMethods:
    """ILCiteR's methods over a library, made once because reading it is slow."""
    with _LOCK:
        methods_by_encoder = _METHODS_BY_LIBRARY.setdefault(library, {})
        if encoder.name not in methods_by_encoder:
            methods_by_encoder[encoder.name] = IlciterMethods(
                EvidenceDatabase.from_occurrences(library.occurrences()), encoder.encode
            )
        return methods_by_encoder[encoder.name]
