"""What is kept in memory answers as the table does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whycite.library import tablecache
from whycite.library.tablecache import CachedRows
from whycite.library.tables import ROW, matching, read_columns, scan_columns, take

SCHEMA = pa.schema([("id", pa.int64()), ("other", pa.int64()), ("word", pa.string()), ("texts", pa.list_(pa.string()))])
COLUMNS = ["other", "texts", "word", "id"]


def rows_of(ids: Sequence[int]) -> pa.Table:
    rows = [
        {"id": id, "other": id % 3, "word": "ab"[at % 2] if at % 5 else None, "texts": [f"text {at}"] * (at % 3)}
        for at, id in enumerate(ids)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A table of several pieces, with ids that come twice and rows that are gone."""
    made = lancedb.connect(tmp_path_factory.mktemp("kept")).create_table("rows", rows_of([5, 3, 9, 3]))
    made.add(rows_of([*range(20, 0, -1), 2**62]))
    made.add(rows_of([-7, 3, 14]))
    made.delete("id = 12")
    return made


def asked_often(table: Any) -> CachedRows:
    often = CachedRows(table, ["id", "other"], [ROW], ["word"])
    for _ in range(4):
        often.matching("id", [3], ["id"])
    return often


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["id", "other"]),
    st.lists(st.integers(-8, 22) | st.just(2**62), max_size=12),
    st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True),
)
def test_memory_answers_as_the_table_does(table: Any, column: str, ids: list[int], columns: list[str]) -> None:
    often = asked_often(table)
    answer = often.matching(column, ids, columns)
    expected = matching(table, column, ids, columns)
    assert "_rows" in often.__dict__
    assert answer.schema == expected.schema
    assert answer.to_pylist() == expected.to_pylist()


def test_nothing_is_read_for_few_questions(table: Any) -> None:
    often = CachedRows(table, ["id"], [ROW])
    for _ in range(4):
        assert often.matching("id", [3, 9], ["id"]).num_rows == 6
    assert "_rows" not in often.__dict__


def test_a_table_too_large_stays_on_disk(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tablecache, "_MAX_ROWS", 5)
    often = asked_often(table)
    assert often.matching("id", [3, 9], ["id"]).num_rows == 6
    assert "_rows" not in often.__dict__


def test_an_empty_table(tmp_path: Path) -> None:
    table = lancedb.connect(tmp_path).create_table("rows", schema=SCHEMA)
    often = asked_often(table)
    assert often.matching("id", [3], COLUMNS).num_rows == 0
    assert often.matching("id", [], COLUMNS).num_rows == 0


def test_rows_at_places_come_in_the_order_of_the_table(table: Any) -> None:
    places = read_columns(table, [ROW, "id"])
    rows = take(table, places[ROW].to_pylist()[::-1], ["word", "id"])
    assert rows["id"].to_pylist() == places["id"].to_pylist()
    assert rows[ROW].to_pylist() == places[ROW].to_pylist()
    assert take(table, [], ["word"]).schema.names == ["word", ROW]


def test_all_of_a_table_or_what_a_condition_holds_for(table: Any) -> None:
    ids = [5, 3, 9, 3, *range(20, 12, -1), *range(11, 0, -1), 2**62, -7, 3, 14]
    assert read_columns(table, ["id"])["id"].to_pylist() == ids
    assert read_columns(table, ["word", "id"], "id > 18").to_pydict() == {
        "word": [None, "b", None],
        "id": [20, 19, 2**62],
    }


def test_one_thread_alone_reads_the_rows(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[bool] = []

    often = CachedRows(table, ["id"], [ROW])

    def watched(*asked: Any) -> Any:
        alone.append(often._lock.locked())
        return scan_columns(*asked)

    monkeypatch.setattr(tablecache, "scan_columns", watched)
    for _ in range(6):
        assert often.matching("id", [5], ["id"])["id"].to_pylist() == [5, 5]
    assert alone == [True]
