"""Which number goes with which word."""

import pytest

from whycite.verify.contradiction import crossed_numbers

PASSAGE = "Dams held for beavers (93.3 % of days) and for otters (95.2 % of days)."


@pytest.mark.parametrize(
    "claim",
    [
        "Dams held on 95.2% of days for beavers and 93.3% for otters.",
        "For beavers 95.2 % and for otters 93.3 % was reached.",
        "Beavers 95.2 %, otters 93.3 %.",
    ],
)
def test_crossed(claim: str) -> None:
    assert "95.2 goes with “" in crossed_numbers(claim, PASSAGE)
    assert crossed_numbers(claim, claim) == ""


@pytest.mark.parametrize(
    "claim",
    [
        "Dams held on 93.3% of days for beavers and 95.2% for otters.",
        "For otters it is 95.2 %, for beavers 93.3 %.",
        "Beavers and otters reached 93.3 % and 95.2 %.",
        "Beavers reached 93.3 %.",
        "Between 93.3 % and 95.2 % of dams held.",
        "",
    ],
)
def test_not_crossed(claim: str) -> None:
    assert crossed_numbers(claim, PASSAGE) == ""


def test_words_that_keep_their_numbers_speak_against_it() -> None:
    passage = "In winter beavers slept 12 hours, in summer otters slept 7 hours."
    assert crossed_numbers("Beavers sleep 12 hours in winter and otters 7 hours in summer.", passage) == ""


def test_many_numbers_are_quick() -> None:
    text = " ".join(f"{number} word{number}a" for number in range(2000))
    assert crossed_numbers(text, text) == ""
