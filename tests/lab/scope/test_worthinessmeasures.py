"""Splits and measures of worthiness."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.errors import UserError
from whycite.lab.scope.worthinessmeasures import (
    best_threshold,
    measure,
    measure_with_holes,
    paragraph_kind,
    reliability,
    split_by_date,
    split_by_document,
    split_by_year,
    thresholds_by_type,
)

DOCUMENTS = [LabelledDocument(f"d{at}", "", f"20{at:02}-0{1 + at % 2}-01", ()) for at in range(10, 20)]


def test_by_date() -> None:
    split = split_by_date(reversed(DOCUMENTS), dev=2, test=3)
    assert [each.key for each in split.test] == ["d17", "d18", "d19"]
    assert [each.key for each in split.dev] == ["d15", "d16"]
    assert len(split.train) == 5


def test_by_year() -> None:
    split = split_by_year([*DOCUMENTS, LabelledDocument("undated", "", "", ())], dev=2015, test=2018)
    assert [len(part) for part in (split.train, split.dev, split.test)] == [5, 3, 2]
    with pytest.raises(UserError):
        split_by_year(DOCUMENTS, 2018, 2018)


def test_by_document() -> None:
    split = split_by_document(DOCUMENTS, dev=2, test=2, seed=1)
    parts = [{each.key for each in part} for part in (split.train, split.dev, split.test)]
    assert [len(part) for part in parts] == [6, 2, 2]
    assert len(set.union(*parts)) == 10
    assert split == split_by_document(reversed(DOCUMENTS), 2, 2, seed=1) != split_by_document(DOCUMENTS, 2, 2, seed=2)


@pytest.mark.parametrize(("dev", "test"), [(0, 2), (2, 0), (5, 5)])
def test_too_few(dev: int, test: int) -> None:
    with pytest.raises(UserError):
        split_by_date(DOCUMENTS, dev, test)


@pytest.mark.parametrize(
    ("conform", "wanted"), [([True, True], "conform"), ([False, False], "non-conform"), ([True, False], "mixed")]
)
def test_kind(conform: list[bool], wanted: str) -> None:
    sentences = tuple(LabelledSentence("", False, each) for each in conform)
    assert paragraph_kind(LabelledParagraph((), None, sentences)) == wanted


def test_measure() -> None:
    worthy, decided = np.array([1, 1, 1, 0, 0], bool), np.array([1, 0, 0, 1, 0], bool)
    found = measure(worthy, decided)
    assert [found.precision, found.recall, found.f1] == pytest.approx([1 / 2, 1 / 3, 2 / 5])
    assert measure(worthy, ~worthy).f1 == 0
    assert measure(~worthy & worthy, ~worthy & worthy).f1 == 0


CASES = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=40)


@given(CASES)
def test_no_threshold_is_better(cases: list[tuple[bool, int]]) -> None:
    worthy, probabilities = np.array([w for w, _ in cases]), np.array([p / 8 for _, p in cases])
    threshold = best_threshold(worthy, probabilities)
    best = measure(worthy, probabilities >= threshold).f1
    assert best == pytest.approx(max(measure(worthy, probabilities >= each).f1 for each in set(probabilities)))


def test_threshold_by_type() -> None:
    random = np.random.default_rng(0)
    types = ["introduction"] * 2000 + ["method"] * 2000 + ["appendix"] * 10
    score = random.random(4010)
    # A model that is too sure in methods.
    worthy = random.random(4010) < np.where(np.array(types) == "method", score**3, score)
    found = thresholds_by_type(worthy, score, types)
    assert set(found) == {"", "introduction", "method"}
    assert found["method"] > found["introduction"]
    own = np.array([found.get(type, found[""]) for type in types])
    assert measure(worthy, score >= own).f1 > measure(worthy, score >= found[""]).f1


def test_type_where_nothing_is_worthy() -> None:
    types = ["introduction"] * 400 + ["method"] * 400
    worthy = np.array([True] * 400 + [False] * 400)
    score = np.array([0.5] * 400 + [0.6] * 400)
    found = thresholds_by_type(worthy, score, types)
    assert found["method"] == 1.0
    assert found["introduction"] <= 0.5


def test_reliability() -> None:
    worthy = np.array([0, 0, 0, 1, 1, 1], bool)
    rows = reliability(worthy, np.array([0.0, 0.1, 0.15, 0.12, 0.95, 1.0]))
    assert [(row.low, row.number) for row in rows] == [(0.0, 1), (0.1, 3), (0.9, 2)]
    assert rows[1].expected == pytest.approx(0.37 / 3)
    assert [row.worthy for row in rows] == [0, pytest.approx(1 / 3), 1]
    with pytest.raises(UserError):
        reliability(worthy, np.zeros(6), bins=0)


def test_nothing() -> None:
    with pytest.raises(UserError):
        best_threshold(np.zeros(0, bool), np.zeros(0))


def test_holed_sentences_are_counted_apart() -> None:
    worthy = np.array([True] * 4 + [False] * 40)
    holed = np.array([True, True] + [False] * 42)
    probabilities = np.array([0.9, 0.8, 0.7, 0.1, 0.75, *np.linspace(0.6, 0.0, 39)])
    found = measure_with_holes(worthy, holed, probabilities >= 0.5, probabilities)
    assert found.holes is not None
    assert replace(found, holes=None) == measure(worthy, probabilities >= 0.5)
    assert (found.holes.clean_recall, found.holes.holed_recall) == (0.5, 1)
    assert found.holes.clean_f1 == measure(worthy[2:], probabilities[2:] >= 0.5).f1
    # One of the 40 uncited ones may be flagged: the one at .75.
    assert (found.holes.quiet_clean_recall, found.holes.quiet_holed_recall) == (0.5, 1)
    none = measure_with_holes(worthy, np.zeros(44, bool), probabilities >= 0.5).holes
    assert none is not None
    assert none.holed_recall is none.quiet_clean_recall is none.quiet_holed_recall is None
