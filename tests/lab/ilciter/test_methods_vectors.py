"""Vectors of spans are made once and kept."""

import numpy as np
import pytest

from tests.fakes import FakeEncoder
from whycite.lab.ilciter import SpanVectors

VECTORS = {"north": (0.0, 1.0), "east": (1.0, 0.0), "between": (0.6, 0.8)}


def _compass() -> FakeEncoder:
    """Knows three words."""
    return FakeEncoder(VECTORS.__getitem__)


def test_cosines() -> None:
    vectors = SpanVectors(["north", "east", "between"], _compass().encode)
    assert vectors.cosines("north", np.array([2, 0, 1])) == pytest.approx([0.8, 1, 0])


def test_a_span_is_encoded_once() -> None:
    encoder = _compass()
    vectors = SpanVectors(["north", "east", "between"], encoder.encode)
    vectors.cosines("east", np.array([0, 2]))
    vectors.cosines("east", np.array([0, 1, 2]))
    vectors.cosines("east", np.array([2]))
    assert encoder.calls == [["east"], ["north", "between"], ["east"], ["east"], ["east"]]


def test_many_vectors_have_half_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.lab.ilciter.MAX_FULL_PRECISION", 3)
    found = SpanVectors(["north", "between"], _compass().encode).cosines("north", np.array([1]))
    assert found.tolist() == [np.float16(0.8)]


def test_no_span_no_cosine() -> None:
    assert SpanVectors(["north"], _compass().encode).cosines("north", np.array([], np.int64)).tolist() == []


def test_an_encoder_that_loses_texts_is_refused() -> None:
    vectors = SpanVectors(["north"], lambda texts: np.zeros((0, 2), np.float32))
    with pytest.raises(ValueError, match=r"shape \(0, 2\) for 1 texts"):
        vectors.cosines("north", np.array([0]))
