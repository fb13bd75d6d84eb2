"""The evidence database: equal spans are one, support is counted."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.lab.ilciter import DatabaseStatistics, EvidenceDatabase

OCCURRENCES = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from([None, 2013, 2016])))


def test_equal_spans_are_one_and_support_is_counted() -> None:
    database = EvidenceDatabase.from_occurrences(
        [
            ("FastAlign", "doi:dyer", 2013),
            ("FastAlign", "doi:dyer", 2013),
            ("FastAlign", "doi:other", None),
            ("fastalign", "doi:dyer", None),
        ]
    )
    assert database.spans == ["FastAlign", "fastalign"]  # exact matches only
    assert database.papers == [("doi:dyer", 2013), ("doi:other", None)]
    assert database.cited == [((0, 2), (1, 1)), ((0, 1),)]


def test_a_paper_of_several_years_has_the_last() -> None:
    years = [None, 2016, 2017, None, 2016]
    assert EvidenceDatabase.from_occurrences(("span", "key", year) for year in years).papers == [("key", 2017)]


@given(OCCURRENCES, st.randoms(use_true_random=False))
def test_the_order_of_occurrences_changes_no_count(
    occurrences: list[tuple[str, str, int | None]], random: Random
) -> None:
    def content(database: EvidenceDatabase) -> dict[str, dict[tuple[str, int | None], int]]:
        return {
            span: {database.papers[paper]: support for paper, support in pairs}
            for span, pairs in zip(database.spans, database.cited, strict=True)
        }

    before = EvidenceDatabase.from_occurrences(occurrences)
    shuffled = list(occurrences)
    random.shuffle(shuffled)
    assert content(EvidenceDatabase.from_occurrences(shuffled)) == content(before)
    assert sum(support for pairs in before.cited for _, support in pairs) == len(occurrences)


def test_statistics_are_those_of_table_2() -> None:
    database = EvidenceDatabase(["FastAlign", "It works, and well"], [[(0, 3)], [(0, 1)]], [("a", None), ("b", 2000)])
    assert database.statistics() == DatabaseStatistics(spans=2, characters=13.5, tokens=3.0, papers=1)
    assert EvidenceDatabase([], [], []).statistics() == DatabaseStatistics(0, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("spans", "cited", "papers"),
    [
        (["a"], [], []),
        (["a", "a"], [[], []], []),
        (["a"], [[(0, 1)]], []),
        (["a"], [[(-1, 1)]], [("x", None)]),
        (["a"], [[(0, 0)]], [("x", None)]),
        (["a"], [[]], [("x", None), ("x", 2000)]),
    ],
    ids=["lengths", "span twice", "no such paper", "negative paper", "no support", "paper twice"],
)
def test_what_is_no_database_is_refused(
    spans: list[str], cited: list[list[tuple[int, int]]], papers: list[tuple[str, int | None]]
) -> None:
    with pytest.raises(ValueError, match=r"span|paper"):
        EvidenceDatabase(spans, cited, papers)
