"""The rows of a library at one commit, and searches among them by words and by meaning.

The last commit of `add`, `remove`, `reindex` or `compact` has a reading copy, which is fast. Without one (during a long
`add`, or in a library of an older version) the tables give the same answers in two and a half times the processor time
(133 instead of 51 ms at 445,000 spans).
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from lancedb.background_loop import LOOP
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from whycite.library.readingcopy import CopyDamage, open_copy
from whycite.library.store import AsyncTable, Store
from whycite.library.tables import (
    MAX_QUERY_IDS,
    ROW,
    SupportCounts,
    id_condition,
    read_columns,
    rows_at,
    rows_by_id,
)

__all__ = ["SCORE", "SearchHits", "Snapshot", "cosines", "search_passages", "search_tables"]


_LOG = logging.getLogger("whycite")
_SUPPORT_COLUMNS = ("paper", "document", "place")

Floats = NDArray[np.float32]
T = TypeVar("T")
SCORE = "_score"  # the column with the BM25 score of a row
_PROBES = 40  # partitions of 4,000 vectors searched: all of a library of 160,000, a sixth of a million
_OVERFETCH = 2  # times k candidates are compared exactly, since the index has rounded vectors
_MAX_WORDS = 200  # of a text that are searched
_MAX_SCANNED_WORDS = 5 * _MAX_WORDS  # of a text that are read to find them, since words repeat
_TIES = (32, 1_000)  # rows fetched beyond the k best, since LanceDB picks arbitrarily among ties


class Snapshot:
    """The rows of a library at one commit, unaffected by later writes."""

    def __init__(self, store: Store) -> None:
        store.checkout_commit()
        self._store = store
        names = [name for name in ("spans", "papers", "passages", "documents") if name in store.names]
        self.async_tables = dict(zip(names, store.open_async(*names), strict=True))
        self.reading_copy = open_copy(store.path, store.commit)
        self._columns: dict[str, frozenset[str]] = {}

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


def search_tables(
    snapshot: Snapshot, text: str, meaning: Callable[[], Floats], limits: Mapping[str, int]
) -> list[SearchHits]:
    """The best rows of each table by words and by meaning, in the order of their ids.

    `limits` maps tables to the number of rows to find in each way. `meaning` returns the vector of the text; it is
    called while the words are searched.
    """
    # LanceDB's blocking interface needs a thread for each query, and 50 % more processor time.
    by_words = _start_searches(_search_words(snapshot.async_tables[name], text, k) for name, k in limits.items())
    try:
        vector = meaning()
        by_meaning = _start_searches(
            _search_vectors(snapshot.async_tables[name], vector, k) for name, k in limits.items()
        )
        matches = zip(limits.items(), by_words.result(), by_meaning.result(), strict=True)
    except BaseException:
        by_words.cancel()
        raise
    return [_fetch_hits(snapshot, name, k, vector, rows, near) for (name, k), rows, near in matches]


def search_passages(snapshot: Snapshot, text: str, k: int, columns: Sequence[str]) -> Future[list[pa.Table]]:
    """Start a search for passages by words: the best with their scores, in a list that is empty without passages."""
    tables = [snapshot.async_tables["passages"]] if k and "passages" in snapshot.async_tables else []
    return _start_searches(_search_words(table, text, k, columns) for table in tables)


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


def _fetch_hits(
    snapshot: Snapshot, table: str, k: int, vector: Floats, by_words: pa.Table, near: set[int]
) -> SearchHits:
    """The k best rows by words and by meaning among the places found."""
    scores = dict(zip(by_words[ROW].to_pylist(), by_words[SCORE].to_pylist(), strict=True))
    rows = snapshot.rows_at(table, [*(scores.keys() | near)], ["id", "vector", "text"]).sort_by("id")
    places, cosine = rows[ROW].to_pylist(), cosines(rows, vector)
    lexical = np.array([scores.get(place, 0.0) for place in places], np.float32)
    lexical[_beyond(lexical, k)] = 0
    nearest = np.array([place in near for place in places], bool)
    nearest[_beyond(np.where(nearest, cosine, -np.inf), k)] = False
    is_hit = nearest | (lexical > 0)
    rows = rows.filter(is_hit)
    return SearchHits(rows["id"].to_numpy(), rows["text"].to_pylist(), cosine[is_hit], lexical[is_hit])


def _beyond(values: NDArray[np.floating[Any]], k: int) -> NDArray[np.int64]:
    """The positions of values that are not among the k best; ties go to the first."""
    return np.argsort(-values, kind="stable")[k:]


async def _search_words(table: AsyncTable, text: str, k: int, columns: Sequence[str] = ()) -> pa.Table:
    """The k best rows, and all that tie with the last of them: their places, scores and columns."""
    words = [*dict.fromkeys(text.split()[:_MAX_SCANNED_WORDS])][:_MAX_WORDS]
    query = MatchQuery(" ".join(words), "text")  # type: ignore[call-arg]  # its fields have defaults
    for extra in _TIES:
        request = table.query().nearest_to_text(query).limit(k + extra)
        rows = await request.with_row_id().select([ROW, SCORE, *columns]).to_arrow()
        scores = rows[SCORE].to_numpy()
        if len(rows) < k + extra or np.count_nonzero(scores > scores.min()) >= k:
            break
    threshold = np.sort(scores)[-k:].min(initial=np.inf)
    return rows.filter(scores >= threshold)


async def _search_vectors(table: AsyncTable, vector: Floats, k: int) -> set[int]:
    """The places of candidate rows that contain the k best, as far as the index can tell."""
    query = table.query().nearest_to(vector.astype(np.float32)).column("vector").distance_type("dot")
    rows = await query.nprobes(_PROBES).limit(_OVERFETCH * k).with_row_id().select([ROW, "_distance"]).to_arrow()
    return {*rows[ROW].to_pylist()}
