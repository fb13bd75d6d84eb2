"""The measures, worked by hand and against other ways to work them out."""

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.lab.thesis.measures import (
    MEASURES,
    Measure,
    average_precision,
    gains,
    ndcg,
    overlap,
    pairwise_accuracy,
    recall,
    reciprocal_rank,
)

CASES = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(-3, 3), min_size=size, max_size=size),
        st.sets(st.integers(0, size - 1), min_size=1, max_size=size),
    )
)


def worth(measure: Measure, scores: list[int], gold: set[int]) -> float:
    return measure(np.array(scores, np.float64), np.isin(np.arange(len(scores)), list(gold)))


def test_by_hand() -> None:
    scores, gold = [1, 5, 3, 4, 0], {2, 3}  # the order is 1, 3, 2, 0, 4: gold at ranks 2 and 3
    assert worth(pairwise_accuracy, scores, gold) == pytest.approx(4 / 6)
    assert worth(reciprocal_rank, scores, gold) == 1 / 2
    assert worth(average_precision, scores, gold) == pytest.approx((1 / 2 + 2 / 3) / 2)
    best = 1 + 1 / math.log2(3)
    assert worth(MEASURES["nDCG@5"], scores, gold) == pytest.approx((1 / math.log2(3) + 1 / 2) / best)
    assert worth(MEASURES["R@1"], scores, gold) == 0
    assert worth(MEASURES["R@3"], scores, gold) == 1
    assert worth(MEASURES["F1@2"], scores, gold) == 0.5


def test_graded_gain() -> None:
    assert gains(np.array([0.0, 2.0, 1.0]), 2) == pytest.approx(3 / math.log2(3))


def test_equal_scores() -> None:
    assert worth(pairwise_accuracy, [0, 0, 0], {2}) == 0.5
    assert worth(reciprocal_rank, [0, 0, 0], {2}) == pytest.approx(1 / 3)  # in the order of the document


def test_every_sentence_gold() -> None:
    for measure in (pairwise_accuracy, reciprocal_rank, average_precision, MEASURES["nDCG@5"]):
        assert worth(measure, [2, 1], {0, 1}) == 1


@given(CASES)
def test_pairs(case: tuple[list[int], set[int]]) -> None:
    scores, gold = case
    pairs = [(scores[one], scores[other]) for one in gold for other in range(len(scores)) if other not in gold]
    right = sum((one > other) + (one == other) / 2 for one, other in pairs)
    assert worth(pairwise_accuracy, scores, gold) == pytest.approx(right / len(pairs) if pairs else 1)


@given(CASES)
def test_against_ir_measures(case: tuple[list[int], set[int]]) -> None:
    scores, gold = case
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    run = {"q": {f"{at}": -float(place) for place, at in enumerate(order)}}
    theirs = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.AP, ir_measures.nDCG @ 5, ir_measures.R @ 3],
        {"q": {f"{at}": 1 for at in gold}},
        run,
    )
    ours = [
        worth(reciprocal_rank, scores, gold),
        worth(average_precision, scores, gold),
        ndcg(np.array(scores, np.float64), np.isin(np.arange(len(scores)), list(gold)), 5),
        recall(np.array(scores, np.float64), np.isin(np.arange(len(scores)), list(gold)), 3),
    ]
    assert ours == pytest.approx(
        [theirs[measure] for measure in (ir_measures.RR, ir_measures.AP, ir_measures.nDCG @ 5, ir_measures.R @ 3)]
    )


@given(CASES, st.integers(1, 15))
def test_overlap(case: tuple[list[int], set[int]], k: int) -> None:
    scores, gold = case
    answer = set(sorted(range(len(scores)), key=lambda at: -scores[at])[:k])
    precision, share = len(answer & gold) / len(answer), len(answer & gold) / len(gold)
    f1 = 2 * precision * share / (precision + share) if answer & gold else 0
    mask = np.isin(np.arange(len(scores)), list(gold))
    assert overlap(np.array(scores, np.float64), mask, k) == pytest.approx(f1)


@given(CASES)
def test_bounds(case: tuple[list[int], set[int]]) -> None:
    for measure in MEASURES.values():
        assert 0 <= worth(measure, *case) <= 1
