"""What a claim denies, and what it makes up."""

import pytest

from whycite.verify.claims import verify_sentences
from whycite.verify.lexical import SentenceLexicon

PAPER = (
    "Thresher sharks use their tails to hunt sardines.",
    "We filmed sharks for three months near an island in the Philippines.",
    "Tail-slaps stunned several sardines at once.",
    *(f"Event number {at} was recorded with a handheld camera by the divers." for at in range(40)),
)


def test_what_is_denied_is_not_backed() -> None:
    said = verify_sentences("Thresher sharks use their tails to hunt sardines.", PAPER)
    denied = verify_sentences("Thresher sharks never use their tails to hunt sardines.", PAPER)
    assert said.verdict == "backed"
    assert denied.verdict != "backed"
    assert denied.chances["backed"] < said.chances["backed"] / 2


def test_what_is_made_up_is_less_backed() -> None:
    said = verify_sentences("Thresher sharks stun sardines with their tails.", PAPER)
    made_up = verify_sentences("Thresher sharks paint cathedrals with violet umbrellas.", PAPER)
    assert made_up.verdict != "backed"
    assert made_up.chances["backed"] < said.chances["backed"]


def test_words_that_sentences_hold_together() -> None:
    lexicon = SentenceLexicon(PAPER)
    claim = "Sharks use tails; sardines stunned near island"
    assert lexicon.known_share(claim) == pytest.approx(1.0)
    assert lexicon.joint_share(claim, [0]) < lexicon.joint_share(claim, [0, 1, 2]) == pytest.approx(1.0)
    assert lexicon.known_share("unheard words") == 0.0
    assert lexicon.joint_share("", [0]) == lexicon.known_share("") == 0.0
