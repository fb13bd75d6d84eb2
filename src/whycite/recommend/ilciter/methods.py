"""ILCiteR's methods by name: the rows of its tables 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from whycite.errors import UserError
from whycite.recommend.ilciter.bm25 import Index, Integers
from whycite.recommend.ilciter.database import Database
from whycite.recommend.ilciter.ensemble import candidates, ensemble
from whycite.recommend.ilciter.ranking import Ranked, rank_papers
from whycite.recommend.ilciter.vectors import Encode, SpanVectors
from whycite.text.tokens import words

__all__ = ["METHODS", "Methods"]

PREFETCHED = 50  # spans of each BM25
LONG = 2.5  # a query is long that has so many times the tokens of the average span (7.3), about 50 in the paper

_PLUS = "plus-rank-bm25"
_LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bm25-okapi": ("okapi",),
        "bm25-plus": ("plus",),
        "bm25-plus-rank-bm25": (_PLUS,),
        "encoder": ("encoder",),
        "ensemble-okapi-encoder": ("okapi", "encoder"),
        "ensemble-plus-encoder": (_PLUS, "encoder"),
        "ensemble-all": ("okapi", _PLUS, "encoder"),
    }
)
_SHORT, _LONG = ("okapi", _PLUS), (_PLUS, "encoder")

METHODS = (*_LISTS, "ilciter")


class Methods:
    """The published methods over a database.

    Each orders the spans that are among the 50 best by Okapi or by BM25+, and ranks the papers these cite:

    - `bm25-okapi`, `bm25-plus-rank-bm25`: by one BM25, as published (table 4)
    - `bm25-plus`: by textbook BM25+, which then also takes part in fetching the spans
    - `encoder`: by the cosine of vectors ("SciBERT only", table 5)
    - `ensemble-okapi-encoder`, `ensemble-plus-encoder`, `ensemble-all`: by the sum of ranks (table 5)
    - `ilciter`: Okapi and BM25+ for short queries, BM25+ and encoder for long ones (conditional ensembling, 6.2.1)

    BM25+ is rank_bm25's everywhere but in `bm25-plus`, because the published runs used it.
    """

    def __init__(self, database: Database, encode: Encode) -> None:
        self.database = database
        self._index = Index(map(words, database.spans))
        self._vectors = SpanVectors(database.spans, encode)
        self.longest_short = LONG * self._index.average  # in tokens; what is longer is a long query

    def rank(self, method: str, query: str) -> list[Ranked]:
        """The papers for a query, best first."""
        return self.rank_all(query, (method,))[method]

    def rank_all(self, query: str, methods: Sequence[str] = METHODS) -> dict[str, list[Ranked]]:
        """The papers for a query by several methods, for which spans are fetched and encoded once."""
        if unknown := [method for method in methods if method not in METHODS]:
            raise UserError(f"no method '{unknown[0]}'; there are: {', '.join(METHODS)}")
        tokens = words(query)
        conditional = _LONG if len(tokens) > self.longest_short else _SHORT
        wanted = {method: _LISTS.get(method, conditional) for method in methods}
        lists = self._index.best(tokens, PREFETCHED)
        published = candidates([lists["okapi"], lists[_PLUS]])
        textbook = candidates([lists["okapi"], lists["plus"]])
        if any("encoder" in names for names in wanted.values()):
            lists["encoder"] = self._nearest(query, published)
        return {
            method: rank_papers(
                self.database,
                ensemble([lists[name] for name in names], textbook if "plus" in names else published),
            )
            for method, names in wanted.items()
        }

    def _nearest(self, query: str, spans: Integers) -> Integers:
        """The spans by their cosine with the query, of equal ones the first of the database."""
        if not len(spans):
            return spans
        return spans[(-self._vectors.cosines(query, spans)).argsort(kind="stable")]
