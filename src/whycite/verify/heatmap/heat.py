"""How hot a sentence is: its score in five steps, and nothing below a threshold."""

from __future__ import annotations

import math

from whycite.errors import UserError
from whycite.verify.model import Passage, Verification

__all__ = ["STEPS", "by_index", "check_threshold", "heat", "usual_threshold"]

STEPS = 5
_USUAL = 0.5
_LOWEST = 0.05
_FEWEST = 3  # sentences that a map should show


def heat(score: float, threshold: float) -> int:
    """0 below the threshold, else the step of the score from 1 to 5; a sentence's colour hangs on its score alone."""
    return min(int(score * STEPS) + 1, STEPS) if score >= threshold else 0


def usual_threshold(verification: Verification) -> float:
    """0.5, or less where that shows fewer than three sentences; but never so low that all of a document is shaded."""
    scores = sorted((passage.score for passage in verification.passages), reverse=True)
    if not scores:
        return _USUAL
    third = math.floor(scores[min(_FEWEST, len(scores)) - 1] * 100) / 100
    return max(min(third, _USUAL), _LOWEST)


def check_threshold(threshold: float | None, verification: Verification) -> float:
    """The threshold asked for, if it is one; None: the usual one."""
    if threshold is None:
        return usual_threshold(verification)
    if not 0 <= threshold <= 1:
        raise UserError(f"the threshold must be from 0 to 1, not {threshold}")
    return threshold


def by_index(verification: Verification) -> dict[int, Passage]:
    """The passages by the place of their sentence in the document."""
    return {passage.index: passage for passage in verification.passages}
