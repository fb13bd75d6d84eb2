"""Sentences that say a claim in its own words."""

import pytest

from whycite.verify.features import says_in_same_words

CLAIM = "Foraging honeybees sleep at night."


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("Honeybees that forage sleep at night.", True),
        ("Foraging honeybees sleep at night and hang their antennae low.", True),
        ("Honeybees sleep at night.", False),
        ("Foraging honeybees do not sleep at night.", False),
        ("Foraging honeybees may sleep at night.", False),
        ("Some foraging honeybees sleep at night.", False),
        ("We asked whether foraging honeybees sleep at night.", False),
        (f"Foraging honeybees sleep at night{' in the hive of wood' * 4}.", False),
    ],
    ids=["order", "more", "less", "denied", "possible", "some", "asked", "long"],
)
def test_same_words(sentence: str, same: bool) -> None:
    assert says_in_same_words(CLAIM, sentence) is same


def test_a_claim_without_content_words() -> None:
    assert not says_in_same_words("of the", "of the hive")
