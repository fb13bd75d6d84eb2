"""Numbers of claims against those of passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.verify.numbers import Agreement, compare_numbers, unstated
from whycite.verify.quantities import quantities


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("77% of cells", "the share was 0.77"),
        ("twice as high", "a 2-fold increase"),
        ("about 80 % died", "79.6% died"),
        ("80% died", "79.6 % died"),
        ("it weighs 1 kg", "it weighs 1000 g"),
        ("p < 0.05", "p = 0.03"),
        ("p < 0.05", "p < 0.001"),
        ("more than half of the cells", "62 % of cells"),
        ("after 24 hours", "after one day of rest"),
        ("a third of patients", "33 % of patients"),
        ("about four in five episodes", "an efficacy of 82% (95%CI 75%-87%)"),
        ("cut deaths by more than half", "a reduction of 57%"),
        ("one in a hundred cells", "1% of stromal cells"),
        ("a tenth of a millimetre too thick", "a difference of 0.1 mm"),
        ("a gap of 100 µm", "a gap of 0.1 mm"),
        ("an accuracy of 0.92", "92 % accuracy"),
        ("12 to 15 mice", "12-15 mice"),
        ("from 3 % to 28 %", "ascites in 28 %, bleeding in 3 %"),
        ("10 % of cells", "more than 10 % of cells"),
        ("1,234 genes were found", "we found 1234 genes"),
        ("two trials", "two of the three trials"),
    ],
)
def test_the_same(claim: str, passage: str) -> None:
    found = compare_numbers(claim, passage)
    assert (found.stated, found.otherwise, found.absent) == (1, 0, 0)
    assert found.words.endswith("here too")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("77 % of cells", "7.7 % of cells"),
        ("77% died", "78% died"),
        ("one in five episodes", "an efficacy of 82%"),
        ("one in a hundred cells", "3% of cells"),
        ("less than half of them", "57% of them"),
        ("p < 0.05", "p = 0.2"),
        ("5 genes", "12 genes"),
        ("a rise from 10 % to 20 %", "a rise from 10% to 25%"),
        ("more than 50 % of cells", "40 % of cells"),
        ("twofold", "a 10-fold increase"),
        ("2 mg", "2 g"),
        ("four trials", "two of three trials"),
    ],
)
def test_otherwise(claim: str, passage: str) -> None:
    found = compare_numbers(claim, passage)
    assert (found.stated, found.otherwise) == (0, 1)
    assert " in the claim, " in found.words


def test_two_of_three_is_not_one_of_three() -> None:
    assert compare_numbers("two of the three trials", "2 of 3 trials") == Agreement(
        stated=2, words="two of the three and three here too"
    )
    differing = compare_numbers("three of the four trials", "two of the four trials")
    assert differing.words.startswith("three of the four in the claim, two of the four here")


def test_words() -> None:
    assert compare_numbers("77 % of cells", "7.7 % of cells").words == "77 % in the claim, 7.7 % here"
    assert compare_numbers("5 genes and 3 mg", "5 genes, 3 mg").words == "5 and 3 mg here too"


def test_absent() -> None:
    found = compare_numbers("77 % of cells die", "most cells die in 3 days")
    assert (found.stated, found.otherwise, found.absent, found.words) == (0, 0, 1, "")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("the range 10-20 mg", "we gave 15 mg"),
        ("from 1 % to 28 %", "ascites in 28 %, bleeding in 3 %"),
        ("51 % died", "a rise (95% CI 27.1%-59.2%)"),
        ("85 % of cells", "more than 80 % of cells"),
    ],
)
def test_what_is_not_excluded_is_not_told(claim: str, passage: str) -> None:
    assert compare_numbers(claim, passage) == Agreement(absent=1)


def test_days_after_infection_are_days() -> None:
    assert compare_numbers("after 4 days", "at 4 dpi").stated == 1


def test_a_number_of_another_thing_says_nothing() -> None:
    assert compare_numbers("5 genes", "12 patients").otherwise == 0


def test_a_number_that_is_spoken_for_is_no_rival() -> None:
    assert compare_numbers("it fell by 10 % and then by 20 %", "it fell by 10 %").otherwise == 0


@given(st.integers(1, 999), st.sampled_from(["%", "mg", "days", "-fold"]))
def test_a_number_agrees_with_itself(value: int, unit: str) -> None:
    text = f"it was {value}{unit if unit[0] in '%-' else f' {unit}'} there"
    assert compare_numbers(text, text).stated == 1


@pytest.mark.parametrize(
    ("claim", "passages", "missing"),
    [
        ("Less than 10% of wood, losing 16% of dams", ["less than 10% of wood, losing 1.6% of dams"], ["16%"]),
        ("10% of wood, losing 16% of dams", ["10% of wood", "16% of dams"], []),
        ("A score of 77.1 on the DAM 2004 corpus", ["A score of 72.1 on the DAM 2004 corpus"], ["77.1"]),
        ("40 beavers were seen", ["40 animals were seen"], []),
        ("40 beavers were seen", ["41 beavers were seen"], ["40"]),
        ("Dams of 22 and 12 m", ["Dams of 22 m, dams of 12 m"], []),
        ("Three dams of 1998 held", ["Both dams held"], []),
        ("3 % to 28 % of dams held", ["17 % of dams held"], []),
        ("Dams held", [], []),
        ("77 % of dams held", [], ["77 %"]),
    ],
)
def test_numbers_that_are_nowhere(claim: str, passages: list[str], missing: list[str]) -> None:
    assert unstated(quantities(claim), [quantities(passage) for passage in passages]) == missing


def test_a_year_is_no_number_that_is_told() -> None:
    assert (
        compare_numbers("a score of 72.1 on the DAM 2004 corpus", "72.1 on the DAM 2004 corpus").words
        == "72.1 here too"
    )
    assert compare_numbers("the DAM 2004 corpus", "on the DAM 2004 corpus").words == ""
