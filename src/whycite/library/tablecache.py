"""Tables that are asked often: after the first few questions what is asked for is kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.library.store import Table
from whycite.library.tables import ROW, TableRows, scan_columns

__all__ = ["CachedRows"]

_UNCACHED_QUERIES = (
    4  # questions that the table itself answers: who asks no more than these need not wait until it is read
)
_MAX_ROWS = 5_000_000  # rows that are kept; of citations a million takes 60 MB

_WORD = pa.dictionary(pa.int16(), pa.string())

Integers = NDArray[np.int64]


class CachedRows(TableRows):
    """A table of which some columns are kept; what else is asked for is read at the places of the rows."""

    def __init__(
        self,
        table: Table,
        by: Sequence[str],
        numbers: Sequence[str] = (),
        words: Sequence[str] = (),
        other_columns: Sequence[str] = (),
    ) -> None:
        """`by`: ids by which rows are asked for; numbers are never missing; words are few and come again and again."""
        super().__init__(table)
        self._by, self._numbers, self._words = by, [*by, *numbers], words
        self._columns = [*self._numbers, *words, *other_columns]
        self._queries = 0
        self._lock = Lock()

    def matching(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose column holds one of the ids, in the order of the table."""
        self._queries += 1
        if self._queries <= _UNCACHED_QUERIES or self._row_count > _MAX_ROWS:
            return super().matching(column, ids, columns)
        places = self._places(column, ids)  # first: it takes care that one thread alone reads the rows
        rows = self._rows.take(places)
        if absent := [name for name in columns if name not in self._columns]:
            rows = rows.sort_by(ROW)
            absent_rows = self.take(rows[ROW].to_pylist(), absent)
            for name in absent:
                rows = rows.append_column(name, absent_rows[name])
        return rows.select(list(columns)).cast(pa.schema([self._schema.field(name) for name in columns]))

    def _places(self, column: str, ids: Sequence[int]) -> Integers:
        """Where in memory the rows are."""
        with self._lock:  # two threads that ask at once would both read all
            values, order = self._sorted[column]
        unique_ids = np.unique(np.array(ids, np.int64))
        begins, ends = (np.searchsorted(values, unique_ids, side, order).tolist() for side in ("left", "right"))
        runs = [order[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return np.sort(np.concatenate([*runs, np.empty(0, np.int64)]))

    @cached_property
    def _row_count(self) -> int:
        return int(self._table.count_rows())

    @cached_property
    def _schema(self) -> pa.Schema:
        return self._table.schema

    @cached_property
    def _rows(self) -> pa.Table:
        types = {**dict(zip(self._schema.names, self._schema.types, strict=True)), ROW: pa.uint64()}
        types |= dict.fromkeys(self._words, _WORD)
        # Filled in place: what is put together of parts is there twice for a while.
        numbers = {name: np.empty(self._row_count, types[name].to_pandas_dtype()) for name in self._numbers}
        other_parts = {name: [pa.array([], types[name])] for name in self._columns if name not in numbers}
        start = 0
        for batch in scan_columns(self._table, self._columns):
            for name, values in numbers.items():
                values[start : start + len(batch)] = batch[name].to_numpy()
            for name, parts in other_parts.items():
                parts.append(_copy(batch[name].cast(types[name])))
            start += len(batch)
        joined = {
            name: pa.chunked_array(parts).unify_dictionaries().combine_chunks() for name, parts in other_parts.items()
        }
        return pa.table({**numbers, **joined})

    @cached_property
    def _sorted(self) -> dict[str, tuple[Integers, Integers]]:
        """For each column of ids its values, and the order in which they ascend."""
        columns = {name: self._rows[name].chunk(0).to_numpy() for name in self._by}
        return {name: (values, np.argsort(values)) for name, values in columns.items()}


def _copy(values: pa.Array) -> pa.Array:
    """The same in memory of its own: parts of a batch hold all of it."""
    return pa.concat_arrays([values, values[:0]])
