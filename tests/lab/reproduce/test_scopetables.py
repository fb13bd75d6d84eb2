"""Figures over seeds, with the spread that the paper's table has."""

import pytest

from whycite.lab.reproduce.scopetables import seed_figure
from whycite.lab.reproduce.tables import Figure, published_tables


def test_spread_over_seeds_is_that_of_the_paper() -> None:
    values = [0.2, 0.3, 0.4, 0.3]
    error, deviation = (seed_figure(values, published_tables("scope")[number].spread) for number in ("3", "13"))
    assert error.value == deviation.value == pytest.approx(0.3)
    assert deviation.spread == pytest.approx(0.0816, abs=0.0001)
    assert error.spread == pytest.approx(0.0408, abs=0.0001)  # of four seeds, half of it
    assert seed_figure([0.5], "standard error over seeds") == Figure(0.5)
