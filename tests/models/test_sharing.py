"""Texts that claims have in common are encoded once, whoever asks and when."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fakes import FakeEncoder
from whycite.models.cache import SharedEncoder

PATIENCE = 30.0  # seconds: only a thread that hangs takes as long


class Letters(FakeEncoder):
    """Counts a and b; it may be held up or fail."""

    def __init__(self) -> None:
        super().__init__(lambda text: (text.count("a"), text.count("b")), name="letters@1")
        self.begun, self.free = Event(), Event()
        self.free.set()
        self.error: BaseException | None = None

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        vectors = super().encode(texts)
        self.begun.set()
        assert self.free.wait(PATIENCE)
        if self.error:
            raise self.error
        return vectors


def test_vectors_are_those_of_the_encoder_and_come_in_order() -> None:
    letters = Letters()
    shared = SharedEncoder(letters)
    assert (shared.name, shared.dimensions) == ("letters@1", 2)
    assert shared.encode(["ab", "b", "ab"]).tolist() == [[1, 1], [0, 1], [1, 1]]
    heard: list[int] = []
    again = shared.encode(["aa", "ab"], heard.append)
    assert again.tolist() == [[2, 0], [1, 1]]
    assert again.dtype == np.float32
    assert heard == [2]
    assert letters.calls == [["ab", "b"], ["aa"]]
    assert shared.encode([]).shape == (0, 2)


def test_the_last_texts_are_known_the_others_forgotten() -> None:
    letters = Letters()
    shared = SharedEncoder(letters)
    for number in range(100):
        shared.encode(["title", "a" * number])
    assert sum("title" in asked for asked in letters.calls) == 1
    assert shared.encode(["a" * 99, ""]).tolist() == [[99, 0], [0, 0]]
    assert letters.calls[-1] == [""]
    assert shared.encode(["a" * number for number in range(100)])[:, 0].tolist() == [*range(100)]


def test_what_two_ask_for_at_once_one_encodes() -> None:
    letters = Letters()
    shared = SharedEncoder(letters)
    letters.free.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.encode, ["a", "ab"])
        assert letters.begun.wait(PATIENCE)
        second = pool.submit(shared.encode, ["b", "ab"])
        letters.free.set()
        assert first.result(PATIENCE).tolist() == [[1, 0], [1, 1]]
        assert second.result(PATIENCE).tolist() == [[0, 1], [1, 1]]
    assert letters.calls == [["a", "ab"], ["b"]]


def test_who_waits_hears_of_a_failure_and_who_comes_later_tries_again() -> None:
    letters = Letters()
    shared = SharedEncoder(letters)
    letters.free.clear()
    letters.error = RuntimeError("no room")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.encode, ["a"])
        assert letters.begun.wait(PATIENCE)
        second = pool.submit(shared.encode, ["a"])
        letters.free.set()
        for asked in (first, second):
            with pytest.raises(RuntimeError, match="no room"):
                asked.result(PATIENCE)
    letters.error = None
    assert shared.encode(["a"]).tolist() == [[1, 0]]


def test_another_s_bad_text_is_not_ours() -> None:
    class Choosy(Letters):
        def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
            made = super().encode(texts)
            if "bad" in texts:
                raise ValueError("bad")
            return made

    letters = Choosy()
    shared = SharedEncoder(letters)
    letters.free.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.encode, ["ab", "bad"])
        assert letters.begun.wait(PATIENCE)
        second = pool.submit(shared.encode, ["ab", "b"])
        letters.free.set()
        with pytest.raises(ValueError, match="bad"):
            first.result(PATIENCE)
        assert second.result(PATIENCE).tolist() == [[1, 1], [0, 1]]


def test_nobody_waits_for_what_does_not_come() -> None:
    class Short(Letters):
        def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
            return super().encode(texts)[: 1 if len(texts) > 1 else None]

    shared = SharedEncoder(Short())
    with pytest.raises(ValueError, match="zip"):
        shared.encode(["a", "b"])
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(shared.encode, ["b"]).result(PATIENCE).tolist() == [[0, 1]]
