"""What is a quotation of the claim, and what is its best backing."""

from whycite.verify.roles import quotes

CLAIM = "Bees sleep at night and hang their antennae low"


def test_in_quotation_marks() -> None:
    assert quotes(CLAIM, "Doe said “bees sleep at night and hang their antennae low”, which is wrong.")


def test_what_is_reported_of_others_is_no_quotation() -> None:
    assert not quotes(CLAIM, "According to Doe et al., bees sleep at night and hang their antennae low.")


def test_the_same_words_as_its_own_are_backing() -> None:
    assert not quotes(CLAIM, "Bees sleep at night and hang their antennae low.")


def test_other_words_in_quotation_marks() -> None:
    assert not quotes(CLAIM, "Doe called it “a deep sleep of the hive that lasts for hours”.")


def test_a_few_words_are_said_twice_by_chance() -> None:
    assert not quotes("Bees sleep", "Doe said “bees sleep” (Doe, 2010).")
