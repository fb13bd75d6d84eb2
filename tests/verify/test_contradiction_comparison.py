"""Who is said to be better than whom."""

import pytest

from whycite.verify.contradiction import claims_better, comparison_order

CLAIM = "Beavers build better dams than otters."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLAIM, "Otters build better dams than beavers."),
        (CLAIM, "The dams of beavers are worse than those of otters."),
        (CLAIM, "Compared with beavers, the otters of this lake were clearly better than the rest."),
        ("Beavers outperform otters.", "Beavers are outperformed by otters."),
        ("Beavers outperform otters.", "Otters surpass beavers in all lakes."),
        ("Beavers outperform otters.", "Beavers were inferior to the otters."),
        (
            "Beavers outperform otters.",
            "Scores of otters are consistently higher than those of beavers, with few exceptions.",
        ),
        (
            "Wet wood is more useful for dams than dry wood.",
            "We show that dry wood is more useful for dams than wet wood.",
        ),
        ("Wet wood is more useful for dams than dry wood.", "Wet wood is less useful for dams than dry wood."),
        ("Sleep is longer in winter than in summer.", "Sleep was longer in summer than in winter."),
    ],
)
def test_the_other_way_round(claim: str, passage: str) -> None:
    assert comparison_order(claim, passage) == "reversed"
    assert comparison_order(claim, claim) == "same"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLAIM, "Dams of beavers (and not of others) are better than the dams of otters."),
        (CLAIM, "The otters were worse than beavers."),
        (CLAIM, "We show that beavers are better."),
        ("Beavers outperform otters.", "Otters are outperformed by beavers."),
        ("Beavers outperform otters.", "Compared to otters, beavers did better than all others."),
        ("Sleep is longer in winter than in summer.", "Sleep is shorter in summer than in winter."),
        ("Beavers have more wood than otters.", "Beavers had higher stocks than otters."),
    ],
)
def test_the_same_way_round(claim: str, passage: str) -> None:
    assert comparison_order(claim, passage) == "same"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLAIM, "Beavers and otters build dams."),
        (CLAIM, "Otters are not better than beavers."),
        (CLAIM, "We asked whether otters build better dams than beavers."),
        (CLAIM, "Otters swim faster than beavers."),
        (CLAIM, "More than 20 otters were better fed."),
        ("Beavers build dams.", "Otters build better dams than beavers."),
        ("More than 40 beavers were seen.", "Less than 40 beavers were seen."),
    ],
)
def test_nothing_is_compared(claim: str, passage: str) -> None:
    assert comparison_order(claim, passage) == "none"


def test_the_lesser_one_is_better_than_something_else() -> None:
    assert comparison_order("Beavers outperform otters.", "Otters outperform rats.") == "other"
    assert comparison_order("Beavers outperform otters.", "In such lakes the otters are clearly better.") == "other"


def test_claims_that_say_who_is_better() -> None:
    assert claims_better("Beavers outperform otters.")
    assert claims_better(CLAIM)
    assert not claims_better("Sleep is longer in winter than in summer.")
    assert claims_better("Beavers improve upon otters.")
    assert not claims_better("Beavers improve on rainy days.")
    assert not claims_better("It is open whether beavers outperform otters.")
    assert not claims_better(
        "Beavers of northern lakes that eat the bark of many old trees sleep while storms worse than rain rage"
    )


@pytest.mark.parametrize(
    "text", ["", "than", "better than", "more " * 5000 + "than", "more than " * 5000, "outperforms", "a; b: c."]
)
def test_odd_text(text: str) -> None:
    assert comparison_order(CLAIM, text) in ("none", "other")
    assert comparison_order(text, CLAIM) == "none"
