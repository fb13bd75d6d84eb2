"""Claims altered by rule."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.lab.thesis.alterations import KINDS, OPPOSITES, Alteration, alter, has_negation, numbers, replace_words


@pytest.mark.parametrize(
    ("kind", "claim", "altered"),
    [
        ("direction", "Metformin reduces growth.", "Metformin increases growth."),
        ("direction", "Increased LDL is seen.", "Decreased LDL is seen."),
        ("direction", "Genes up-regulated by heat", "Genes down-regulated by heat"),
        ("negation", "Bees dance and are heard.", "Bees dance and are not heard."),
        ("negation", "It does not affect growth.", "It affects growth."),
        ("negation", "It does not modify growth.", "It modifies growth."),
        ("negation", "Drugs cannot help.", "Drugs can help."),
        ("negation", "IL-6 plays a role.", "IL-6 plays no role."),
        ("negation", "It had no respiratory symptoms.", "It had some respiratory symptoms."),
        ("negation", "GATA3 regulates renewal.", "GATA3 does not regulate renewal."),
        ("negation", "Mice lived without food.", "Mice lived with food."),
        ("number", "Two thirds agree.", "Five thirds agree."),
    ],
)
def test_altered(kind: Alteration, claim: str, altered: str) -> None:
    found = alter(claim, kind, Random(0))
    assert found is not None
    assert found.text == altered
    assert found.kind == kind


@pytest.mark.parametrize(
    "claim", ["Cells of mice", "p53 and IL-6 and COVID-19", "leading causes of death", "", "5-HT and 2/3 in 7.4.1"]
)
def test_nothing_to_alter(claim: str) -> None:
    assert [alter(claim, kind, Random(0)) for kind in KINDS] == [None, None, None]


@pytest.mark.parametrize("claim", ["32% of programs", "0.05 mg", "1,200 mice", "about 77.5 %", "in 2003", "9 of 10"])
@pytest.mark.parametrize("seed", range(20))
def test_another_number_of_the_same_form(claim: str, seed: int) -> None:
    found = alter(claim, "number", Random(seed))
    assert found is not None
    before, after = (float(text.replace(",", "")) for text in (found.was, found.now))
    assert before != after
    assert after > 0
    assert ("." in found.was) == ("." in found.now)
    assert "%" not in claim or after <= 100 or " %" in claim
    assert "2003" not in claim or 1900 < after < 2100
    assert found.text == claim.replace(found.was, found.now, 1)


def test_numbers_that_are_no_names() -> None:
    assert numbers("In 1,200 mice, 3.5% of CD4 cells (2 of 57) had IL-6 above 10.") == ["1,200", "3.5", "2", "57", "10"]


def test_every_opposite_is_another_word() -> None:
    assert all(word != other and word == word.lower() for word, other in OPPOSITES.items())
    assert OPPOSITES["increases"] == "decreases"
    assert OPPOSITES["suppressing"] == "promoting"
    assert OPPOSITES["amplified"] == "attenuated"


def test_negations() -> None:
    assert has_negation("It was not seen.")
    assert has_negation("There is no effect.")
    assert not has_negation("Nothing but notes in the annotation.")


def test_replaced_as_whole_words() -> None:
    assert replace_words("Increased and unincreased, increased.", "increased", "decreased") == (
        "Decreased and unincreased, decreased."
    )
    assert replace_words("5 of 15", "5", "7") == "7 of 15"


@given(st.text(max_size=200), st.integers(0, 5))
def test_one_thing_is_changed(claim: str, seed: int) -> None:
    for kind in KINDS:
        found = alter(claim, kind, Random(seed))
        if found:
            assert found.text != claim
            assert found.was in claim
            assert found.now in found.text
            assert found == alter(claim, kind, Random(seed))
