"""Scorers measured on cases, the baselines, and what a ranker learns from."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fakes import FakeEncoder
from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import Cosine, bm25
from whycite.lab.thesis.measures import ClaimSentence, claim_sentences, evaluate_scorer

SENTENCES = ("We study sleep.", "Spindles support memory.", "Mice were fed.", "Memory fails without sleep.")
FIRST = PassageCase("1", "made", "sleep spindles support memory", "a", "d", SENTENCES, frozenset({1}))
SECOND = PassageCase("2", "made", "what the mice were fed", "b", "d", SENTENCES, frozenset({0, 2}))
BARE = PassageCase("3", "made", "nobody marked this", "c", "d", SENTENCES)


def in_order(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return -np.arange(len(sentences), dtype=np.float64)


def test_means_over_cases_with_gold() -> None:
    scores = evaluate_scorer([FIRST, BARE, SECOND], in_order)
    assert scores.ids == ("1", "2")
    assert scores.values["MRR"] == (0.5, 1.0)
    assert scores.mean("MRR") == 0.75
    assert scores.values["pairwise"] == pytest.approx((2 / 3, 3 / 4))
    interval = scores.interval("MRR")
    assert (interval.low, interval.mean, interval.high) == (0.5, 0.75, 1.0)


def test_mistakes() -> None:
    with pytest.raises(UserError, match="no cases with gold"):
        evaluate_scorer([BARE], in_order)
    with pytest.raises(ValueError, match="each of the 4 sentences"):
        evaluate_scorer([FIRST], lambda claim, sentences: np.zeros(3))
    with pytest.raises(ValueError, match="each of the 4 sentences"):
        evaluate_scorer([FIRST], lambda claim, sentences: np.full(4, np.nan))


@pytest.mark.parametrize("variant", ["okapi", "plus", "plus-rank-bm25"])
def test_bm25(variant: str) -> None:
    scores = evaluate_scorer([FIRST, SECOND], bm25(variant))
    assert scores.values["MRR"] == (1.0, 1.0)


def test_bm25_without_words() -> None:
    assert bm25()("", ("", "!")).tolist() == [0, 0]
    with pytest.raises(UserError, match="unknown BM25 variant 'x'; choose one of: okapi, plus"):
        bm25("x")


def test_cosine_encodes_a_text_once() -> None:
    encoder = FakeEncoder(lambda text: (len(text) % 2, 1 - len(text) % 2))
    cosine = Cosine(encoder.encode)
    assert cosine("ab", ("cd", "e", "cd")).tolist() == [1, 0, 1]
    assert cosine("e", ("cd", "ab")).tolist() == [0, 0]
    assert encoder.asked == ["ab", "cd", "e"]


def test_pairs() -> None:
    first, second = claim_sentences([FIRST, BARE, SECOND])
    assert first[1] == ClaimSentence(FIRST.claim, SENTENCES[1], SENTENCES[0], SENTENCES[2], True, "d")
    assert (first[0].previous, first[0].following, first[-1].following) == ("", SENTENCES[1], "")
    assert [pair.relevant for pair in second] == [True, False, True, False]
    assert [pair.sentence for pair in second] == list(SENTENCES)


def test_real_claims(data: Path) -> None:
    """Words in common say something: BM25 is far above chance, and its figures are those that were written down."""
    scores = evaluate_scorer(datasets.load_scifact(data / "scifact"), bm25())
    assert len(scores.ids) == 564
    assert scores.mean("pairwise") == pytest.approx(0.742, abs=0.005)
    assert scores.mean("MRR") == pytest.approx(0.670, abs=0.005)
