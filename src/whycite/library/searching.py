"""Searching tables by words and by meaning at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from lancedb.background_loop import LOOP
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from whycite.library.copied import Copied
from whycite.library.query import ROW, Asked
from whycite.library.store import AsyncTable

__all__ = ["Found", "Searched", "cosines", "search"]

Floats = NDArray[np.float32]
T = TypeVar("T")
_PROBES = 40  # partitions of the vectors that are looked at: all of 160,000 vectors, a quarter of a million
_NEAR = 2  # times as many rows as are wanted are compared by their own vectors, which the index knows only roughly
_WORDS = 200  # of a claim that are searched
_TIES = (32, 1_000)  # rows asked for beyond the best: which of equally good ones come is left to chance


@dataclass(frozen=True, slots=True)
class Searched:
    """A table that is searched, what has its rows, and how many of these are wanted by words and by meaning."""

    table: AsyncTable
    source: Asked | Copied
    k: int


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that a search found, by id, with what speaks for each."""

    ids: NDArray[np.int64]
    texts: Sequence[str]
    cosines: Floats
    lexical: Floats  # BM25; 0 where only the vectors found the row


def search(text: str, meaning: Callable[[], Floats], *wanted: Searched) -> list[Found]:
    """Of each table the k best rows by words together with the k best by meaning, in the order of their ids.

    The vector of what the text means is asked for while the words are searched.
    """
    # LanceDB's blocking interface would take a thread a question, and half as much processor time again.
    by_words = _begun(_by_words(each.table, text, each.k) for each in wanted)
    try:
        vector = meaning()
        by_meaning = _begun(_by_meaning(each.table, vector, each.k) for each in wanted)
        found = zip(wanted, by_words.result(), by_meaning.result(), strict=True)
    except BaseException:
        by_words.cancel()
        raise
    return [_fetched(each, vector, scores, near) for each, scores, near in found]


def cosines(rows: pa.Table, vector: Floats) -> Floats:
    """How near the vectors of rows are to a vector."""
    column = rows["vector"].combine_chunks()
    matrix = column.flatten().to_numpy().astype(np.float32).reshape(len(rows), column.type.list_size)
    # Not a matrix product: the last digits of one depend on the rows beside, and on the number of threads.
    found: Floats = (matrix * vector.astype(np.float32)).sum(axis=1)
    return found


def _begun(searches: Iterable[Coroutine[Any, Any, T]]) -> Future[list[T]]:
    """Searches that run beside us."""

    async def all_of_them() -> list[T]:
        return await asyncio.gather(*searches)

    return asyncio.run_coroutine_threadsafe(all_of_them(), LOOP.loop)


def _fetched(wanted: Searched, vector: Floats, scores: dict[int, float], near: set[int]) -> Found:
    """What the best of the rows hold that were found."""
    rows = wanted.source.take([*(scores.keys() | near)], ["id", "vector", "text"]).sort_by("id")
    places, cosine = rows[ROW].to_pylist(), cosines(rows, vector)
    lexical = np.array([scores.get(place, 0.0) for place in places], np.float32)
    lexical[_beyond(lexical, wanted.k)] = 0
    nearest = np.array([place in near for place in places], bool)
    nearest[_beyond(np.where(nearest, cosine, -np.inf), wanted.k)] = False
    found = nearest | (lexical > 0)
    rows = rows.filter(found)
    return Found(rows["id"].to_numpy(), rows["text"].to_pylist(), cosine[found], lexical[found])


def _beyond(values: NDArray[np.floating[Any]], k: int) -> NDArray[np.int64]:
    """Where values are that are not among the k best; of equal ones the first are better."""
    return np.argsort(-values, kind="stable")[k:]


async def _by_words(table: AsyncTable, text: str, k: int) -> dict[int, float]:
    """The scores of the k best rows, and of all that are as good as the last of these, by their places."""
    words = " ".join(dict.fromkeys(text.split()[: _WORDS * 5]))
    query = MatchQuery(" ".join(words.split()[:_WORDS]), "text")  # type: ignore[call-arg]  # its fields have defaults
    for more in _TIES:
        asked = table.query().nearest_to_text(query).limit(k + more)
        rows = await asked.with_row_id().select([ROW, "_score"]).to_arrow()
        scores = rows["_score"].to_numpy()
        if len(rows) < k + more or np.count_nonzero(scores > scores.min()) >= k:
            break
    last = np.sort(scores)[-k:].min(initial=np.inf)
    rows = rows.filter(scores >= last)
    return dict(zip(rows[ROW].to_pylist(), rows["_score"].to_pylist(), strict=True))


async def _by_meaning(table: AsyncTable, vector: Floats, k: int) -> set[int]:
    """The places of rows among which the k best are, as far as the index can tell."""
    query = table.query().nearest_to(vector.astype(np.float32)).column("vector").distance_type("dot")
    rows = await query.nprobes(_PROBES).limit(_NEAR * k).with_row_id().select([ROW, "_distance"]).to_arrow()
    return {*rows[ROW].to_pylist()}
