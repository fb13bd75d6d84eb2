"""Pairs are made as the thesis made them: hard ones of the ten most similar, more with what was discarded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import bm25
from whycite.lab.thesis.measures import SentenceComparison, comparison_score, make_comparisons


def by_place(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    """The first sentence is the most similar."""
    return -np.arange(len(sentences), dtype=np.float64)


def case(id: str, sentences: int, gold: set[int]) -> PassageCase:
    return PassageCase(
        id, "made", "claim", f"citing {id}", f"cited {id}", tuple(map(str, range(sentences))), frozenset(gold)
    )


def test_hard_pairs_are_of_the_ten_most_similar() -> None:
    found = make_comparisons([case("a", 30, {0, 3, 20}), case("b", 30, {15}), case("c", 4, set())], by_place)
    assert {(each.winner, each.loser) for each in found} == {(w, o) for w in (0, 3) for o in (1, 2, 4, 5, 6, 7, 8, 9)}
    assert {each.case.id for each in found} == {"a"}


def test_winners_are_held_against_what_was_discarded() -> None:
    cases = [case("a", 30, {0, 20})]
    hard, more = make_comparisons(cases, by_place), make_comparisons(cases, by_place, "augmented")
    added = {(each.winner, each.loser) for each in more} - {(each.winner, each.loser) for each in hard}
    assert len(added) == 7
    assert all(winner == 0 and loser >= 10 and loser != 20 for winner, loser in added)
    assert {each.loser for each in make_comparisons(cases, by_place, "augmented", seed=1)} != {
        each.loser for each in more
    }


@given(st.lists(st.sets(st.integers(0, 11), max_size=4), max_size=8), st.integers(0, 3))
def test_pairs_are_balanced_and_right_by_gold(gold: list[set[int]], seed: int) -> None:
    cases = [case(str(at), 12, marked) for at, marked in enumerate(gold)]
    found = make_comparisons(cases, by_place, "augmented", seed)
    assert sum(each.better for each in found) == len(found) // 2
    assert all(each.winner in each.case.gold and each.loser not in each.case.gold for each in found)
    assert all({each.winner, each.loser} == {each.first_index, each.second_index} for each in found)
    assert found == make_comparisons(cases, by_place, "augmented", seed)


def test_right() -> None:
    pair = SentenceComparison(case("a", 3, {1}), 0, 1, 1)
    assert comparison_score(pair, np.array([1.0, 2.0, 3.0])) == 1
    assert comparison_score(pair, np.array([2.0, 1.0, 3.0])) == 0
    assert comparison_score(pair, np.array([1.0, 1.0, 3.0])) == 0.5


def test_real_pairs(data: Path) -> None:
    cases = datasets.load_clscisumm(data / "clscisumm")[:60]
    found = make_comparisons(cases, bm25())
    assert len(found) > 100
    assert sum(each.better for each in found) == len(found) // 2
