"""Which way claims and passages point."""

import pytest

from whycite.verify.polarity import compare_polarity, denied_words, is_negated


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
    found = compare_polarity(claim, passage)
    assert found.opposed
    assert "in the claim" in found.words
    assert compare_polarity(passage, claim).opposed


@pytest.mark.parametrize("passage", ["A raised B", "A raised B but lowered C", "B was seen"])
def test_not_opposed(passage: str) -> None:
    assert compare_polarity("A increases B", passage).opposed == 0


def test_agreed() -> None:
    assert compare_polarity("A increases B", "A enhanced B").agreed == 1


@pytest.mark.parametrize(
    "text", ["A does not grow", "A doesn’t grow", "A fails to grow", "no A grows", "A cannot grow"]
)
def test_negated(text: str) -> None:
    assert is_negated(text)
    assert compare_polarity("A grows", text).negation


@pytest.mark.parametrize("text", ["not only A but B grows", "A grows", "Notably, A grows", "knowledge of A"])
def test_not_negated(text: str) -> None:
    assert not is_negated(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A was not linked with death, but with age", {"link", "death"}),
        ("Growth was unaffected by sugar", {"growth", "sugar"}),
        ("They grow", set()),
    ],
)
def test_what_is_denied(text: str, words: set[str]) -> None:
    assert words <= denied_words(text)
    assert not denied_words(text) & {"age", "mice"}


def test_apart_is_what_one_denies_alone() -> None:
    claim = "Sugar makes mice grow"
    assert compare_polarity(claim, "Sugar makes mice grow").apart == 0
    assert (
        compare_polarity(claim, "Mice do not grow by sugar").apart
        > compare_polarity(claim, "Sugar makes mice grow, not rats").apart
    )
    assert compare_polarity("Sugar does not make mice grow", "Mice do not grow by sugar").apart == 0


def test_the_nearer_of_two_pointers_counts() -> None:
    passage = "Sugar raised the weight of mice in all groups, and fat lowered the height of rats"
    assert compare_polarity("Sugar increases the weight of mice", passage).opposed == 0
    assert compare_polarity("Fat increases the height of rats", passage).opposed == 1


def test_what_is_told_of_words() -> None:
    told = compare_polarity(
        "Dams of the same age are dependent on rain", "Different dams of the same age are independent of rain"
    ).words
    assert told == "“dependent” in the claim, “independent” here"
    assert compare_polarity("Dams hold", "Dams hardly hold").words == "only the passage says “hardly”"
    assert compare_polarity("Dams cannot hold", "Dams hold").words == "only the claim says “cannot”"
