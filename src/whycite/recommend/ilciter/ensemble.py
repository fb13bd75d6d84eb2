"""Rank ensembling: several lists of spans become one (ILCiteR, section 6.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

__all__ = ["candidates", "ensemble", "ranks"]

Spans = NDArray[np.int64]


def candidates(lists: Sequence[Spans]) -> Spans:
    """The spans that stand in any of the lists, in the order of the database."""
    return reduce(np.union1d, lists)


def ranks(listed: Spans, spans: Spans) -> NDArray[np.int64]:
    """The place of each span in a list, from 0; a span that is missing gets the length of the list."""
    places = {int(span): place for place, span in enumerate(listed)}
    return np.array([places.get(int(span), len(places)) for span in spans], np.int64)


def ensemble(lists: Sequence[Spans], spans: Spans) -> list[tuple[int, int]]:
    """The spans with the sum of their ranks in the lists, lowest first, of equal ones the first of the database."""
    total = np.sum([ranks(listed, spans) for listed in lists], axis=0)
    order = np.lexsort((spans, total))
    return [(int(spans[at]), int(total[at])) for at in order]
