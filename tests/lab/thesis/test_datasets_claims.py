"""Claims: what is said stays, what points at the cited paper goes."""

import time

import pytest

from whycite.lab.thesis.datasets import claim_of, says_something


@pytest.mark.parametrize(
    ("citing", "claim"),
    [
        ("We use TnT (Brants, 2000), a tagger.", "We use TnT, a tagger."),
        ("Features are local and global (Chieu and Ng, 2002b; Doe et al., 2004).", "Features are local and global."),
        ("Zhao and Gildea (2010) chose Gibbs sampling.", "chose Gibbs sampling."),
        ("Zhou et al (2005) used chunks.", "used chunks."),
        ("Only the relevant segments are retrieved [1].", "Only the relevant segments are retrieved."),
        ("It works [3, 5-7] in 2004 as in 48% (of 30) cases.", "It works in 2004 as in 48% (of 30) cases."),
        ("Levels fell by 21 in 1999, [<|multi_cit|>,7] and rose [3,<|cit|>].", "Levels fell by 21 in 1999, and rose."),
        ("It is a target (Maezawa and Jin, <|multi_cit|>; Li et al., <|other_cit|>).", "It is a target."),
        ("Immunity is low.6,<|other_cit|> Infection spreads.<|cit|>", "Immunity is low. Infection spreads."),
        ("See (Doe, 2004).", "See."),
        ("[12]", ""),
        ("", ""),
    ],
    ids="author authors narrative others number numbers masks named-masks glued see bare empty".split(),
)
def test_claims(citing: str, claim: str) -> None:
    assert claim_of(citing) == claim


def test_what_says_something() -> None:
    assert says_something("It works.")
    assert not says_something(claim_of("[12] (2004)."))


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, "A, " * 30_000, "Aa and " * 20_000, "1, " * 30_000, "<|cit|>," * 10_000, "(Aa " * 20_000],
    ids=["brackets", "names", "and", "numbers", "masks", "opened"],
)
def test_long_texts_take_no_long_time(text: str) -> None:
    begun = time.process_time()
    claim_of(text)
    assert time.process_time() - begun < 30
