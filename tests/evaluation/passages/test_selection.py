"""Sentences as SciFact counts them, labels, and intervals by document."""

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.evaluation.passages.intervals import by_document
from whycite.evaluation.passages.labels import GIVEN, LABELS, measure_labels
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.selection import best_threshold, chosen, select


def case(gold: set[int], rationales: tuple[set[int], ...] = ()) -> Case:
    sets = tuple(map(frozenset, rationales))
    return Case("a", "made", "claim", "citing", "cited", ("s",) * 6, frozenset(gold), rationales=sets)


def test_a_rationale_counts_only_as_a_whole() -> None:
    both = case({0, 1, 4}, ({0, 1}, {4}))
    found = select([(both, frozenset({0, 4}))])
    assert (found.precision, found.recall) == (0.5, 1 / 3)
    assert found.f1 == pytest.approx(0.4)
    whole = select([(both, frozenset({0, 1}))])
    assert (whole.precision, whole.recall) == (1, 2 / 3)


def test_sentences_without_rationales_and_cases_without_gold() -> None:
    found = select([(case({2}), frozenset({2, 3})), (case(set()), frozenset({1}))])
    assert (found.precision, found.recall) == (1 / 3, 1)
    assert select([(case({2}), frozenset())]).f1 == 0
    assert select([]).f1 == 0


def test_at_most_three_are_chosen() -> None:
    scores = np.array([0.1, 0.9, 0.8, 0.7, 0.6, 0.2])
    assert chosen(scores, 0.5) == {1, 2, 3}
    assert chosen(scores, 0.85) == {1}
    assert chosen(scores, 1.0) == set()


def test_the_best_threshold_tells_gold_from_the_rest() -> None:
    scored = [(case({1}), np.array([0.2, 0.7, 0.1, 0, 0, 0])), (case(set()), np.array([0.6, 0.5, 0, 0, 0, 0]))]
    threshold = best_threshold(scored)
    assert 0.6 < threshold <= 0.7
    assert best_threshold([]) == 0


def test_rationales_are_of_gold() -> None:
    with pytest.raises(ValueError, match="not gold"):
        case({1}, ({1, 2},))


def test_labels() -> None:
    found = measure_labels(
        ["backed", "backed", "contradicted", "not found"], ["backed", "contradicted", "contradicted", "could not check"]
    )
    assert (found.accuracy, found.majority) == (0.5, 0.5)
    assert found.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert LABELS == ("backed", "contradicted", "not found")
    assert set(GIVEN) - set(LABELS) == {"could not check"}
    assert found.confusion == ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1))
    with pytest.raises(UserError, match="no case with a label"):
        measure_labels([], [])


def test_intervals_draw_documents() -> None:
    """Values of one document that are all alike say as little as one of them."""
    values, own = [1.0] * 50 + [0.0] * 50, [str(at) for at in range(100)]
    apart, joined = by_document(values, own), by_document(values, ["a"] * 50 + ["b"] * 50)
    assert apart.mean == joined.mean == 0.5
    assert 0.35 < apart.low < 0.45 < 0.55 < apart.high < 0.65
    assert (joined.low, joined.high) == (0, 1)
    assert by_document(values, own) == apart
    with pytest.raises(UserError, match="at least one value"):
        by_document([], [])
    with pytest.raises(ValueError, match="2 values of 1 documents"):
        by_document([1.0, 0.0], ["a"])
