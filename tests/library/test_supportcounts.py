"""A place counts once for a paper, however many spans of it cite the paper."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whycite.library.tables import SupportCounts

_few = st.integers(-2, 2)


@given(st.lists(st.tuples(_few, _few, _few)))
def test_places_are_counted(citations: list[tuple[int, int, int]]) -> None:
    papers, documents, places = np.array(citations, np.int64).reshape(-1, 3).T
    support = SupportCounts.count(papers, documents, places)
    wanted = Counter(paper for paper, _, _ in set(citations))
    assert support.of_all_papers() == wanted
    assert support.of_papers([2, -2, 7, 0]) == {paper: wanted[paper] for paper in (2, -2, 7, 0)}
    assert support.of_papers([]) == {}
