"""Small questions to a table, and reading all of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

__all__ = ["ROW", "Asked", "among", "chunks", "matching", "scanned", "take", "whole"]

ROW = "_rowid"  # the column that says where in the table a row is
_PLACE = pa.field(ROW, pa.uint64())
_AT_ONCE = 4_000  # ids in one question
_BATCH = 20_000  # rows read together: in batches of the usual size a whole table takes ten times as long


class Asked:
    """A table that answers by itself."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def matching(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose column holds one of the ids, in the order of the table."""
        return matching(self._table, column, ids, columns)

    def take(self, places: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows at these places, each once and in the order of the table, with their places."""
        return take(self._table, places, columns)


def among(column: str, ids: Sequence[int]) -> str:
    """The condition that a column holds one of these ids."""
    return f"{column} IN ({', '.join(map(str, ids))})"


def chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """The ids in parts that one question can hold."""
    for at in range(0, len(ids), _AT_ONCE):
        yield ids[at : at + _AT_ONCE]


def matching(table: Any, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """The rows whose column holds one of the ids, in the order of the table."""
    if not ids:
        return _schema(table, columns).empty_table()  # limit(0) is no limit
    parts = [table.search().where(among(column, some)).select(list(columns)).to_arrow() for some in chunks(ids)]
    return pa.concat_tables(parts)


def take(table: Any, rows: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """The rows at these places, each once and in the order of the table, with their places."""
    if not rows:
        return _schema(table, [*columns, ROW]).empty_table()
    found: pa.Table = table.take_row_ids(list(rows)).with_row_id().select([*columns, ROW]).to_arrow()
    return found.sort_by(ROW)


def whole(table: Any, columns: Sequence[str], where: str | None = None) -> pa.Table:
    """Columns of all rows, or of those that a condition holds for, in the order of the table."""
    return pa.Table.from_batches(scanned(table, columns, where), _schema(table, columns))


def scanned(table: Any, columns: Sequence[str], where: str | None = None) -> Iterator[pa.RecordBatch]:
    """What `whole` gives, batch by batch."""
    query = table.search().select([name for name in columns if name != ROW]).with_row_id(ROW in columns)
    if where is not None:
        query = query.where(where)
    return (batch.select(list(columns)) for batch in query.to_batches(_BATCH))


def _schema(table: Any, columns: Sequence[str]) -> pa.Schema:
    schema = table.schema.append(_PLACE)
    return pa.schema([schema.field(column) for column in columns])
