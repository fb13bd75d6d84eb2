"""What a check found out is kept, and whatever happens to the file, nothing fails."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from whycite.check.memory import Memory, memory_key


def test_values_come_back_in_another_process_of_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "checks.sqlite"
    Memory(file).put({memory_key("a", 1): [0.5, "é"], memory_key("b"): {"x": None}})
    assert Memory(file).get([memory_key("a", 1), memory_key("c")]) == {memory_key("a", 1): [0.5, "é"]}


def test_keys_tell_everything_apart() -> None:
    assert (
        len(
            {
                memory_key("ab", "c"),
                memory_key("a", "bc"),
                memory_key("a", ["bc"]),
                memory_key("abc"),
                memory_key("a", "bc", None),
            }
        )
        == 5
    )


def test_the_oldest_go_where_there_is_no_room(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "checks.sqlite", limit=60_000)
    for ten in range(0, 100, 10):
        memory.put({memory_key(number): "x" * 1000 for number in range(ten, ten + 10)})
    kept = memory.get([memory_key(number) for number in range(100)])
    assert memory_key(99) in kept
    assert memory_key(0) not in kept
    assert 10 < len(kept) < 60


def test_a_file_that_is_none_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "checks.sqlite"
    file.write_bytes(b"no database at all, and long enough to be sure of it" * 100)
    memory = Memory(file)
    with caplog.at_level(logging.WARNING, "whycite"):
        memory.put({memory_key(1): 1})
        assert memory.get([memory_key(1)]) == {}
    assert len(caplog.records) == 1
    assert "cannot use the cache" in caplog.text


def test_values_of_earlier_versions_are_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "checks.sqlite"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE known (age INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value TEXT NOT NULL)")
        rows = [(memory_key(1), "[1]"), (memory_key(2), b"\xff")]
        database.executemany("INSERT INTO known (key, value) VALUES (?, CAST(? AS TEXT))", rows)
    assert Memory(file).get([memory_key(1), memory_key(2)]) == {}
    Memory(file).put({memory_key(1): [2]})
    assert Memory(file).get([memory_key(1)]) == {memory_key(1): [2]}
    assert not caplog.records
