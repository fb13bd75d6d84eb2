"""Small questions to a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

__all__ = ["among", "chunks", "matching"]

_AT_ONCE = 4_000  # ids in one question


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
        return pa.schema([table.schema.field(column) for column in columns]).empty_table()  # limit(0) is no limit
    parts = [table.search().where(among(column, some)).select(list(columns)).to_arrow() for some in chunks(ids)]
    return pa.concat_tables(parts)
