"""Work on several threads, in order."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from whycite.cli.batch import map_in_order
from whycite.errors import UserError


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 5))
def test_results_come_in_the_order_of_the_things(delays: list[int], threads: int) -> None:
    def work(thing: tuple[int, int]) -> int:
        time.sleep(thing[1] / 1000)
        return thing[0]

    assert list(map_in_order(enumerate(delays), work, threads)) == list(range(len(delays)))


def test_results_before_a_failure_come_first() -> None:
    def work(thing: int) -> int:
        if thing == 3:
            raise UserError("three")
        return thing

    results = map_in_order(range(100), work, 4)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(UserError, match="three"):
        next(results)


def test_things_that_end_with_an_error() -> None:
    def things() -> Iterator[int]:
        yield 1
        raise UserError("no more")

    results = map_in_order(things(), str, 2)
    assert next(results) == "1"
    with pytest.raises(UserError, match="no more"):
        next(results)


def test_several_threads_work_at_once() -> None:
    barrier = threading.Barrier(3)
    assert len(list(map_in_order(range(6), lambda thing: barrier.wait(20), 3))) == 6


def test_no_more_is_read_than_there_is_work_for() -> None:
    read = 0

    def things() -> Iterator[int]:
        nonlocal read
        for thing in range(10_000):
            read += 1
            yield thing

    results = map_in_order(things(), str, 2)
    assert next(results) == "0"
    time.sleep(0.05)
    assert read < 50


def test_things_that_end_with_an_error_nobody_thought_of() -> None:
    def things() -> Iterator[int]:
        yield 1
        raise ValueError("a stream that was closed")

    results = map_in_order(things(), str, 2)
    assert next(results) == "1"
    with pytest.raises(ValueError, match="closed"):
        next(results)


def test_a_file_closed_after_a_failure_while_it_is_read_is_no_news(tmp_path: Path) -> None:
    (tmp_path / "things").write_bytes(b"".join(b"%d\n" % number for number in range(1000)))
    closed, over = threading.Event(), threading.Event()

    def things(stream: IO[bytes]) -> Iterator[bytes]:
        try:
            yield stream.read(1)
            assert closed.wait(60)
            yield stream.read(1)
        finally:
            over.set()

    def work(thing: bytes) -> NoReturn:
        raise UserError("this is none")

    with pytest.raises(UserError, match="none"), (tmp_path / "things").open("rb") as stream:
        list(map_in_order(things(stream), work, 1))
    closed.set()  # pytest fails where a thread ends with an error
    assert over.wait(60)
