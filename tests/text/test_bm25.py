"""BM25: worked by hand, and against rank_bm25, which the published runs used."""

import math
import time
from itertools import accumulate, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
import rank_bm25  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from whycite.documents import stream
from whycite.text.bm25 import VARIANTS, Bm25Index, best_indices, okapi_idf, plus, plus_rank_bm25, saturation
from whycite.text.tokens import words

TEXTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=30).filter(any)
QUERIES = st.lists(st.sampled_from("abcdefghxy"), max_size=10)
REFERENCES = {"okapi": rank_bm25.BM25Okapi, "plus-rank-bm25": rank_bm25.BM25Plus}


def assert_parity(texts: list[list[str]], queries: list[list[str]]) -> None:
    index = Bm25Index(texts)
    for name, reference in REFERENCES.items():
        theirs = reference(texts)
        for query in queries:
            np.testing.assert_allclose(index.scores(query)[name], theirs.get_scores(query), rtol=0, atol=1e-9)


def test_worked_by_hand() -> None:
    index = Bm25Index([["a", "b"], ["a", "c", "c"], ["d"]])
    assert index.average == 2
    rare = math.log(2.5 / 1.5)  # one text of three; "a" has two, so its negative weight -rare is put to the floor
    floor = 0.25 * (3 * rare - rare) / 4
    a_in_0, a_in_1, c_in_1 = 1, 2.5 / 3.0625, 5 / 4.0625
    scores = index.scores(["a", "c"])
    assert scores["okapi"] == pytest.approx([floor * a_in_0, floor * a_in_1 + rare * c_in_1, 0])
    a, c = math.log(2), math.log(4)
    assert scores["plus"] == pytest.approx([a * (a_in_0 + 1), a * (a_in_1 + 1) + c * (c_in_1 + 1), 0])
    noop = [a * a_in_0 + a + c, a * a_in_1 + c * c_in_1 + a + c, a + c]
    assert scores["plus-rank-bm25"] == pytest.approx(noop)


def test_delta_is_for_terms_that_occur() -> None:
    saturated = np.array([0.0, 0.5])
    assert plus(saturated, 2).tolist() == [0, 3]
    assert plus_rank_bm25(saturated, 2).tolist() == [2, 3]


def test_textbook_delta_changes_the_order() -> None:
    """A long text with both terms falls behind short ones with one, which is what delta was made for."""
    texts = [["a", "y", "y"], ["a", "b", *"x" * 30], *[["y"]] * 20, *[["b", "y"]] * 2, *[["a", "y"]] * 2]
    best = Bm25Index(texts).best(["a", "b"], 3)
    assert best["plus"][0] == 1
    assert best["plus-rank-bm25"][0] != 1
    assert best["okapi"][0] != 1


def test_saturation_is_bounded() -> None:
    many = saturation(np.array([1e9]), np.array([10.0]), 10.0)
    assert 2.49 < many[0] <= 2.5


def test_no_weight_without_terms() -> None:
    assert okapi_idf(0, np.array([], np.int64)).tolist() == []


@settings(deadline=None)
@given(TEXTS, st.lists(QUERIES, min_size=1, max_size=3))
def test_parity_on_random_texts(texts: list[list[str]], queries: list[list[str]]) -> None:
    assert_parity(texts, queries)


def test_parity_on_real_texts(data: Path) -> None:
    papers = islice(stream(data / "elife" / "elife-tiny.jsonl.zst"), 3)
    texts = [words(sentence.text) for paper in papers for sentence in paper.sentences]
    assert len(texts) > 300
    assert_parity(texts, texts[:: len(texts) // 8])


@settings(deadline=None)
@given(TEXTS, QUERIES, st.integers(1, 12))
def test_the_best_are_those_with_the_highest_scores(texts: list[list[str]], query: list[str], number: int) -> None:
    index = Bm25Index(texts)
    sharing = [at for at, text in enumerate(texts) if set(text) & set(query)]
    best, scores = index.best(query, number), index.scores(query)
    for name in VARIANTS:
        expected = sorted(sharing, key=lambda at: (-round(float(scores[name][at]), 9), at))[:number]
        assert best[name].tolist() == expected


@settings(deadline=None)
@given(TEXTS, QUERIES, st.randoms(use_true_random=False))
def test_scores_do_not_hang_on_the_order_of_texts(texts: list[list[str]], query: list[str], random: Random) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)
    before, after = Bm25Index(texts).scores(query), Bm25Index([texts[at] for at in order]).scores(query)
    for name in VARIANTS:
        assert after[name].tolist() == before[name][order].tolist()  # to the last digit


def test_rounding_of_the_mean_weight_does_not_hang_on_the_order_of_terms() -> None:
    counts = np.random.default_rng(0).integers(1, 1_000, 10_000)
    assert (
        okapi_idf(1_000, counts).min()
        == okapi_idf(1_000, counts[::-1]).min()
        == okapi_idf(1_000, np.sort(counts)).min()
    )


def test_rounding_decides_no_order() -> None:
    scores = np.array([1.0, 1.0 + 1e-13, 2.0, 2.0 + 1e-12, 1.0 + 2e-13])
    assert best_indices(scores, np.arange(5), 5).tolist() == [2, 3, 0, 1, 4]
    assert best_indices(scores, np.arange(5), 3).tolist() == [2, 3, 0]


@pytest.mark.parametrize("texts", [[], [[]], [[], ["a"]]], ids=["no text", "empty text", "one empty text"])
def test_little_to_index(texts: list[list[str]]) -> None:
    best = Bm25Index(texts).best(["a"], 5)
    assert all(len(found) == sum(map(bool, texts)) for found in best.values())


def test_a_query_takes_milliseconds() -> None:
    random = Random(0)
    vocabulary = [f"w{number}" for number in range(5_000)]
    weights = list(accumulate(1 / (1 + rank) for rank in range(len(vocabulary))))
    texts = [random.choices(vocabulary, cum_weights=weights, k=20) for _ in range(20_000)]
    index = Bm25Index(texts)
    start = time.process_time()
    for query in texts[:20]:
        index.best(query, 50)
    assert (time.process_time() - start) / 20 < 0.05
