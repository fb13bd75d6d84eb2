"""SCOPE's input variants, word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.lab.scope.inputvariants import (
    VARIANTS,
    ClaimPlace,
    claim_input,
    nearest_words,
    paper_input,
    ranker_variant,
)

PLACE = ClaimPlace(("One two.", "The claim.", "Three four.", "Five."), 1, "A title", "An abstract.", "method")
EXPECTED = {
    "default": "The claim. A title An abstract.",
    "paragraph": "The claim. A title One two. TARGETSENT Three four. Five.",
    "paragraph-notitle": "The claim. One two. TARGETSENT Three four. Five.",
    "section": "The claim. A title method An abstract.",
    "section-paragraph": "The claim. A title method One two. TARGETSENT Three four. Five.",
    "section-paragraph-notitle": "The claim. method One two. TARGETSENT Three four. Five.",
}


def test_every_variant() -> None:
    assert {each.name: claim_input(each, PLACE) for each in VARIANTS} == EXPECTED


def test_without_masking_the_sentence_stays() -> None:
    assert (
        claim_input(ranker_variant("paragraph-notitle"), PLACE, masked=False)
        == "The claim. One two. The claim. Three four. Five."
    )


def test_a_paragraph_is_cut_at_both_ends() -> None:
    # Two words for the sentence, one for its place: what is left is shared out.
    assert claim_input(ranker_variant("paragraph-notitle"), PLACE, room=5) == "The claim. two. TARGETSENT Three"
    assert (
        claim_input(ranker_variant("paragraph-notitle"), PLACE, room=7) == "The claim. One two. TARGETSENT Three four."
    )
    assert claim_input(ranker_variant("paragraph-notitle"), PLACE, room=0) == "The claim. TARGETSENT"
    assert (
        claim_input(ranker_variant("default"), PLACE, room=1) == EXPECTED["default"]
    )  # an abstract is cut by the ranker


def test_words_cost_what_they_cost() -> None:
    assert claim_input(ranker_variant("paragraph-notitle"), PLACE, room=24, cost=len) == "The claim. two. TARGETSENT"


def test_what_is_not_known_is_left_out() -> None:
    assert claim_input(ranker_variant("section"), ClaimPlace(("Alone.",))) == "Alone."
    assert claim_input(ranker_variant("section-paragraph"), ClaimPlace(("Alone.",))) == "Alone. TARGETSENT"


def test_the_year_stands_between_title_and_abstract_where_the_section_is_read() -> None:
    assert paper_input(ranker_variant("default"), "T", "A", 2001) == "T\nA"
    assert paper_input(ranker_variant("section"), "T", "A", 2001) == "T\n2001\nA"
    assert paper_input(ranker_variant("section"), "T", "A") == "T\nA"


def test_an_unknown_variant() -> None:
    with pytest.raises(UserError, match="unknown input variant 'x'; choose one of: default, paragraph"):
        ranker_variant("x")


WORDS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=12)


@given(before=WORDS, after=WORDS, room=st.integers(-3, 30))
def test_what_is_kept_is_next_to_the_middle_and_fits(before: list[str], after: list[str], room: int) -> None:
    left, right = nearest_words(before, after, room)
    assert left == before[len(before) - len(left) :]
    assert right == after[: len(right)]
    assert len(left) + len(right) == min(max(room, 0), len(before) + len(after))
    # One side has more only where the other has no more words.
    if len(left) > len(right) + 1:
        assert right == after
    if len(right) > len(left) + 1:
        assert left == before
