"""What a claim denies, and what it makes up."""

import pytest

from whycite.verify import sentences
from whycite.verify.lexical import Lexicon

PAPER = (
    "Thresher sharks use their tails to hunt sardines.",
    "We filmed sharks for three months near an island in the Philippines.",
    "Tail-slaps stunned several sardines at once.",
    *(f"Event number {at} was recorded with a handheld camera by the divers." for at in range(40)),
)


def test_what_is_denied_is_not_backed() -> None:
    said = sentences("Thresher sharks use their tails to hunt sardines.", PAPER)
    denied = sentences("Thresher sharks never use their tails to hunt sardines.", PAPER)
    assert said.verdict == "backed"
    assert denied.verdict != "backed"
    assert denied.chances["backed"] < said.chances["backed"] / 2


def test_what_is_made_up_is_less_backed() -> None:
    said = sentences("Thresher sharks stun sardines with their tails.", PAPER)
    made_up = sentences("Thresher sharks paint cathedrals with violet umbrellas.", PAPER)
    assert made_up.verdict != "backed"
    assert made_up.chances["backed"] < said.chances["backed"]


def test_words_that_sentences_hold_together() -> None:
    lexicon = Lexicon(PAPER)
    claim = "Sharks use tails; sardines stunned near island"
    assert lexicon.known(claim) == pytest.approx(1.0)
    assert lexicon.held(claim, [0]) < lexicon.held(claim, [0, 1, 2]) == pytest.approx(1.0)
    assert lexicon.known("unheard words") == 0.0
    assert lexicon.held("", [0]) == lexicon.known("") == 0.0
