"""ILCiteR as published: evidence-grounded local citation recommendation without training, all rows of its tables.

The methods are pure functions over an evidence database; `make` offers them over a library, for `cite --method`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from whycite.cite.recommendations import (
    Claim,
    EvidencePiece,
    Recommendation,
    check_number,
    citation_shown,
    is_allowed,
    shown_evidence,
)
from whycite.errors import UserError
from whycite.library.tables import identifier
from whycite.models import Encoder
from whycite.text.bm25 import Bm25Index, Integers
from whycite.text.tokens import words

if TYPE_CHECKING:
    from whycite.library import Library, Paper, SpanCitation

__all__ = [
    "MAX_FULL_PRECISION",
    "METHODS",
    "DatabaseStatistics",
    "Encode",
    "EvidenceDatabase",
    "IlciterMethod",
    "IlciterMethods",
    "IlciterPaper",
    "SpanVectors",
    "candidate_spans",
    "ensemble",
    "make",
    "rank_papers",
    "ranks",
]


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


Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Maps texts to unit vectors; in the paper, SciBERT's [CLS] vectors."""

MAX_FULL_PRECISION = 2**27  # numbers; beyond this, vectors are kept in half precision


class SpanVectors:
    """Span vectors, encoded on first use and cached."""

    def __init__(self, spans: Sequence[str], encode: Encode) -> None:
        self._spans, self._encode = spans, encode
        self._is_encoded = np.zeros(len(spans), bool)
        self._vectors: NDArray[np.floating] | None = None
        self._lock = Lock()

    def cosines(self, query: str, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines of the query with the chosen spans."""
        vector = self._encode_texts([query])[0].astype(np.float64)
        # Not a matrix product: its last digits depend on the number of threads.
        return np.asarray((self._vectors_of(chosen) * vector).sum(axis=1))

    def _vectors_of(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        with self._lock:
            unknown = chosen[~self._is_encoded[chosen]]
            if len(unknown):
                vectors = self._encode_texts([self._spans[span] for span in unknown])
                if self._vectors is None:
                    size = len(self._spans), vectors.shape[1]
                    self._vectors = np.empty(size, np.float16 if size[0] * size[1] > MAX_FULL_PRECISION else np.float32)
                self._vectors[unknown] = vectors
                self._is_encoded[unknown] = True
            if self._vectors is None:
                return np.empty((0, 1))
            return self._vectors[chosen].astype(np.float64)

    def _encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._encode(texts)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(f"the encoder returned an array of shape {vectors.shape} for {len(texts)} texts")
        return vectors


SpanIds = NDArray[np.int64]


def candidate_spans(lists: Sequence[SpanIds]) -> SpanIds:
    """Spans in any of the lists, in database order."""
    return reduce(np.union1d, lists)


def ranks(ranking: SpanIds, spans: SpanIds) -> NDArray[np.int64]:
    """Rank of each span in a list, from 0; a missing span gets the length of the list."""
    places = {int(span): place for place, span in enumerate(ranking)}
    return np.array([places.get(int(span), len(places)) for span in spans], np.int64)


def ensemble(lists: Sequence[SpanIds], spans: SpanIds) -> list[tuple[int, int]]:
    """Spans with the sum of their ranks in the lists, lowest first; ties keep database order."""
    total = np.sum([ranks(ranking, spans) for ranking in lists], axis=0)
    order = np.lexsort((spans, total))
    return [(int(spans[index]), int(total[index])) for index in order]


@dataclass(frozen=True, slots=True)
class IlciterPaper:
    """A paper with its supporting evidence."""

    paper: int  # index into the database's papers
    rank_of_best: int  # of its best span: the sum of its ranks in the method's lists, from 0
    support: int  # over all candidate spans
    score: float  # 1 for the first paper, 1/2 for the second and so on; only the order matters
    evidence: tuple[int, ...]  # candidate spans that cite it, best first


@dataclass(slots=True)
class _Tally:
    best: int
    support: int = 0
    evidence: list[int] = field(default_factory=list)


def rank_papers(database: EvidenceDatabase, evidence: Iterable[tuple[int, int]]) -> list[IlciterPaper]:
    """Rank the papers cited by spans (given best first with ranks): by best rank, support, year (newest first) and key.

    As in the published runs, ranks rather than positions are compared: if two spans have the same rank, support
    decides between their papers. Papers without a year come last.
    """
    tallies: dict[int, _Tally] = {}
    for span, rank in evidence:
        for paper, support in database.cited[span]:
            tally = tallies.setdefault(paper, _Tally(rank))
            tally.support += support
            tally.evidence.append(span)

    def precedence(paper: int) -> tuple[int, int, int, str]:
        key, year = database.papers[paper]
        return tallies[paper].best, -tallies[paper].support, -(year or 0), key

    return [
        IlciterPaper(paper, tallies[paper].best, tallies[paper].support, 1 / place, tuple(tallies[paper].evidence))
        for place, paper in enumerate(sorted(tallies, key=precedence), start=1)
    ]


PREFETCHED = 50  # spans per BM25 variant
LONG = 2.5  # a long query has this many times the tokens of the average span (7.3), about 50 in the paper

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


class IlciterMethods:
    """The published methods over a database.

    Each orders the spans among the 50 best by Okapi or BM25+, and ranks the papers they cite:

    - `bm25-okapi`, `bm25-plus-rank-bm25`: by one BM25, as published (table 4)
    - `bm25-plus`: by textbook BM25+, which is then also used to fetch spans
    - `encoder`: by the cosine of vectors ("SciBERT only", table 5)
    - `ensemble-okapi-encoder`, `ensemble-plus-encoder`, `ensemble-all`: by the sum of ranks (table 5)
    - `ilciter`: Okapi and BM25+ for short queries, BM25+ and encoder for long ones (conditional ensembling, 6.2.1)

    BM25+ is rank_bm25's everywhere but in `bm25-plus`, because the published runs used it.
    """

    def __init__(self, database: EvidenceDatabase, encode: Encode) -> None:
        self.database = database
        self._index = Bm25Index(map(words, database.spans))
        self._vectors = SpanVectors(database.spans, encode)
        self.longest_short = LONG * self._index.average  # in tokens; longer queries are long

    def rank(self, method: str, query: str) -> list[IlciterPaper]:
        """Rank papers for a query, best first."""
        return self.rank_all(query, (method,))[method]

    def rank_all(self, query: str, methods: Sequence[str] = METHODS) -> dict[str, list[IlciterPaper]]:
        """Rank papers for a query with several methods, fetching and encoding spans once."""
        if unknown := [method for method in methods if method not in METHODS]:
            raise UserError(f"unknown method '{unknown[0]}'; choose one of: {', '.join(METHODS)}")
        tokens = words(query)
        conditional = _LONG if len(tokens) > self.longest_short else _SHORT
        list_names = {method: _LISTS.get(method, conditional) for method in methods}
        lists = self._index.best(tokens, PREFETCHED)
        published = candidate_spans([lists["okapi"], lists[_PLUS]])
        textbook = candidate_spans([lists["okapi"], lists["plus"]])
        if any("encoder" in names for names in list_names.values()):
            lists["encoder"] = self._nearest(query, published)
        return {
            method: rank_papers(
                self.database,
                ensemble([lists[name] for name in names], textbook if "plus" in names else published),
            )
            for method, names in list_names.items()
        }

    def _nearest(self, query: str, spans: Integers) -> Integers:
        """Spans by cosine with the query; ties keep database order."""
        if not len(spans):
            return spans
        return spans[(-self._vectors.cosines(query, spans)).argsort(kind="stable")]


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
