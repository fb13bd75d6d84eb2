"""Tables that are asked often: after the first few questions what is asked for is kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.library.query import ROW, Asked, scanned
from whycite.library.store import Table

__all__ = ["Kept"]

_SELDOM = 4  # questions that the table itself answers: who asks no more than these need not wait until it is read
_MOST = 5_000_000  # rows that are kept; of citations a million takes 60 MB

_WORD = pa.dictionary(pa.int16(), pa.string())

Integers = NDArray[np.int64]


class Kept(Asked):
    """A table of which some columns are kept; what else is asked for is read at the places of the rows."""

    def __init__(
        self,
        table: Table,
        by: Sequence[str],
        numbers: Sequence[str] = (),
        words: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> None:
        """`by`: ids by which rows are asked for; numbers are never missing; words are few and come again and again."""
        super().__init__(table)
        self._by, self._numbers, self._words = by, [*by, *numbers], words
        self._columns = [*self._numbers, *words, *others]
        self._asked = 0
        self._lock = Lock()

    def matching(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose column holds one of the ids, in the order of the table."""
        self._asked += 1
        if self._asked <= _SELDOM or self._number > _MOST:
            return super().matching(column, ids, columns)
        places = self._places(column, ids)  # first: it takes care that one thread alone reads the rows
        found = self._rows.take(places)
        if absent := [name for name in columns if name not in self._columns]:
            found = found.sort_by(ROW)
            taken = self.take(found[ROW].to_pylist(), absent)
            for name in absent:
                found = found.append_column(name, taken[name])
        return found.select(list(columns)).cast(pa.schema([self._schema.field(name) for name in columns]))

    def _places(self, column: str, ids: Sequence[int]) -> Integers:
        """Where in memory the rows are."""
        with self._lock:  # two threads that ask at once would both read all
            values, order = self._sorted[column]
        wanted = np.unique(np.array(ids, np.int64))
        begins, ends = (np.searchsorted(values, wanted, side, order).tolist() for side in ("left", "right"))
        runs = [order[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return np.sort(np.concatenate([*runs, np.empty(0, np.int64)]))

    @cached_property
    def _number(self) -> int:
        return int(self._table.count_rows())

    @cached_property
    def _schema(self) -> pa.Schema:
        return self._table.schema

    @cached_property
    def _rows(self) -> pa.Table:
        types = {**dict(zip(self._schema.names, self._schema.types, strict=True)), ROW: pa.uint64()}
        types |= dict.fromkeys(self._words, _WORD)
        # Filled in place: what is put together of parts is there twice for a while.
        numbers = {name: np.empty(self._number, types[name].to_pandas_dtype()) for name in self._numbers}
        others = {name: [pa.array([], types[name])] for name in self._columns if name not in numbers}
        at = 0
        for batch in scanned(self._table, self._columns):
            for name, values in numbers.items():
                values[at : at + len(batch)] = batch[name].to_numpy()
            for name, parts in others.items():
                parts.append(_copy(batch[name].cast(types[name])))
            at += len(batch)
        joined = {name: pa.chunked_array(parts).unify_dictionaries().combine_chunks() for name, parts in others.items()}
        return pa.table({**numbers, **joined})

    @cached_property
    def _sorted(self) -> dict[str, tuple[Integers, Integers]]:
        """For each column of ids its values, and the order in which they ascend."""
        columns = {name: self._rows[name].chunk(0).to_numpy() for name in self._by}
        return {name: (values, np.argsort(values)) for name, values in columns.items()}


def _copy(values: pa.Array) -> pa.Array:
    """The same in memory of its own: parts of a batch hold all of it."""
    return pa.concat_arrays([values, values[:0]])
