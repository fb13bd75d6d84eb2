"""Words keep what is written, terms keep what matters for matching."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.text.tokens import squeeze, terms, words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("We use BERT (Devlin, 2019).", ["We", "use", "BERT", "(", "Devlin", ",", "2019", ")", "."]),
        ("IL-6 rose by 2.5 to 3,000.", ["IL-6", "rose", "by", "2.5", "to", "3,000", "."]),
        ("GPT-3.5 doesn't", ["GPT-3.5", "doesn't"]),
        ("β-catenin/Wnt", ["β-catenin", "/", "Wnt"]),
        ("e.g. this_one", ["e", ".", "g", ".", "this", "_", "one"]),
        ("p < 0.05...", ["p", "<", "0.05", ".", ".", "."]),
        ("", []),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("IL-6 and IL6", ["il6", "and", "il6"]),
        ("SARS-CoV-2, COVID-19", ["sars", "cov2", "covid19"]),
        ("GPT-3.5 at 2.5 mg", ["gpt3.5", "at", "2.5", "mg"]),
        ("type-2 state-of-the-art", ["type", "2", "state", "of", "the", "art"]),
        ("β-catenin, TNFα, TNF-alpha", ["beta", "catenin", "tnf", "alpha", "tnf", "alpha"]),
        ("5 µm of μ-opioid", ["5", "um", "of", "mu", "opioid"]),
        ("Parkinson’s disease, O'Brien's 5′-UTR", ["parkinson", "disease", "obrien", "5", "utr"]),
        ("3,000 of refs 1,2", ["3000", "of", "refs", "1", "2"]),
        ("Müller’s naïve ﬁt", ["muller", "naive", "fit"]),
        ("γλώσσα", ["γλωσσα"]),
        ("— ... —", []),
    ],
)
def test_terms(text: str, tokens: list[str]) -> None:
    assert terms(text) == tokens


@given(st.text())
def test_words_lose_only_white_space(text: str) -> None:
    assert "".join(words(text)) == "".join(text.split())


@given(st.text())
def test_terms_are_letters_and_digits(text: str) -> None:
    for term in terms(text):
        assert term.replace(".", "").isalnum()
        assert term == term.casefold()


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_terms_do_not_depend_on_case_or_space(text: str) -> None:
    assert terms(text.replace("-", " ").upper()) == terms(text.replace("-", " ").lower())
    assert terms(f"  {text}\n") == terms(text)


@given(st.text(alphabet="aB1 .,-'_\n") | st.text())
def test_a_squeezed_text_has_all_terms(text: str) -> None:
    squeezed = squeeze(text)
    assert squeezed is None or all(term.replace(".", "").encode() in squeezed for term in terms(text))


@pytest.mark.parametrize(("text", "squeezed"), [("GPT-3.5 reads", b"gpt35reads"), ("O'Brien", None), ("naïve", None)])
def test_squeezing(text: str, squeezed: bytes | None) -> None:
    assert squeeze(text) == squeezed


@pytest.mark.parametrize("unit", ["a", "1", "a-", "1,", "1.", "'s", "α", "µ", ",000", "A-1", " ", "\u0301"])
def test_linear_on_hostile_text(unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit.encode()))
    start = time.process_time()
    words(text)
    terms(text)
    assert time.process_time() - start < MAX_SECONDS
