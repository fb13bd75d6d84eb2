"""Vectors of spans are made once and kept."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.lab.ilciter.methods import SpanVectors

VECTORS = {"north": (0.0, 1.0), "east": (1.0, 0.0), "between": (0.6, 0.8)}


class Encoder:
    """Knows three words; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([VECTORS[text] for text in texts], np.float32)


def test_cosines() -> None:
    vectors = SpanVectors(["north", "east", "between"], Encoder())
    assert vectors.cosines("north", np.array([2, 0, 1])) == pytest.approx([0.8, 1, 0])


def test_a_span_is_encoded_once() -> None:
    encoder = Encoder()
    vectors = SpanVectors(["north", "east", "between"], encoder)
    vectors.cosines("east", np.array([0, 2]))
    vectors.cosines("east", np.array([0, 1, 2]))
    vectors.cosines("east", np.array([2]))
    assert encoder.asked == [["east"], ["north", "between"], ["east"], ["east"], ["east"]]


def test_many_vectors_have_half_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.lab.ilciter.methods._LARGE", 3)
    found = SpanVectors(["north", "between"], Encoder()).cosines("north", np.array([1]))
    assert found.tolist() == [np.float16(0.8)]


def test_no_span_no_cosine() -> None:
    assert SpanVectors(["north"], Encoder()).cosines("north", np.array([], np.int64)).tolist() == []


def test_an_encoder_that_loses_texts_is_refused() -> None:
    vectors = SpanVectors(["north"], lambda texts: np.zeros((0, 2), np.float32))
    with pytest.raises(ValueError, match=r"shape \(0, 2\) for 1 texts"):
        vectors.cosines("north", np.array([0]))
