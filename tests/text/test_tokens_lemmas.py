"""Singulars by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.text.tokens import lemma


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("methods", "method"),
        ("analyses", "analysis"),
        ("hypotheses", "hypothesis"),
        ("studies", "study"),
        ("works", "work"),
        ("approaches", "approach"),
        ("processes", "process"),
        ("responses", "response"),
        ("databases", "database"),
        ("appendices", "appendix"),
        ("matrices", "matrix"),
        ("indexes", "index"),
        ("criteria", "criterion"),
        ("acknowledgements", "acknowledgement"),
        ("references", "reference"),
    ],
)
def test_plurals(word: str, singular: str) -> None:
    assert lemma(word) == singular


@pytest.mark.parametrize(
    "word", "analysis corpus loss physics series species this bias is gas ties data method result discuss".split()
)
def test_words_that_are_no_plural_stay(word: str) -> None:
    assert lemma(word) == {"ties": "tie"}.get(word, word)


@given(st.text(st.sampled_from("abeiosuxyhcz"), max_size=12))
def test_a_singular_stays_as_it_is(word: str) -> None:
    assert lemma(lemma(word)) == lemma(word)
    assert len(lemma(word)) <= len(word)
