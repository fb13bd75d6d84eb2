"""A library opened for reading, and its search by words and by meaning at once."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
from lancedb.background_loop import LOOP
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.library.papers import KnownPapers
from whycite.library.paths import default_path
from whycite.library.readingcopy import CODED_COLUMNS, CopiedRows, open_copy
from whycite.library.records import (
    LibraryDocument,
    LibraryInfo,
    Paper,
    PaperHit,
    PaperOutline,
    SourceDocument,
    SpanCitation,
    SpanHit,
)
from whycite.library.store import AsyncTable, Store, open_store, plain_errors
from whycite.library.support import SupportCounts
from whycite.library.tablecache import CachedRows
from whycite.library.tables import ROW, TableRows, identifier, read_columns

__all__ = ["Library", "SearchHits", "SearchTarget", "cosines", "search_tables"]


Floats = NDArray[np.float32]
T = TypeVar("T")
_PROBES = 40  # partitions of the vectors that are looked at: all of 160,000 vectors, a quarter of a million
_NEAR = 2  # times as many rows as are wanted are compared by their own vectors, which the index knows only roughly
_WORDS = 200  # of a claim that are searched
_TIES = (32, 1_000)  # rows asked for beyond the best: which of equally good ones come is left to chance


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """A table that is searched, what has its rows, and how many of these are wanted by words and by meaning."""

    table: AsyncTable
    source: TableRows | CopiedRows
    k: int


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Rows that a search found, by id, with what speaks for each."""

    ids: NDArray[np.int64]
    texts: Sequence[str]
    cosines: Floats
    lexical: Floats  # BM25; 0 where only the vectors found the row


def search_tables(text: str, meaning: Callable[[], Floats], *targets: SearchTarget) -> list[SearchHits]:
    """Of each table the k best rows by words together with the k best by meaning, in the order of their ids.

    The vector of what the text means is asked for while the words are searched.
    """
    # LanceDB's blocking interface would take a thread a question, and half as much processor time again.
    by_words = _start_searches(_search_words(target.table, text, target.k) for target in targets)
    try:
        vector = meaning()
        by_meaning = _start_searches(_search_vectors(target.table, vector, target.k) for target in targets)
        matches = zip(targets, by_words.result(), by_meaning.result(), strict=True)
    except BaseException:
        by_words.cancel()
        raise
    return [_fetch_hits(target, vector, scores, near) for target, scores, near in matches]


def cosines(rows: pa.Table, vector: Floats) -> Floats:
    """How near the vectors of rows are to a vector."""
    column = rows["vector"].combine_chunks()
    matrix = column.flatten().to_numpy().astype(np.float32).reshape(len(rows), column.type.list_size)
    # Not a matrix product: the last digits of one depend on the rows beside, and on the number of threads.
    similarities: Floats = (matrix * vector.astype(np.float32)).sum(axis=1)
    return similarities


def _start_searches(searches: Iterable[Coroutine[Any, Any, T]]) -> Future[list[T]]:
    """Searches that run beside us."""

    async def gather_all() -> list[T]:
        return await asyncio.gather(*searches)

    return asyncio.run_coroutine_threadsafe(gather_all(), LOOP.loop)


def _fetch_hits(target: SearchTarget, vector: Floats, scores: dict[int, float], near: set[int]) -> SearchHits:
    """What the best of the rows hold that were found."""
    rows = target.source.take([*(scores.keys() | near)], ["id", "vector", "text"]).sort_by("id")
    places, cosine = rows[ROW].to_pylist(), cosines(rows, vector)
    lexical = np.array([scores.get(place, 0.0) for place in places], np.float32)
    lexical[_beyond(lexical, target.k)] = 0
    nearest = np.array([place in near for place in places], bool)
    nearest[_beyond(np.where(nearest, cosine, -np.inf), target.k)] = False
    is_hit = nearest | (lexical > 0)
    rows = rows.filter(is_hit)
    return SearchHits(rows["id"].to_numpy(), rows["text"].to_pylist(), cosine[is_hit], lexical[is_hit])


def _beyond(values: NDArray[np.floating[Any]], k: int) -> NDArray[np.int64]:
    """Where values are that are not among the k best; of equal ones the first are better."""
    return np.argsort(-values, kind="stable")[k:]


