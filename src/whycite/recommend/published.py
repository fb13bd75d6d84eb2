"""ILCiteR's published methods over a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from whycite.encoders import Encoder
from whycite.library.schema import identifier
from whycite.recommend.ilciter import Database, Methods, Ranked
from whycite.recommend.model import Claim, Recommendation, allowed, check_number
from whycite.recommend.shown import Piece, place_shown, show

if TYPE_CHECKING:
    from whycite.library import Citation, Library, Paper

__all__ = ["Published", "make"]

_AT_ONCE = 50  # papers looked up together

_OPENED: WeakKeyDictionary[Library, dict[str, Methods]] = WeakKeyDictionary()
_LOCK = Lock()


class Published:
    """One of ILCiteR's methods; its database is read from the library when it is first needed, and for all of them."""

    def __init__(self, name: str, library: Library, encoder: Encoder) -> None:
        self.name = name
        self._library, self._encoder = library, encoder

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]:
        """The best papers for a claim; a score tells the place in the order and nothing else."""
        check_number(n)
        methods = _opened(self._library, self._encoder)
        ranked = methods.rank(self.name, claim.text)
        best = list(islice(self._allowed(methods.database, ranked, claim), n))
        cited = self._citations(methods.database, [one for one, _ in best])
        # What ILCiteR ranks by counts an entity and its sentence as two; shown is how often the paper is cited.
        support = self._library.support([identifier(paper.key) for _, paper in best])
        pieces = [
            [
                Piece(methods.database.spans[span], 1 / (rank * place), place_shown(rows, claim))
                for place, (span, rows) in enumerate(cited[one.paper].items(), start=1)
            ]
            for rank, (one, _) in enumerate(best, start=1)
        ]
        return [
            Recommendation(rank, 1 / rank, support[identifier(paper.key)], paper, shown, {"order": 1 / rank})
            for rank, ((_, paper), shown) in enumerate(zip(best, show(self._library, pieces, {}), strict=True), start=1)
        ]

    def _allowed(self, database: Database, ranked: list[Ranked], claim: Claim) -> Iterator[tuple[Ranked, Paper]]:
        for at in range(0, len(ranked), _AT_ONCE):
            some = ranked[at : at + _AT_ONCE]
            ids = [identifier(database.papers[one.paper][0]) for one in some]
            papers = self._library.papers(ids)
            for one, paper in zip(some, ids, strict=True):
                if allowed(papers[paper], claim):
                    yield one, papers[paper]

    def _citations(self, database: Database, best: list[Ranked]) -> Mapping[int, Mapping[int, list[Citation]]]:
        """For each paper its spans, best first, and where they cite it; all numbered as in the database."""
        spans = {identifier(database.spans[span]): span for one in best for span in one.evidence}
        papers = {identifier(database.papers[one.paper][0]): one for one in best}
        found: dict[int, dict[int, list[Citation]]] = {one.paper: {span: [] for span in one.evidence} for one in best}
        for row in self._library.citations(sorted(spans)):
            if row.paper in papers and row.kind != "context":
                found[papers[row.paper].paper][spans[row.span]].append(row)
        return found


def make(name: str, library: Library, encoder: Encoder) -> Published:
    """The method of that name, for the registry."""
    return Published(name, library, encoder)


def _opened(library: Library, encoder: Encoder) -> Methods:
    """ILCiteR's methods over a library: made once, since reading all of it takes its time."""
    with _LOCK:
        known = _OPENED.setdefault(library, {})
        if encoder.name not in known:
            known[encoder.name] = Methods(Database.of(library.occurrences()), encoder.encode)
        return known[encoder.name]
