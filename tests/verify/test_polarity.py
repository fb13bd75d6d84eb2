"""Which way claims and passages point."""

import pytest

from whycite.verify.polarity import compare, negated


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("A increases B", "A reduced B"),
        ("A activates B", "A inhibits B"),
        ("A is upregulated", "A was down-regulated"),
        ("better than B", "worse than B"),
        ("cells with A", "cells without A"),
        ("A is higher", "A is lower"),
    ],
)
def test_opposed(claim: str, passage: str) -> None:
    found = compare(claim, passage)
    assert found.opposed
    assert "in the claim" in found.words
    assert compare(passage, claim).opposed


@pytest.mark.parametrize("passage", ["A raised B", "A raised B but lowered C", "B was seen"])
def test_not_opposed(passage: str) -> None:
    assert compare("A increases B", passage).opposed == 0


def test_agreed() -> None:
    assert compare("A increases B", "A enhanced B").agreed == 1


@pytest.mark.parametrize(
    "text", ["A does not grow", "A doesn’t grow", "A fails to grow", "no A grows", "A cannot grow"]
)
def test_negated(text: str) -> None:
    assert negated(text)
    assert compare("A grows", text).negation


@pytest.mark.parametrize("text", ["not only A but B grows", "A grows", "Notably, A grows", "knowledge of A"])
def test_not_negated(text: str) -> None:
    assert not negated(text)
