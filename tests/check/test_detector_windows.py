"""Long paragraphs in windows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.check.detector import Window, windows


def test_what_fits_is_one_window() -> None:
    assert list(windows([10, 20, 30], 60)) == [Window(0, 3, 0, 3)]
    assert list(windows([], 60)) == []


def test_edges_are_judged_where_they_have_context() -> None:
    assert list(windows([10] * 10, 50, context=10)) == [Window(0, 5, 0, 4), Window(3, 8, 4, 7), Window(6, 10, 7, 10)]


def test_no_room() -> None:
    with pytest.raises(ValueError, match="at least one"):
        list(windows([1], 0))


@given(st.lists(st.integers(1, 80), max_size=40), st.integers(1, 120), st.integers(0, 60))
def test_each_judged_once_in_a_window_that_fits(lengths: list[int], limit: int, context: int) -> None:
    made = list(windows(lengths, limit, context))
    assert [at for each in made for at in range(each.judged_start, each.judged_stop)] == list(range(len(lengths)))
    for each in made:
        assert each.start <= each.judged_start < each.judged_stop <= each.stop
        assert each.stop - each.start == 1 or sum(lengths[each.start : each.stop]) <= limit
