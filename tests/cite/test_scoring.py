"""Scores computed by hand, and what they are made of."""

from dataclasses import replace
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from whycite.cite.scoring import EVIDENCE, PAPER, SHARES, TITLE, RankingFeatures, RankingWeights, score, shares

NOTHING = RankingWeights(**dict.fromkeys((*EVIDENCE, *PAPER), 0.0))


def table(names: tuple[str, ...], *rows: dict[str, float]) -> NDArray[np.float64]:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows]).reshape(-1, len(names))


@pytest.fixture
def two_papers() -> RankingFeatures:
    """The first with two spans, the second with its title only."""
    return RankingFeatures(
        papers=np.array([7, 9]),
        paper_index=np.array([0, 0, 1]),
        spans=np.array([1, 2, TITLE]),
        evidence=table(
            EVIDENCE,
            {"sentence_cosine": 0.5, "lexical": 10.0},
            {"part": 1.0, "part_cosine": 0.25, "crowd": 2.0},
            {"title": 1.0, "title_cosine": 0.5},
        ),
        paper=table(PAPER, {"support": 1.0, "age": 2.0}, {"about": 0.5}),
    )


def test_scores_by_hand(two_papers: RankingFeatures) -> None:
    weights = replace(
        NOTHING, sentence_cosine=4.0, lexical=0.1, part=1.0, part_cosine=8.0, crowd=-0.5, title=-1.0, title_cosine=6.0,
        support=0.5, age=-0.25, about=3.0,
    )  # fmt: skip
    found = score(two_papers, weights)
    assert found.evidence.tolist() == pytest.approx([4 * 0.5 + 0.1 * 10, 1 + 8 * 0.25 - 0.5 * 2, -1 + 6 * 0.5])
    assert found.sums.tolist() == pytest.approx([log(exp(3) + exp(2)), 2.0])
    assert found.papers.tolist() == pytest.approx([log(exp(3) + exp(2)) + 0.5 - 0.5, 2.0 + 1.5])


def test_shares_by_hand(two_papers: RankingFeatures) -> None:
    weights = replace(NOTHING, sentence_cosine=4.0, part_cosine=8.0, support=0.5, title_cosine=6.0)
    # Both spans of the first paper say 2, so each has half of the sum and the second adds log 2.
    first = shares(two_papers, weights, score(two_papers, weights), 0)
    assert {name: value for name, value in first.items() if value} == pytest.approx(
        {"spans by meaning": 2.0, "support": 0.5, "number of spans": log(2)}
    )
    second = shares(two_papers, weights, score(two_papers, weights), 1)
    assert {name: value for name, value in second.items() if abs(value) > 1e-12} == pytest.approx({"title": 3.0})


@given(
    arrays.arrays(np.float64, (6, len(EVIDENCE)), elements=st.floats(-3, 40)),
    arrays.arrays(np.float64, (3, len(PAPER)), elements=st.floats(-3, 10)),
)
def test_shares_sum_to_the_score(evidence: NDArray[np.float64], paper: NDArray[np.float64]) -> None:
    of = np.array([0, 0, 0, 1, 2, 2])
    features = RankingFeatures(np.arange(3), of, np.arange(6), evidence, paper)
    found = score(features, RankingWeights())
    for place in range(3):
        parts = shares(features, RankingWeights(), found, place)
        assert fsum(parts.values()) == pytest.approx(found.papers[place], rel=1e-9, abs=1e-9)
        assert parts["number of spans"] >= -1e-6


def test_far_apart_scores_do_not_overflow() -> None:
    evidence = table(EVIDENCE, {"part": 2000.0}, {"part": -2000.0})
    features = RankingFeatures(np.array([1]), np.array([0, 0]), np.array([1, 2]), evidence, table(PAPER, {}))
    assert score(features, replace(NOTHING, part=1.0)).papers.tolist() == [2000.0]


def test_equal_evidence_in_another_order_gives_the_same_score() -> None:
    values = [0.1, 0.7, 0.3, 0.9, 0.55]
    rows = [{"sentence_cosine": value} for value in (*values, *reversed(values))]
    features = RankingFeatures(
        np.array([1, 2]), np.repeat([0, 1], 5), np.arange(10), table(EVIDENCE, *rows), table(PAPER, {}, {})
    )
    first, second = score(features, RankingWeights()).papers.tolist()
    assert first == second


def test_nothing_found() -> None:
    nothing = RankingFeatures(
        np.array([], np.int64), np.array([], np.int64), np.array([], np.int64), table(EVIDENCE), table(PAPER)
    )
    assert score(nothing, RankingWeights()).papers.tolist() == []


def test_every_feature_has_its_share() -> None:
    assert SHARES.keys() == {*EVIDENCE, *PAPER}
    weights = RankingWeights()
    assert dict(zip(EVIDENCE, weights.evidence.tolist(), strict=True))["title_cosine"] == weights.title_cosine
    assert dict(zip(PAPER, weights.paper.tolist(), strict=True))["cited"] == weights.cited
