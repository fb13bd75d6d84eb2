"""Rows of tables by id, by place, and all of them."""

from collections.abc import Sequence
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from whycite.library.tables import ROW, read_columns, rows_at, rows_by_id

SCHEMA = pa.schema([("id", pa.int64()), ("word", pa.string())])
STORED = [5, 3, 9, 3, *range(20, 12, -1), *range(11, 0, -1), 2**62, -7, 3, 14]


def rows_of(ids: Sequence[int]) -> pa.Table:
    rows = [{"id": id, "word": "ab"[index % 2] if index % 5 else None} for index, id in enumerate(ids)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A table of several pieces, with ids that come twice and rows that are gone."""
    table = lancedb.connect(tmp_path_factory.mktemp("tables")).create_table("rows", rows_of([5, 3, 9, 3]))
    table.add(rows_of([*range(20, 0, -1), 2**62]))
    table.add(rows_of([-7, 3, 14]))
    table.delete("id = 12")
    return table


def test_rows_by_id_are_all_that_have_one_of_the_ids(table: Any) -> None:
    assert rows_by_id(table, "id", [3, 9, 12, 2**62, 77], ["id"])["id"].to_pylist() == [3, 9, 3, 9, 3, 2**62, 3]
    assert len(rows_by_id(table, "id", range(9_000), ["id"])) == len(STORED) - 2  # in several queries
    assert rows_by_id(table, "id", [], ["word", "id"]).schema == pa.schema([SCHEMA.field("word"), SCHEMA.field("id")])


def test_rows_at_places_come_in_the_order_of_the_table(table: Any) -> None:
    places = read_columns(table, [ROW, "id"])
    rows = rows_at(table, places[ROW].to_pylist()[::-1], ["word", "id"])
    assert rows["id"].to_pylist() == places["id"].to_pylist()
    assert rows[ROW].to_pylist() == places[ROW].to_pylist()
    assert rows_at(table, [], ["word"]).schema.names == ["word", ROW]


def test_all_of_a_table_or_what_a_condition_holds_for(table: Any) -> None:
    assert read_columns(table, ["id"])["id"].to_pylist() == STORED
    assert read_columns(table, ["word", "id"], "id > 18").to_pydict() == {
        "word": [None, "b", None],
        "id": [20, 19, 2**62],
    }
