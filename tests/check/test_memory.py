"""What a check found out is kept, and whatever happens to the file, nothing fails."""

import logging
from pathlib import Path

import pytest

from whycite.check.memory import Memory, key_of


def test_values_come_back_in_another_process_of_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "checks.sqlite"
    Memory(file).put({key_of("a", 1): [0.5, "é"], key_of("b"): {"x": None}})
    assert Memory(file).get([key_of("a", 1), key_of("c")]) == {key_of("a", 1): [0.5, "é"]}


def test_keys_tell_everything_apart() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("a", ["bc"]), key_of("abc"), key_of("a", "bc", None)}) == 5


def test_the_oldest_go_where_there_is_no_room(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "checks.sqlite", limit=60_000)
    for ten in range(0, 100, 10):
        memory.put({key_of(number): "x" * 1000 for number in range(ten, ten + 10)})
    kept = memory.get([key_of(number) for number in range(100)])
    assert key_of(99) in kept
    assert key_of(0) not in kept
    assert 10 < len(kept) < 60


def test_a_file_that_is_none_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "checks.sqlite"
    file.write_bytes(b"no database at all, and long enough to be sure of it" * 100)
    memory = Memory(file)
    with caplog.at_level(logging.WARNING, "whycite"):
        memory.put({key_of(1): 1})
        assert memory.get([key_of(1)]) == {}
    assert len(caplog.records) == 1
    assert "checks.sqlite: cannot be used" in caplog.text
