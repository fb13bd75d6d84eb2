"""Recommenders that count, beside what a hand counts."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.toys import lettered_papers, make_lessons
from whycite.errors import UserError
from whycite.lab.scope.candidates import CandidatePaper, CitedSet, DraftPart, Lessons
from whycite.lab.scope.recommenders import (
    make_accumulated,
    make_co_occurrence,
    make_local,
    make_most_popular,
    make_random,
)

MAKERS = (make_random, make_most_popular, make_co_occurrence, make_accumulated, make_local)


def test_most_popular() -> None:
    popular = make_most_popular("most-popular", make_lessons())
    assert popular.recommend(DraftPart()) == [("d", 4.0), ("a", 3.0), ("b", 3.0), ("e", 2.0), ("c", 1.0), ("f", 1.0)]
    assert popular.recommend(DraftPart(lettered_papers("da")), k=2) == [("b", 3.0), ("e", 2.0)]


def test_co_occurrence() -> None:
    together = make_co_occurrence("co-occurrence", make_lessons())
    # a stands with b three times, with c and d once; d with e twice, with a, b and f once.
    assert together.recommend(DraftPart(lettered_papers("a"))) == [("b", 3.0), ("c", 1.0), ("d", 1.0)]
    assert together.recommend(DraftPart(lettered_papers("ad"))) == [("b", 4.0), ("e", 2.0), ("c", 1.0), ("f", 1.0)]
    assert together.recommend(DraftPart()) == []
    assert together.recommend(DraftPart((CandidatePaper("unknown"),))) == []


def test_random() -> None:
    one, same, other = (make_random("random", make_lessons(seed=seed)) for seed in (1, 1, 2))
    part = DraftPart(lettered_papers("a"), "Bees")
    assert one.recommend(part) == same.recommend(part)
    assert one.recommend(part) != other.recommend(part)
    assert {key for key, _ in one.recommend(part)} == set("bcdef")


def test_the_floor() -> None:
    assert {key for key, _ in make_most_popular("", make_lessons(floor=2)).recommend(DraftPart())} == set("abde")
    twice = [CitedSet("one", "", (type,), ("a",)) for type in ("method", "result")]  # by one document
    with pytest.raises(UserError, match="no papers to recommend"):
        make_most_popular("", Lessons(twice, make_lessons().papers, floor=2))
    with pytest.raises(UserError, match="no papers to recommend"):
        make_most_popular("", make_lessons(floor=5))
    with pytest.raises(UserError, match="at least 1"):
        make_lessons(floor=0)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_no_newer_paper_and_not_the_draft_itself(make: Callable[..., object]) -> None:
    made = make("", make_lessons())
    part = DraftPart(
        (CandidatePaper("a", "Sleep of bees"),), "Deep NETWORKS", text="networks bees flies attention year", year=2016
    )
    assert {key for key, _ in made.recommend(part)} <= {"b", "c", "f"}  # type: ignore[attr-defined]


def test_a_pool_of_nothing() -> None:
    with pytest.raises(UserError, match="at least one paper, not 0"):
        make_most_popular("", make_lessons()).recommend(DraftPart(), k=0)


LETTERS = st.sets(st.sampled_from("abcdef"), min_size=1)


@given(
    sets=st.lists(LETTERS, min_size=1, max_size=8),
    cited=st.permutations("abcdef"),
    n=st.integers(0, 6),
    k=st.integers(1, 9),
)
def test_nothing_cited_already_and_no_order_counts(sets: list[set[str]], cited: list[str], n: int, k: int) -> None:
    known = {letter: CandidatePaper(letter, f"word{letter} shared") for letter in "abcdef"}
    made = [CitedSet(str(at), "", (), tuple(sorted(each))) for at, each in enumerate(sets)]
    for make in MAKERS:
        recommender = make("", Lessons(made, known))
        turned = make("", Lessons(made[::-1], known))
        part = DraftPart(tuple(known[letter] for letter in cited[:n]), "A title", ("method",), "worda wordb shared")
        back = DraftPart(part.cited[::-1], part.title, part.section_types, part.text)
        found = recommender.recommend(part, k)
        keys = [key for key, _ in found]
        assert len(keys) == len(set(keys)) <= k
        assert not set(keys) & set(cited[:n])
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        assert found == recommender.recommend(back, k) == turned.recommend(part, k)
