"""What is read as a quantity, and what is none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.verify.quantities import quantities, unit


@pytest.mark.parametrize(
    ("text", "low", "high", "name"),
    [
        ("77 % of cells", 77, 77, "%"),
        ("7,7 % of cells", 7.7, 7.7, "%"),
        ("0.77", 0.77, 0.77, ""),
        ("a twofold increase", 2, 2, "fold"),
        ("two-fold", 2, 2, "fold"),
        ("twice as many", 2, 2, "fold"),
        ("3 times higher", 3, 3, "fold"),
        ("by a factor of 3", 3, 3, "fold"),
        ("half of the cells", 50, 50, "%"),
        ("two thirds of patients", 200 / 3, 200 / 3, "%"),
        ("one sixth of the variation", 100 / 6, 100 / 6, "%"),
        ("cut deaths by more than half", 50, math.inf, "%"),
        ("mortality fell by a third.", 100 / 3, 100 / 3, "%"),
        ("halved mortality", 50, 50, "%"),
        ("four in five episodes", 80, 80, "%"),
        ("nine out of ten drivers", 90, 90, "%"),
        ("two in three patients", 200 / 3, 200 / 3, "%"),
        ("two out of three steps", 200 / 3, 200 / 3, "%"),
        ("two in three dimensions", 3, 3, "#dimension"),
        ("in two of the three trials", 2, 2, "#trial"),
        ("2 of 3 trials", 2, 2, "#trial"),
        ("about one in a hundred cells", 1, 1, "%"),
        ("1 in 1,000 births", 0.1, 0.1, "%"),
        ("1 in 100,000 births", 0.001, 0.001, "%"),
        ("one in twenty-five mice", 25, 25, "#mouse"),
        ("a tenth of a millimetre", 0.0001, 0.0001, "length"),
        ("half an hour", 1800, 1800, "time"),
        ("two dozen mice", 24, 24, "#mouse"),
        ("1,000 genes", 1000, 1000, "#gene"),
        ("twenty-five patients", 25, 25, "#patient"),
        ("1.2 million people", 1.2e6, 1.2e6, "#people"),
        ("110M parameters", 1.1e8, 1.1e8, "#parameter"),
        ("10^3 cells", 1000, 1000, "#cell"),
        ("10³ cells", 1000, 1000, "#cell"),
        ("1.5 × 10−3 mol", 0.0015, 0.0015, "amount"),
        ("1.5 × 10⁻³ mol", 0.0015, 0.0015, "amount"),
        ("1e-5", 1e-5, 1e-5, ""),
        ("p < 0.05", -math.inf, 0.05, "=p"),
        ("p<10-5", -math.inf, 1e-5, "=p"),
        ("n = 12", 12, 12, "=n"),
        ("AUC of 0.77", 0.77, 0.77, "=auc"),
        ("an F-measure of 72.1 on the 7 types", 72.1, 72.1, "=f"),
        ("the F1 score is 0.72", 0.72, 0.72, "=f1"),
        ("2.5 kg", 2500, 2500, "mass"),
        ("10-20 mg", 0.01, 0.02, "mass"),
        ("10 mg to 20 mg", 0.01, 0.02, "mass"),
        ("between 10 and 20 patients", 10, 20, "#patient"),
        ("12.5%–14%", 12.5, 14, "%"),
        ("more than 50%", 50, math.inf, "%"),
        ("at most 3 days", -math.inf, 3 * 86400, "time"),
        ("≥ 18 years", 18 * 31557600, math.inf, "time"),
        ("50 or more patients", 50, math.inf, ""),
        ("5 ± 2 days", 5 * 86400, 5 * 86400, "time"),
        ("one day of rest", 86400, 86400, "time"),
        ("37 °C", 37, 37, "°C"),
        ("-5 mV", -0.005, -0.005, "voltage"),
        ("at most $300 a metre", -math.inf, 300, "#dollar"),
        ("310 dollars a metre", 310, 310, "#dollar"),
        ("€2.4 billion a year", 2.4e9, 2.4e9, "#euro"),
        ("5,000 USD", 5000, 5000, "#dollar"),
        ("GBP 40", 40, 40, "#pound"),
        ("THE 40 mice", 40, 40, "#mouse"),
        ("two to three weeks", 14 * 86400, 21 * 86400, "time"),
        ("five or six mice", 5, 6, "#mouse"),
        ("rose from five to six mice", 6, 6, "#mouse"),
        ("two to three million people", 2e6, 3e6, "#people"),
        ("three hundred to four hundred mice", 400, 400, "#mouse"),
    ],
)
def test_one_quantity(text: str, low: float, high: float, name: str) -> None:
    found, *_ = quantities(text)
    assert found.unit == name
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)


@pytest.mark.parametrize(
    "text",
    [
        "in 2019",
        "the 1990s",
        "IL-6 and p53 in H3K27, COVID-19 and SARS-CoV-2",
        "3D, 5hmC, 14C",
        "as shown [12] and [3, 4-6] (7)",
        "(Doe et al., 2010; Roe and Poe 2012a)",
        "Figure 2, Table 3, type 2 diabetes, phase 3",
        "one of them",
        "one in ten thousand, one in a hundred thousand",
        "the third of May, the top half, halves of the brain",
        "the first half of the century",
        "a double-blind study",
        "",
    ],
)
def test_no_quantity(text: str) -> None:
    assert quantities(text) == []


def test_about_and_what_is_written() -> None:
    (found,) = quantities("in approximately 80 % of all cells")
    assert found.about
    assert found.text == "approximately 80 %"


def test_sums_of_money_keep_their_sign() -> None:
    assert [quantity.text for quantity in quantities("around US$10, then 20 EUR")] == ["around US$10", "20 EUR"]


def test_several() -> None:
    found = quantities("30–40% of 200 patients lost 5 kg within 2 weeks (p = 0.01)")
    assert [quantity.unit for quantity in found] == ["%", "#patient", "mass", "time", "=p"]


@pytest.mark.parametrize(
    ("text", "size"), [("mg/kg", 1e-6), ("µm", 1e-6), ("hours", 3600), ("Kilograms", 1000), ("kDa", 1000), ("nM", 1e-9)]
)
def test_units(text: str, size: float) -> None:
    found = unit(text)
    assert found is not None
    assert found[1] == pytest.approx(size)


def test_no_unit() -> None:
    assert unit("genes") is None
    assert unit("mg/gene") is None


@given(st.text(alphabet=st.sampled_from("0123456789.,-–×^%e ()[]<>±kgmM°half twofold"), max_size=200))
def test_any_text(text: str) -> None:
    for found in quantities(text):
        assert found.low <= found.high
        assert not math.isnan(found.low)
        assert found.grain > 0


@given(st.floats(0.01, 1e6).map(lambda value: round(value, 2)))
def test_what_is_written_is_read(value: float) -> None:
    (found,) = quantities(f"it weighs {value} kg here")
    assert found.low == pytest.approx(1000 * value)


def test_long_text_takes_no_long_time() -> None:
    assert len(quantities("1 " * 20_000)) <= 20_000
    assert quantities("1,000" * 5_000) is not None


@pytest.mark.parametrize(
    "text",
    [
        "1 in 10 000 births",
        "1 in 10 million",
        "one in two spatial dimensions",
        "one in two separate steps",
    ],
)
def test_no_share(text: str) -> None:
    assert "%" not in {quantity.unit for quantity in quantities(text)}