async def _search_words(table: AsyncTable, text: str, k: int) -> dict[int, float]:
    """The scores of the k best rows, and of all that are as good as the last of these, by their places."""
    words = " ".join(dict.fromkeys(text.split()[: _WORDS * 5]))
    query = MatchQuery(" ".join(words.split()[:_WORDS]), "text")  # type: ignore[call-arg]  # its fields have defaults
    for extra in _TIES:
        request = table.query().nearest_to_text(query).limit(k + extra)
        rows = await request.with_row_id().select([ROW, "_score"]).to_arrow()
        scores = rows["_score"].to_numpy()
        if len(rows) < k + extra or np.count_nonzero(scores > scores.min()) >= k:
            break
    threshold = np.sort(scores)[-k:].min(initial=np.inf)
    rows = rows.filter(scores >= threshold)
    return dict(zip(rows[ROW].to_pylist(), rows["_score"].to_pylist(), strict=True))


async def _search_vectors(table: AsyncTable, vector: Floats, k: int) -> set[int]:
    """The places of rows among which the k best are, as far as the index can tell."""
    query = table.query().nearest_to(vector.astype(np.float32)).column("vector").distance_type("dot")
    rows = await query.nprobes(_PROBES).limit(_NEAR * k).with_row_id().select([ROW, "_distance"]).to_arrow()
    return {*rows[ROW].to_pylist()}


Vector = NDArray[np.float32]
_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def _with_plain_errors(
    method: Callable[Concatenate[Library, _Parameters], _Answer],
) -> Callable[Concatenate[Library, _Parameters], _Answer]:
    """Let a method say in a sentence what is wrong with the files; it has read them when it returns."""

    @wraps(method)
    def wrapper(library: Library, /, *args: _Parameters.args, **options: _Parameters.kwargs) -> _Answer:
        with plain_errors(library.path):
            return method(library, *args, **options)

    return wrapper


