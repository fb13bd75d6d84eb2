"""The rows of a library at one commit, and searches among them by words and by meaning.

The last commit of `add`, `remove`, `reindex` or `compact` has a reading copy, which is fast. Without one (during a long
`add`, or in a library of an older version) the tables give the same answers in two and a half times the processor time
(133 instead of 51 ms at 445,000 spans).

A shard searches a part of the rows. It weighs words and finds neighbours by the indices of the whole tables, so that
the best of all shards, merged, are what a search of the whole library finds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from lancedb.background_loop import LOOP
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from whycite.errors import Busy
from whycite.library.paths import default_path, remote_address
from whycite.library.readingcopy import CopyDamage, open_copy
from whycite.library.store import AsyncTable, Store, open_store, plain_errors
from whycite.library.tables import (
    MAX_QUERY_IDS,
    ROW,
    SupportCounts,
    id_condition,
    read_columns,
    rows_at,
    rows_by_id,
)

__all__ = [
    "SCORE",
    "AskShards",
    "CandidateRows",
    "Search",
    "SearchCandidates",
    "SearchHits",
    "SearchRequest",
    "Shard",
    "Snapshot",
    "best_passages",
    "best_rows",
    "cosines",
    "search_shards",
    "search_snapshot",
    "search_tables",
]


_LOG = logging.getLogger("whycite")
_SUPPORT_COLUMNS = ("paper", "document", "place")

Floats = NDArray[np.float32]
T = TypeVar("T")
SCORE = "_score"  # the column with the BM25 score of a row
_DISTANCE = "_distance"  # the column with the distance of a row's vector
_PROBES = 40  # partitions of 4,000 vectors searched: all of a library of 160,000, a sixth of a million
_OVERFETCH = 2  # times k candidates are compared exactly, since the index has rounded vectors
_MAX_WORDS = 200  # of a text that are searched
_MAX_SCANNED_WORDS = 5 * _MAX_WORDS  # of a text that are read to find them, since words repeat
_OPEN_VERSIONS = 2  # of the library, in a shard
_TIES = (32, 1_000)  # rows fetched beyond the k best, since LanceDB picks arbitrarily among ties


class Snapshot:
    """The rows of a library at one commit, unaffected by later writes."""

    def __init__(self, store: Store, part: tuple[int, int] | None = None) -> None:
        """`part` limits searches: (0, 3) is the first third of the rows of each table. Rows are read from all of it."""
        store.checkout_commit()
        self._store = store
        names = [name for name in ("spans", "papers", "passages", "documents") if name in store.names]
        self.async_tables = dict(zip(names, store.open_async(*names), strict=True))
        self.reading_copy = open_copy(store.path, store.commit)
        self._columns: dict[str, frozenset[str]] = {}
        searched = (name for name in names if name != "documents")
        self.limits = {name: self._place_condition(name, *part) for name in searched} if part else {}

    def _place_condition(self, table: str, number: int, parts: int) -> str | None:
        """The condition that a row belongs to a part of a table; None if the part is empty."""
        places = np.sort(self.all_rows(table, [ROW])[ROW].to_numpy())
        part = np.array_split(places, parts)[number]
        return f"{ROW} >= {part[0]} AND {ROW} <= {part[-1]}" if len(part) else None

    def rows_by_id(self, table: str, column: str, ids: Iterable[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose column has one of the ids; citations by paper have only paper, document and place."""
        copy, unique_ids = self.reading_copy, sorted(set(ids))
        if table == "documents" and 0 < len(unique_ids) <= MAX_QUERY_IDS:
            # LanceDB's blocking interface takes 40 % longer for a few rows.
            query = self.async_tables[table].query().where(id_condition(column, unique_ids)).select(list(columns))
            return LOOP.run(query.to_arrow())  # type: ignore[no-untyped-call]
        if copy is None or table == "documents":
            return rows_by_id(self._store[table], column, unique_ids, columns)
        source = copy.citations if table == "citations" else copy.rows[table]
        try:
            return source.rows_by_id(column, unique_ids, columns)
        except CopyDamage as error:
            self._give_up_copy(error)
            return rows_by_id(self._store[table], column, unique_ids, columns)

    def rows_at(self, table: str, places: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows at these places of a searchable table, each once and in its order, with their places."""
        if self.reading_copy and table in self.reading_copy.rows:
            try:
                return self.reading_copy.rows[table].rows_at(places, columns)
            except CopyDamage as error:
                self._give_up_copy(error)
        return rows_at(self._store[table], places, columns)

    def _give_up_copy(self, error: CopyDamage) -> None:
        """Use the tables from now on, which have the same rows."""
        _LOG.warning("%s", error)
        self.reading_copy = None

    def all_rows(self, table: str, columns: Sequence[str], where: str | None = None) -> pa.Table:
        """All rows of a table, or those that meet a condition."""
        return read_columns(self._store[table], columns, where)

    def has_column(self, table: str, column: str) -> bool:
        """Whether a table has a column, which libraries of older versions may lack."""
        if table not in self._columns:  # asking the table takes milliseconds
            self._columns[table] = frozenset(self._store[table].schema.names)
        return column in self._columns[table]

    def paper_of(self, version: int) -> int:
        """The version that stands for the paper of this one."""
        return self.same_as.get(version, version)

    def versions_of(self, papers: Iterable[int]) -> set[int]:
        """All versions of papers."""
        return {version for paper in papers for version in (paper, *self._versions.get(paper, ()))}

    def support(self, papers: Sequence[int] | None = None) -> SupportCounts:
        """The number of places that cite papers, in any version; by default all papers."""
        if self.reading_copy:
            return self.reading_copy.support
        if papers is None:
            rows = self.all_rows("citations", _SUPPORT_COLUMNS)
        else:
            rows = self.rows_by_id("citations", "paper", self.versions_of(papers), _SUPPORT_COLUMNS)
        cited = np.array([self.paper_of(version) for version in rows["paper"].to_pylist()], np.int64)
        return SupportCounts.count(cited, rows["document"].to_numpy(), rows["place"].to_numpy())

    @cached_property
    def same_as(self) -> dict[int, int]:
        """The version that stands for each version of a paper, if it is another."""
        if self.reading_copy:
            return self.reading_copy.same_as
        rows = self.all_rows("papers", ["id", "same_as"], "id != same_as")
        return dict(zip(rows["id"].to_pylist(), rows["same_as"].to_pylist(), strict=True))

    @cached_property
    def _versions(self) -> dict[int, list[int]]:
        versions: defaultdict[int, list[int]] = defaultdict(list)
        for version, paper in self.same_as.items():
            versions[paper].append(version)
        return dict(versions)


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Rows found by a search, by id, with their scores."""

    ids: NDArray[np.int64]
    texts: Sequence[str]
    cosines: Floats
    lexical: Floats  # BM25; 0 if found by its vector only


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """Rows among which the best of a table, or of a part of it, are; in the order of their ids."""

    ids: NDArray[np.int64]
    texts: Sequence[str]
    cosines: Floats
    scores: Floats  # BM25; 0 if not found by words
    distances: Floats  # as the index rounds them; infinite if not found by meaning


@dataclass(frozen=True, slots=True)
class SearchCandidates:
    """What a search of a library, or of a part of it, considers."""

    tables: Sequence[CandidateRows]
    passages: Sequence[pa.Table]  # one with the best passages, or none in a library without passages


class Search(Protocol):
    """Searches for a text: some tables by words and by meaning, passages by words."""

    def __call__(
        self, text: str, meaning: Callable[[], Floats], limits: Mapping[str, int], passages: int, columns: Sequence[str]
    ) -> SearchCandidates: ...


def search_snapshot(
    snapshot: Snapshot,
    text: str,
    meaning: Callable[[], Floats],
    limits: Mapping[str, int],
    passages: int = 0,
    columns: Sequence[str] = (),
) -> SearchCandidates:
    """Candidates for the best rows of each table, and for the best passages, which get these columns.

    `limits` maps tables to the number of rows to find in each way. `meaning` returns the vector of the text; it is
    called while the words are searched.
    """
    has_passages = bool(passages) and "passages" in snapshot.async_tables
    passage_search = _start_searches(
        _search_words(snapshot, name, text, passages, columns) for name in ("passages",) * has_passages
    )
    tables = search_tables(snapshot, text, meaning, limits)
    return SearchCandidates(tables, passage_search.result())


def search_tables(
    snapshot: Snapshot, text: str, meaning: Callable[[], Floats], limits: Mapping[str, int]
) -> list[CandidateRows]:
    """Candidates for the best rows of each table; see `search_snapshot`."""
    # LanceDB's blocking interface needs a thread for each query, and 50 % more processor time.
    by_words = _start_searches(_search_words(snapshot, name, text, k) for name, k in limits.items())
    try:
        vector = meaning()
        by_meaning = _start_searches(_search_vectors(snapshot, name, vector, k) for name, k in limits.items())
        matches = zip(limits, by_words.result(), by_meaning.result(), strict=True)
    except BaseException:
        by_words.cancel()
        raise
    return [_candidates(snapshot, name, vector, rows, near) for name, rows, near in matches]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a shard is asked: the version of the library to search, and the arguments of `search_snapshot`."""

    version: int
    text: str
    vector: Floats
    limits: Mapping[str, int]
    passages: int
    columns: Sequence[str]


AskShards = Callable[[SearchRequest], Sequence[SearchCandidates]]
"""Asks every shard of a library and returns all answers; raises an error if one of them is missing."""


class Shard:
    """A part of a library, which searches its rows at the version that is asked for."""

    def __init__(self, path: Path | str | None, number: int, parts: int) -> None:
        self._path = Path(path) if path is not None else default_path()
        self._part = number, parts
        self._lock = Lock()
        self._snapshots: dict[int, Snapshot] = {}

    def search(self, request: SearchRequest) -> SearchCandidates:
        """The candidates among the rows of this part."""
        snapshot, vector = self._at(request.version), request.vector
        return search_snapshot(
            snapshot, request.text, lambda: vector, request.limits, request.passages, request.columns
        )

    def _at(self, version: int) -> Snapshot:
        """The library at a version; the last few stay open, since not everybody moves to a new one at once."""
        with self._lock:
            if version not in self._snapshots:
                self._snapshots[version] = self._open(version)
                for older in [*self._snapshots][:-_OPEN_VERSIONS]:
                    del self._snapshots[older]
            return self._snapshots[version]

    def _open(self, version: int) -> Snapshot:
        if (address := remote_address(self._path)) is not None:
            from whycite.library.publishing import mirror

            place = mirror(address)
        else:
            place = self._path.expanduser()
        with plain_errors(place):
            store = open_store(place)
            commits = {} if store is None else {commit.number: commit for commit in store.commits()}
            # The copy of a published library has the files of its last commit alone.
            is_there = store is not None and version in ({store.commit.number} if address else commits)
            if store is None or not is_there:
                raise Busy(f"{place}: does not have version {version} of the library here; try again in a moment")
            store.commit = commits[version]
            return Snapshot(store, self._part)


def search_shards(
    ask: AskShards,
    version: int,
    text: str,
    meaning: Callable[[], Floats],
    limits: Mapping[str, int],
    passages: int = 0,
    columns: Sequence[str] = (),
) -> SearchCandidates:
    """Like `search_snapshot`, by the shards of the library: what they find together are the candidates of the whole."""
    shards = ask(SearchRequest(version, text, meaning(), limits, passages, columns))
    tables = [_merge_rows(parts) for parts in zip(*(shard.tables for shard in shards), strict=True)]
    rows = [table for shard in shards for table in shard.passages]
    return SearchCandidates(tables, [best_passages(pa.concat_tables(rows), passages)] if rows else [])


def _merge_rows(parts: Sequence[CandidateRows]) -> CandidateRows:
    ids = np.concatenate([part.ids for part in parts])
    order = np.argsort(ids, kind="stable")
    texts = [text for part in parts for text in part.texts]
    numbers = (
        np.concatenate([getattr(part, name) for part in parts])[order] for name in ("cosines", "scores", "distances")
    )
    return CandidateRows(ids[order], [texts[position] for position in order.tolist()], *numbers)


def best_rows(candidates: CandidateRows, k: int) -> SearchHits:
    """The k best rows by words and the k best by meaning."""
    lexical = candidates.scores.copy()
    lexical[_beyond(lexical, k)] = 0
    # As many as one search of the whole index considers, although each part of it brought as many.
    nearest = np.isfinite(candidates.distances)
    nearest[_beyond(-candidates.distances, _OVERFETCH * k)] = False
    nearest[_beyond(np.where(nearest, candidates.cosines, -np.inf), k)] = False
    is_hit = nearest | (lexical > 0)
    positions = np.flatnonzero(is_hit).tolist()
    texts = [candidates.texts[position] for position in positions]
    return SearchHits(candidates.ids[is_hit], texts, candidates.cosines[is_hit], lexical[is_hit])


def best_passages(rows: pa.Table, k: int) -> pa.Table:
    """The k best rows by words, and all that tie with the last of them."""
    scores = rows[SCORE].to_numpy()
    return rows.filter(scores >= np.sort(scores)[-k:].min(initial=np.inf))


def cosines(rows: pa.Table, vector: Floats) -> Floats:
    """The cosine of each row's vector with a vector."""
    column = rows["vector"].combine_chunks()
    matrix = column.flatten().to_numpy().astype(np.float32).reshape(len(rows), column.type.list_size)
    # Not a matrix product: its last digits depend on the neighbouring rows and on the number of threads.
    similarities: Floats = (matrix * vector.astype(np.float32)).sum(axis=1)
    return similarities


def _start_searches(searches: Iterable[Coroutine[Any, Any, T]]) -> Future[list[T]]:
    """Start searches in the background."""

    async def gather_all() -> list[T]:
        return await asyncio.gather(*searches)

    return asyncio.run_coroutine_threadsafe(gather_all(), LOOP.loop)


def _candidates(
    snapshot: Snapshot, table: str, vector: Floats, by_words: pa.Table, by_meaning: pa.Table
) -> CandidateRows:
    """The rows that were found, with what tells which are the best."""
    scores = dict(zip(by_words[ROW].to_pylist(), by_words[SCORE].to_pylist(), strict=True))
    distances = dict(zip(by_meaning[ROW].to_pylist(), by_meaning[_DISTANCE].to_pylist(), strict=True))
    rows = snapshot.rows_at(table, [*(scores.keys() | distances.keys())], ["id", "vector", "text"]).sort_by("id")
    places = rows[ROW].to_pylist()
    return CandidateRows(
        rows["id"].to_numpy(),
        rows["text"].to_pylist(),
        cosines(rows, vector),
        np.array([scores.get(place, 0.0) for place in places], np.float32),
        np.array([distances.get(place, np.inf) for place in places], np.float32),
    )


def _beyond(values: NDArray[np.floating[Any]], k: int) -> NDArray[np.int64]:
    """The positions of values that are not among the k best; ties go to the first."""
    return np.argsort(-values, kind="stable")[k:]


async def _search_words(snapshot: Snapshot, name: str, text: str, k: int, columns: Sequence[str] = ()) -> pa.Table:
    """The k best rows, and all that tie with the last of them: their places, scores and columns."""
    words = [*dict.fromkeys(text.split()[:_MAX_SCANNED_WORDS])][:_MAX_WORDS]
    query = MatchQuery(" ".join(words), "text")  # type: ignore[call-arg]  # its fields have defaults
    table: AsyncTable = snapshot.async_tables[name]
    for extra in _TIES:
        request = _limited(snapshot, name, table.query().nearest_to_text(query)).limit(k + extra)
        rows = await request.with_row_id().select([ROW, SCORE, *columns]).to_arrow()
        scores = rows[SCORE].to_numpy()
        if len(rows) < k + extra or np.count_nonzero(scores > scores.min()) >= k:
            break
    return best_passages(rows, k)


async def _search_vectors(snapshot: Snapshot, name: str, vector: Floats, k: int) -> pa.Table:
    """The places of candidate rows that contain the k best, as far as the index can tell, and their distances."""
    table: AsyncTable = snapshot.async_tables[name]
    query = table.query().nearest_to(vector.astype(np.float32)).column("vector").distance_type("dot")
    request = _limited(snapshot, name, query).nprobes(_PROBES).limit(_OVERFETCH * k)
    return await request.with_row_id().select([ROW, _DISTANCE]).to_arrow()


def _limited(snapshot: Snapshot, name: str, query: Any) -> Any:
    """A query limited to the part of a table that the snapshot searches, by a condition that comes before ranking."""
    if name not in snapshot.limits:
        return query
    return query.where(snapshot.limits[name] or "false")
