"""Several lists of spans become one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whycite.lab.ilciter import candidate_spans, ensemble, ranks

LISTS = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=10), min_size=1, max_size=3)


def spans(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def test_a_missing_span_gets_the_length_of_the_list() -> None:
    okapi, plus = spans(7, 3, 9), spans(3, 4)
    union = candidate_spans([okapi, plus])
    assert union.tolist() == [3, 4, 7, 9]
    assert ranks(okapi, union).tolist() == [1, 3, 0, 2]
    assert ranks(plus, union).tolist() == [0, 1, 2, 2]
    assert ensemble([okapi, plus], union) == [(3, 1), (7, 2), (4, 4), (9, 4)]  # of equal ones the first


def test_one_list_keeps_its_order_and_the_rest_comes_last() -> None:
    assert ensemble([spans(5, 2)], spans(1, 2, 5, 8)) == [(5, 0), (2, 1), (1, 2), (8, 2)]


@given(LISTS)
def test_ensembling(lists: list[list[int]]) -> None:
    arrays = [spans(*numbers) for numbers in lists]
    union = candidate_spans(arrays)
    assert set(union.tolist()) == {span for numbers in lists for span in numbers}
    found = ensemble(arrays, union)
    for span, rank in found:
        assert rank == sum(numbers.index(span) if span in numbers else len(numbers) for numbers in lists)
    assert [(rank, span) for span, rank in found] == sorted((rank, span) for span, rank in found)
    assert ensemble(arrays[::-1], union) == found
