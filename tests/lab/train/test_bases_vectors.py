"""The parts of training: what is shown, what is mined, what the loss says."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import tiny_base
from tests.lab.toys import make_corpus
from whycite.errors import UserError
from whycite.lab.train.bases import Tokens, encode, nearest, nearest_by_words
from whycite.lab.train.claimencoder import ClaimExamples, contrast, sets_overlap
from whycite.lab.train.corpus import load, save
from whycite.models.runtime import side_by_side


def test_a_corpus_comes_back_from_its_file(tmp_path: Path) -> None:
    whole = make_corpus()
    save(whole, tmp_path / "corpus.xz")
    assert load(tmp_path / "corpus.xz") == whole


@pytest.mark.parametrize("data", [b"", b"no xz", b"\xfd7zXZ\x00"], ids=["empty", "other", "cut"])
def test_what_is_no_corpus_is_said_to_be_none(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "corpus.xz").write_bytes(data)
    with pytest.raises(UserError, match="train corpus"):
        load(tmp_path / "corpus.xz")


def test_an_example_never_holds_its_own_article() -> None:
    examples = ClaimExamples(make_corpus())
    drawn = examples.epoch(Random(0))
    assert sorted(each.sentence for each in drawn) == list(range(len(examples.sentences)))
    for each in drawn:
        here = examples.sentences[each.sentence]
        assert each.paper in here.papers
        assert each.title in (examples.titles[each.paper], examples.abstracts[each.paper])
        if each.span >= 0 and each.span_sentence != each.sentence:
            there = examples.sentences[each.span_sentence]
            assert there.article != here.article
            assert each.paper in there.papers
        assert each.span != each.claim


def test_the_nearest_by_words_share_words() -> None:
    texts = ["w4 w5 w6", "w7 w8 w9", "w4 w5 w9", "w50 w51", "w7 w8 w8"]
    tokens = Tokens(tiny_base(), texts, 16)
    found = nearest_by_words(tokens, [0, 1], list(range(5)), 3, "cpu")
    assert found[0].tolist()[:2] == [0, 2]
    assert set(found[1].tolist()) == {1, 4, 2}


def test_the_nearest_are_those_of_the_largest_products() -> None:
    vectors = torch.nn.functional.normalize(torch.randn(50, 8, generator=torch.Generator().manual_seed(0)), dim=1)
    found = nearest(vectors, vectors, 4, chunk=7)
    assert found.tolist() == np.argsort(-(vectors @ vectors.T).numpy(), axis=1)[:, :4].tolist()


def test_vectors_do_not_depend_on_what_is_beside_them() -> None:
    tiny = tiny_base()
    tokens = Tokens(tiny, ["w4 w5", "w6", "w4 w5 w6 w7 w8 w9", "w10 w11 w12"], 16)
    together = encode(tiny.model, tokens, [2, 0, 1, 3, 0], "cls").float()
    alone = torch.cat([encode(tiny.model, tokens, [at], "cls") for at in (2, 0, 1, 3, 0)]).float()
    assert torch.allclose(together, alone, atol=2e-3)


def test_false_negatives_do_not_count() -> None:
    claims = torch.eye(3)
    others = torch.tensor([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    none = torch.zeros(3, 4, dtype=torch.bool)
    false = none.clone()
    false[0, 3] = True  # says what the first claim says, and cites the same
    false[0, 0] = True  # a claim's own is never masked
    assert contrast(claims, others, false, 0.1) < contrast(claims, others, none, 0.1)
    assert torch.isfinite(contrast(claims, others, ~none, 0.1))


@given(st.lists(st.frozensets(st.integers(0, 9), max_size=3), min_size=1, max_size=6))
def test_sets_that_share_something(sets: list[frozenset[int]]) -> None:
    found = sets_overlap(sets, sets[::-1], "cpu")
    expected = [[bool(one & two) for two in sets[::-1]] for one in sets]
    assert found.tolist() == expected


@given(st.integers(2, 30), st.integers(2, 30), st.integers(8, 40))
def test_both_texts_keep_their_marks_and_half_of_the_room(claim: int, text: int, longest: int) -> None:
    one, two = [0, *range(100, 98 + claim), 2], [0, *range(500, 498 + text), 2]
    found = side_by_side(one, two, longest)
    assert len(found) == min(len(one) + len(two) - 1, longest)
    assert found[0] == 0
    assert found[-1] == 2
    assert found.count(2) == 2
    assert found.count(0) == 1
    kept = found.index(2) + 1
    assert kept >= min(len(one), longest // 2)
    assert len(found) - kept >= min(len(two) - 1, longest - longest // 2)
