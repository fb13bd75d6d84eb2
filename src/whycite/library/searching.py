"""Searching a table by words and by meaning at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from whycite.library.query import ROW, take
from whycite.library.store import Table

__all__ = ["Found", "cosines", "search"]

Floats = NDArray[np.float32]
_PROBES = 100  # partitions of the vectors that are looked at: all of 400,000 vectors, 40 % of a million
_WORDS = 200  # of a claim that are searched
_TIES = (32, 1_000)  # rows asked for beyond the best: which of equally good ones come is left to chance
_POOL = ThreadPoolExecutor(4, thread_name_prefix="search")


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that a search found, by id, with what speaks for each."""

    ids: NDArray[np.int64]
    cosines: Floats
    lexical: Floats  # BM25; 0 where only the vectors found the row
    rows: pa.Table


def search(table: Table, text: str, vector: Floats, k: int, *columns: str) -> Found:
    """The k best rows by words together with the k best by meaning, in the order of their ids, with some columns."""
    by_words = _POOL.submit(_by_words, table, text, k)
    by_meaning = _by_meaning(table, vector, k)
    scores = by_words.result()
    rows = take(table, [*(scores.keys() | by_meaning)], ["id", "vector", *columns]).sort_by("id")
    places = rows[ROW].to_pylist()
    lexical = np.array([scores.get(place, 0.0) for place in places], np.float32)
    lexical[np.lexsort((rows["id"].to_numpy(), -lexical))[k:]] = 0  # of equally good ones those with the lowest ids
    found = np.array([place in by_meaning for place in places], bool) | (lexical > 0)
    rows, lexical = rows.filter(found), lexical[found]
    return Found(rows["id"].to_numpy(), cosines(rows, vector), lexical, rows)


def cosines(rows: pa.Table, vector: Floats) -> Floats:
    """How near the vectors of rows are to a vector."""
    column = rows["vector"].combine_chunks()
    matrix = column.flatten().to_numpy().astype(np.float32).reshape(len(rows), column.type.list_size)
    # Not a matrix product: the last digits of one depend on the rows beside, and on the number of threads.
    found: Floats = (matrix * vector.astype(np.float32)).sum(axis=1)
    return found


def _by_words(table: Table, text: str, k: int) -> dict[int, float]:
    """The scores of the k best rows, and of all that are as good as the last of these, by their places."""
    words = " ".join(dict.fromkeys(text.split()[: _WORDS * 5]))
    query = MatchQuery(" ".join(words.split()[:_WORDS]), "text")  # type: ignore[call-arg]  # its fields have defaults
    for more in _TIES:
        asked = table.search(query, query_type="fts").limit(k + more)
        rows = asked.with_row_id(True).select([ROW, "_score"]).to_arrow()
        scores = rows["_score"].to_numpy()
        if len(rows) < k + more or np.count_nonzero(scores > scores.min()) >= k:
            break
    last = np.sort(scores)[-k:].min(initial=np.inf)
    rows = rows.filter(scores >= last)
    return dict(zip(rows[ROW].to_pylist(), rows["_score"].to_pylist(), strict=True))


def _by_meaning(table: Table, vector: Floats, k: int) -> set[int]:
    """The places of the k best rows."""
    query = table.search(vector.astype(np.float32), vector_column_name="vector").distance_type("dot")
    rows = query.nprobes(_PROBES).limit(k).with_row_id(True).select([ROW, "_distance"]).to_arrow()
    return {*rows[ROW].to_pylist()}
