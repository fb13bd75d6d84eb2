"""How well an entry of the draft's own bibliography fits a sentence, in one number."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.check.entries import FEATURES, Held

__all__ = ["DOUBT", "WEIGHTS", "order", "scores"]

# Fitted by `python benchmarks/bibliography.py`, which measures on other drafts than it fits to, and prints these last:
# a conditional logit over the entries of each draft, drafts with many citations weighing less for each of them.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "title": 0.25,
        "names": 0.21,
        "paragraph": 5.73,
        "meaning": 9.3,
        "author": 5.57,
        "year": 2.47,
        "section": 1.34,
        "near": -0.92,
    }
)
DOUBT = 0.5  # the cosine that 95 of 100 first entries reach where they are right: a first one below it is a poor one
_DIGITS = 9  # scores that agree so far are equal: what differs is rounding, which no order may hang on


def scores(held: Held, weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.float64]:
    """The score of each entry."""
    return np.asarray((held.features * [weights[name] for name in FEATURES]).sum(axis=1))


def order(held: Held, weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.int64]:
    """Rows of `held`, the best first; of equal ones the first in the bibliography."""
    return np.argsort(-scores(held, weights).round(_DIGITS), kind="stable")
