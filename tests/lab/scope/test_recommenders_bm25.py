"""BM25 beside a hand's sum, and beside rank_bm25."""

import math
from random import Random

import numpy as np
import pytest
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from tests.lab.toys import lettered_papers, make_lessons
from whycite.lab.scope.candidates import CandidatePaper, DraftPart
from whycite.lab.scope.recommenders import Bm25, make_accumulated, make_local


def test_by_hand() -> None:
    index = Bm25([["x", "y"], ["y", "z"], ["z", "z", "w"]], k1=1.1, b=0.3)
    average, idf = 7 / 3, math.log(2.5 / 1.5)
    expected = idf * 2.1 / (1 + 1.1 * (0.7 + 0.3 * 2 / average))
    assert index.scores(["x"]) == pytest.approx([expected, 0, 0])
    assert index.scores(["x", "x", "unknown"]) == pytest.approx([2 * expected, 0, 0])


@pytest.mark.parametrize(("k1", "b"), [(1.1, 0.3), (1.5, 0.75)])
def test_the_same_as_rank_bm25(k1: float, b: float) -> None:
    chance = Random(0)
    texts = [
        [f"w{min(chance.randrange(12), chance.randrange(12))}" for _ in range(chance.randrange(1, 9))]
        for _ in range(40)
    ]
    ours, theirs = Bm25(texts, k1, b), BM25Okapi(texts, k1=k1, b=b, epsilon=0.25)
    for text in texts:
        np.testing.assert_allclose(ours.scores(text), theirs.get_scores(text), rtol=1e-9)


def test_titles_of_what_is_cited_add_up() -> None:
    made = make_accumulated("accumulated-bm25", make_lessons())
    alone = [dict(made.recommend(DraftPart(lettered_papers(letter)))) for letter in "ad"]
    both = dict(made.recommend(DraftPart(lettered_papers("ad"))))
    assert set(both) == {"b", "c", "e"} | ({"f"} if any("f" in each for each in alone) else set())
    for key, score in both.items():
        assert score == pytest.approx(sum(each.get(key, 0) for each in alone))


def test_papers_outside_the_pool_have_titles_too() -> None:
    found = make_accumulated("accumulated-bm25", make_lessons()).recommend(
        DraftPart((CandidatePaper("new", "Attention of bees"),))
    )
    assert {key for key, _ in found} >= {"a", "c", "e"}


def test_local_looks_for_the_text() -> None:
    made = make_local("local-bm25", make_lessons())
    assert [key for key, _ in made.recommend(DraftPart(text="Networks with ATTENTION"))] == ["e", "d"]
    assert [key for key, _ in made.recommend(DraftPart(lettered_papers("e"), text="networks with attention"))] == ["d"]
    assert made.recommend(DraftPart(text="nothing of the kind")) == []
