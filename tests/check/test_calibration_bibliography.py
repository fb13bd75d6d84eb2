"""What titles tell of sentences: shares, common words, and what they count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import word_encoder
from whycite.check.calibration import (
    BibliographyWeights,
    bibliography_titles,
    fit_bibliography,
    title_shares,
    title_signs,
)
from whycite.documents.model import Reference

LISTED = ["Busy bees need rest", "Granite in the walls of old bridges", "Attention is all you need"]
SAID = ["Bees need rest", "We thank our friends", "Old bridges have walls of granite", "Nothing is said here"]
ALONE = np.array([0.3, 0.3, 0.3, 0.001])


def entry(number: int, title: str) -> Reference:
    return Reference(f"r{number}", title)


def test_a_bibliography_that_tells_nothing() -> None:
    few = [entry(0, "One"), entry(1, "Two"), entry(2, "Three"), entry(3, " ")]
    assert bibliography_titles(few) == ["One", "Two", "Three"]
    assert bibliography_titles([*few, entry(4, "…")]) == []  # two of five have no title
    assert bibliography_titles([]) == []
    assert bibliography_titles([entry(0, "On bees"), entry(1, "On Bees")]) == ["On Bees"]
    assert len(bibliography_titles(entry(at, f"A{at}") for at in range(2_000))) == 2_000
    assert bibliography_titles(entry(at, f"A{at}") for at in range(2_001)) == []


def test_who_says_what_a_title_says_gets_it() -> None:
    found = title_signs(ALONE, SAID, LISTED, word_encoder())
    shares, words = found[:3].T
    assert np.exp(shares).sum() == pytest.approx(0.9 + 3 * 1e-3)  # as much as is expected to be cited
    assert shares[1] < min(shares[0], shares[2])
    assert words[1] == 0 < min(words[0], words[2])
    assert np.isnan(found[3]).all()  # it would need too much to be called worthy


def test_nothing_to_ask() -> None:
    assert np.isnan(title_signs(ALONE, SAID, [], word_encoder())).all()
    assert title_signs(np.zeros(0), [], LISTED, word_encoder()).shape == (0, 2)
    assert np.isnan(title_signs(np.zeros(4), SAID, LISTED, word_encoder())).all()


@given(st.permutations(LISTED * 3))
def test_the_order_of_entries_says_nothing(listed: list[str]) -> None:
    assert np.allclose(
        title_signs(ALONE, SAID, listed, word_encoder()),
        title_signs(ALONE, SAID, LISTED * 3, word_encoder()),
        equal_nan=True,
    )


@given(st.integers(1, 700), st.integers(1, 20), st.integers(0, 9))
def test_every_title_is_shared_out_whole(listed: int, said: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(said + listed, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shares = title_shares(rows[:said], rows[said:], random.normal(size=said))
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(listed)


def test_what_is_learned_of_bibliographies() -> None:
    random = np.random.default_rng(0)
    alone = random.uniform(0.02, 0.9, 4_000)
    told = random.normal(size=(4_000, 2))
    told[:100] = np.nan
    odds = np.log(alone / (1 - alone)) + 2 * np.nan_to_num(told[:, 0]) - 1
    worthy = random.random(4_000) < 1 / (1 + np.exp(-odds))
    half = [slice(0, 2_000), slice(2_000, 4_000)]
    made = fit_bibliography(
        [alone[part] for part in half], [told[part] for part in half], [worthy[part] for part in half]
    )
    assert made is not None
    assert made.alone == pytest.approx(1, abs=0.15)
    assert made.shares == pytest.approx(2, abs=0.2)
    assert made.shift == pytest.approx(-1, abs=0.25)
    assert abs(made.words) < 0.15
    found = made.informed_worthiness(alone, told)
    assert np.array_equal(found[:100], alone[:100])
    assert np.mean((found[100:] >= 0.5) == worthy[100:]) > np.mean((alone[100:] >= 0.5) == worthy[100:]) + 0.05


def test_nothing_to_learn_from() -> None:
    assert fit_bibliography([ALONE], [np.full((4, 2), np.nan)], [np.zeros(4, bool)]) is None
    assert fit_bibliography([], [], []) is None


def test_a_list_that_has_only_begun_tells_nothing() -> None:
    sure = np.full(4, 0.9)
    assert np.isnan(title_signs(sure, SAID, LISTED[:1], word_encoder())).all()
    assert not np.isnan(title_signs(sure, SAID, LISTED[:2], word_encoder())).any()


def test_entries_that_nobody_cites_add_nothing() -> None:
    other = [f"Topic {at} of chapter {at * at}" for at in range(500)]
    own, more = (np.exp(title_signs(ALONE, SAID, listed, word_encoder())[:3, 0]) for listed in (LISTED, LISTED + other))
    assert own.sum() == pytest.approx(more.sum())


def test_certain_sentences_stay_probabilities() -> None:
    found = BibliographyWeights(1, 1, 1, 50).informed_worthiness(np.array([0.0, 1.0]), np.array([[9.0] * 2, [9.0] * 2]))
    assert np.array_equal(found, [1, 1])