class Library:
    """A library as it was at its last commit; what is added later is seen by whoever opens it later."""

    def __init__(self, store: Store) -> None:
        with plain_errors(store.path):
            store.checkout_commit()
            self._searchable = store.open_async("spans", "papers")
        self._store = store
        self._copy = copy = open_copy(store.path, store.commit)
        self._spans = copy.spans if copy else TableRows(store["spans"])
        self._papers = copy.papers if copy else CachedRows(store["papers"], ["id"], [ROW], other_columns=["year"])
        self._documents = CachedRows(store["documents"], ["id"], [ROW], other_columns=["key", "title", "year", "path"])
        self._citations = (
            copy.citations
            if copy
            else CachedRows(store["citations"], ["span", "paper"], ["document", "sentence", "place"], CODED_COLUMNS)
        )

    @classmethod
    def open(cls, path: Path | str | None = None) -> Library:
        """Open the library at a path, by default the user's own."""
        place = Path(path).expanduser() if path is not None else default_path()
        store = open_store(place)
        if store is None or store.commit.number == 1:
            raise UserError(f"{place}: no library here yet; make one with: whycite add FOLDER")
        return cls(store)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._store.path

    @property
    def version(self) -> int:
        """The number of its last commit: same version, same answers."""
        return self._store.commit.number

    @property
    def encoder(self) -> str:
        """The name of the encoder that made its vectors."""
        return self._store.commit.encoder

    @_with_plain_errors
    def info(self) -> LibraryInfo:
        """What it holds."""
        commit = self._store.commit
        return LibraryInfo(
            path=str(self.path),
            documents=self._store["documents"].count_rows(),
            papers=self._store["papers"].count_rows("id = same_as"),
            spans=self._store["spans"].count_rows(),
            citations=self._store["citations"].count_rows(),
            bytes=_size(self.path),
            encoder=commit.encoder,
            version=commit.number,
            schema=commit.schema,
            changed=commit.time,
        )

    @_with_plain_errors
    def documents(self) -> Iterator[LibraryDocument]:
        """The documents, by path."""
        columns = ["id", "key", "title", "year", "path", "format", "added", "hash", "citations"]
        rows = read_columns(self._store["documents"], columns)
        rows = rows.sort_by([("path", "ascending"), ("key", "ascending"), ("id", "ascending")])
        return (LibraryDocument(content_hash=row.pop("hash"), **row) for row in rows.to_pylist())

    @_with_plain_errors
    def search(
        self, text: str, meaning: Callable[[], Vector], spans: int = 100, papers: int = 50
    ) -> tuple[list[SpanHit], list[PaperHit]]:
        """What `search_spans` and `search_papers` find, sooner: the vector is made while words are searched."""
        span_hits, titles = search_tables(text, meaning, self._span_target(spans), self._paper_target(papers))
        return _span_hits(span_hits), self._paper_hits(titles)

    @_with_plain_errors
    def search_spans(self, text: str, vector: Vector, k: int = 100) -> list[SpanHit]:
        """The k best spans by words and the k best by meaning."""
        [hits] = search_tables(text, lambda: vector, self._span_target(k))
        return _span_hits(hits)

    @_with_plain_errors
    def search_papers(self, text: str, vector: Vector, k: int = 50) -> list[PaperHit]:
        """The k best papers by words and the k best by meaning of their titles, and abstracts where known."""
        [hits] = search_tables(text, lambda: vector, self._paper_target(k))
        return self._paper_hits(hits)

    @_with_plain_errors
    def citations(self, spans: Sequence[int]) -> list[SpanCitation]:
        """What spans cite, in a fixed order."""
        columns = ["span", "paper", "document", "sentence", "kind", "section_type", "place"]
        rows = self._citations.matching("span", spans, columns)
        order = [(name, "ascending") for name in ("span", "document", "place", "paper", "kind")]
        lists = rows.sort_by(order).to_pydict()
        same_as = self._same_as
        lists["paper"] = [same_as.get(version, version) for version in lists["paper"]]
        return [SpanCitation(*row) for row in zip(*(lists[name] for name in columns), strict=True)]

    @_with_plain_errors
    def papers(self, ids: Sequence[int]) -> dict[int, Paper]:
        """Papers by id."""
        columns = ["id", "key", "title", "authors", "year", "venue", "doi", "abstract"]
        papers = {}
        for row in self._papers.matching("id", sorted(set(ids)), columns).to_pylist():
            paper, row["authors"] = row.pop("id"), tuple(row["authors"] or ())
            papers[paper] = Paper(**row)
        return papers

    @_with_plain_errors
    def outlines(self, ids: Sequence[int], vector: Vector, titles: bool = False) -> dict[int, PaperOutline]:
        """What a choice among many papers needs to know of each; reading titles as well takes half as long again."""
        columns = ["id", "year", "vector", *(["title"] if titles else [])]
        rows = self._papers.matching("id", sorted(set(ids)), columns)
        title_texts = rows["title"].to_pylist() if titles else [""] * len(rows)
        outline_fields = zip(rows["year"].to_pylist(), cosines(rows, vector).tolist(), title_texts, strict=True)
        return dict(zip(rows["id"].to_pylist(), (PaperOutline(*row) for row in outline_fields), strict=True))

    @_with_plain_errors
    def support(self, ids: Sequence[int]) -> dict[int, int]:
        """In how many places each paper is cited, in whatever version."""
        if self._copy:
            return self._copy.support.of_papers(ids)
        versions = sorted({version for paper in ids for version in (paper, *self._versions.get(paper, ()))})
        return self._support(self._citations.matching("paper", versions, ["paper", "document", "place"])).of_papers(ids)

    @_with_plain_errors
    def all_support(self) -> dict[int, int]:
        """In how many places each paper is cited that is cited at all."""
        if self._copy:
            return self._copy.support.of_all_papers()
        return self._support(read_columns(self._store["citations"], ["paper", "document", "place"])).of_all_papers()

    @_with_plain_errors
    def all_years(self) -> list[int]:
        """The year of each paper that has one."""
        rows = read_columns(self._store["papers"], ["year"], "id = same_as AND year IS NOT NULL")
        years: list[int] = rows["year"].to_pylist()
        return years

    @_with_plain_errors
    def cocited(self, keys: Sequence[str]) -> dict[int, float]:
        """Papers cited by the documents that cite the papers of these keys: by how many of them, 0 to 1."""
        versions = [
            version
            for key in keys
            for paper in (self._paper_of(identifier(key)),)
            for version in (paper, *self._versions.get(paper, ()))
        ]
        rows = self._citations.matching("paper", sorted(set(versions)), ["paper", "document"])
        shared: Counter[int] = Counter()
        for _, document in set(zip(rows["paper"].to_pylist(), rows["document"].to_pylist(), strict=True)):
            shared[document] += 1
        nearest = [document for document, _ in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:200]]
        references = self._documents.matching("id", nearest, ["id", "references"]).to_pylist()
        strength: defaultdict[int, float] = defaultdict(float)
        for row in sorted(references, key=lambda row: row["id"]):
            for paper in {self._paper_of(version) for version in row["references"]}:
                strength[paper] += shared[row["id"]] / max(len(keys), 1)
        return dict(strength)

    @_with_plain_errors
    def sources(self, documents: Sequence[int]) -> dict[int, SourceDocument]:
        """The documents in which spans stand; one without title goes by its path."""
        rows = self._documents.matching("id", sorted(set(documents)), ["id", "key", "title", "year", "path"])
        return {
            row["id"]: SourceDocument(row["key"], row["title"] or row["path"], row["year"]) for row in rows.to_pylist()
        }

    @_with_plain_errors
    def texts(self, spans: Sequence[int]) -> dict[int, str]:
        """The texts of spans."""
        rows = self._spans.matching("id", sorted(set(spans)), ["id", "text"])
        return dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))

    @_with_plain_errors
    def occurrences(self) -> Iterator[tuple[str, str, int | None]]:
        """The pairs of ILCiteR's database: text of a span, key and year of a paper it cites, once each time."""
        papers = self._all_papers
        return ((text, *papers[paper]) for text, paper in self.pairs())

    @_with_plain_errors
    def pairs(self) -> Iterator[tuple[str, int]]:
        """The text of each span of section 5.2 with each paper it cites, once each time it does."""
        spans = read_columns(self._store["spans"], ["id", "text"])
        texts = dict(zip(spans["id"].to_pylist(), spans["text"].to_pylist(), strict=True))
        columns = ["document", "place", "span", "paper"]
        rows = read_columns(self._store["citations"], columns, "kind != 'context'")
        rows = rows.sort_by([(name, "ascending") for name in columns])
        same_as = self._same_as
        cited = zip(rows["span"].to_pylist(), rows["paper"].to_pylist(), strict=True)
        return ((texts[span], same_as.get(version, version)) for span, version in cited)

    @_with_plain_errors
    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of the library's paper for each reference, where it has the paper."""
        return KnownPapers(self._store).find(references)

    def _span_target(self, k: int) -> SearchTarget:
        return SearchTarget(self._searchable[0], self._spans, k)

    def _paper_target(self, k: int) -> SearchTarget:
        return SearchTarget(self._searchable[1], self._papers, k)

    def _paper_hits(self, hits: SearchHits) -> list[PaperHit]:
        best: dict[int, PaperHit] = {}
        columns = (hits.ids.tolist(), hits.texts, hits.cosines.tolist(), hits.lexical.tolist())
        for version, text, cosine, lexical in zip(*columns, strict=True):
            if not text:
                continue  # neither title nor abstract: its vector is that of nothing
            paper = self._paper_of(version)
            previous = best.get(paper)
            best[paper] = PaperHit(
                paper,
                max(cosine, previous.cosine if previous else -1.0),
                max(lexical, previous.lexical if previous else 0.0),
            )
        return [best[paper] for paper in sorted(best)]

    def _support(self, citations: pa.Table) -> SupportCounts:
        papers = [self._paper_of(version) for version in citations["paper"].to_pylist()]
        return SupportCounts.count(
            np.array(papers, np.int64), citations["document"].to_numpy(), citations["place"].to_numpy()
        )

    def _paper_of(self, version: int) -> int:
        return self._same_as.get(version, version)

    @cached_property
    def _same_as(self) -> dict[int, int]:
        if self._copy:
            return self._copy.same_as
        rows = read_columns(self._store["papers"], ["id", "same_as"], "id != same_as")
        return dict(zip(rows["id"].to_pylist(), rows["same_as"].to_pylist(), strict=True))

    @cached_property
    def _versions(self) -> dict[int, list[int]]:
        versions: defaultdict[int, list[int]] = defaultdict(list)
        for version, paper in self._same_as.items():
            versions[paper].append(version)
        return dict(versions)

    @cached_property
    def _all_papers(self) -> dict[int, tuple[str, int | None]]:
        rows = read_columns(self._store["papers"], ["id", "key", "year"])
        return {row["id"]: (row["key"], row["year"]) for row in rows.to_pylist()}


def _span_hits(hits: SearchHits) -> list[SpanHit]:
    columns = (hits.ids.tolist(), hits.texts, hits.cosines.tolist(), hits.lexical.tolist())
    return [SpanHit(*row) for row in zip(*columns, strict=True)]


def _size(folder: Path) -> int:
    """The bytes of all files in a folder; what a writer drops just now counts as nothing."""
    size = 0
    for directory, _, files in os.walk(folder):
        for file in files:
            with suppress(FileNotFoundError):
                size += Path(directory, file).stat().st_size
    return size
