"""Sentences as SciFact counts them, labels, and intervals by document."""

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import bootstrap_by_document
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.measures import best_threshold, choose_sentences, measure_selection
from whycite.lab.thesis.verdicts import LABELS, VERDICTS, ClassFigures, measure_labels


def case(gold: set[int], rationales: tuple[set[int], ...] = ()) -> PassageCase:
    sets = tuple(map(frozenset, rationales))
    return PassageCase("a", "made", "claim", "citing", "cited", ("s",) * 6, frozenset(gold), rationales=sets)


def test_a_rationale_counts_only_as_a_whole() -> None:
    both = case({0, 1, 4}, ({0, 1}, {4}))
    found = measure_selection([(both, frozenset({0, 4}))])
    assert (found.precision, found.recall) == (0.5, 1 / 3)
    assert found.f1 == pytest.approx(0.4)
    whole = measure_selection([(both, frozenset({0, 1}))])
    assert (whole.precision, whole.recall) == (1, 2 / 3)


def test_sentences_without_rationales_and_cases_without_gold() -> None:
    found = measure_selection([(case({2}), frozenset({2, 3})), (case(set()), frozenset({1}))])
    assert (found.precision, found.recall) == (1 / 3, 1)
    assert measure_selection([(case({2}), frozenset())]).f1 == 0
    assert measure_selection([]).f1 == 0


def test_at_most_three_are_chosen() -> None:
    scores = np.array([0.1, 0.9, 0.8, 0.7, 0.6, 0.2])
    assert choose_sentences(scores, 0.5) == {1, 2, 3}
    assert choose_sentences(scores, 0.85) == {1}
    assert choose_sentences(scores, 1.0) == set()


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
    assert set(VERDICTS) - set(LABELS) == {"secondary", "could not check"}
    assert found.confusion == ((1, 0, 1, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 1))
    assert found.classes["backed"] == ClassFigures(precision=1.0, recall=0.5, f1=2 / 3, cases=2)
    assert found.classes["contradicted"] == ClassFigures(precision=0.5, recall=1.0, f1=2 / 3, cases=1)
    assert found.classes["not found"] == ClassFigures(precision=0.0, recall=0.0, f1=0.0, cases=1)
    assert found.called_backed == 0
    with pytest.raises(UserError, match="no labelled cases"):
        measure_labels([], [])


def test_what_a_paper_says_citing_another_counts_as_backed() -> None:
    found = measure_labels(["backed", "contradicted", "contradicted"], ["secondary", "secondary", "backed"])
    assert (found.accuracy, found.called_backed) == (1 / 3, 2)
    assert found.confusion[:2] == ((0, 1, 0, 0, 0), (1, 1, 0, 0, 0))


def test_intervals_draw_documents() -> None:
    """Values of one document that are all alike say as little as one of them."""
    values, own = [1.0] * 50 + [0.0] * 50, [str(at) for at in range(100)]
    apart, joined = bootstrap_by_document(values, own), bootstrap_by_document(values, ["a"] * 50 + ["b"] * 50)
    assert apart.mean == joined.mean == 0.5
    assert 0.35 < apart.low < 0.45 < 0.55 < apart.high < 0.65
    assert (joined.low, joined.high) == (0, 1)
    assert bootstrap_by_document(values, own) == apart
    with pytest.raises(UserError, match="at least one value"):
        bootstrap_by_document([], [])
    with pytest.raises(ValueError, match="2 values for 1 documents"):
        bootstrap_by_document([1.0, 0.0], ["a"])
