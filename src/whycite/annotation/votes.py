"""The truth by vote, and how sure a vote must be (the thesis, 4.4 and 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whycite.errors import UserError

__all__ = ["Answered", "Labelled", "first_votes", "vote"]

Answered = Mapping[str, Mapping[str, str]]
"""Task -> labeller -> label, the first to answer first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The label that several labellers give a task together."""

    label: str
    share: float  # of the votes, or the probability that the label is right
    votes: int


def first_votes(answered: Answered, votes: int) -> dict[str, dict[str, str]]:
    """The tasks with so many answers or more, with the first so many of them."""
    if votes < 1:
        raise UserError(f"a vote needs 1 labeller or more, not {votes}")
    return {task: dict(list(given.items())[:votes]) for task, given in answered.items() if len(given) >= votes}


def vote(answered: Answered, least: float = 0.5) -> dict[str, Labelled]:
    """The label of most, where its share is at least `least` and above a half; tasks without such a label are left out.

    Majority 0.5, high majority 0.8 (4 of 5), unanimous 1.
    """
    if not 0.5 <= least <= 1:
        raise UserError(f"the share of votes must be from 0.5 to 1, not {least}")
    found = {}
    for task, given in answered.items():
        labels = list(given.values())
        label = max(labels, key=labels.count)
        share = labels.count(label) / len(labels)
        if share > 0.5 and share >= least - 1e-9:  # 4 / 5 of votes is 0.8, however it is written
            found[task] = Labelled(label, share, len(labels))
    return found
