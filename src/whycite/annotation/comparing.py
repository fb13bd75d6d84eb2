"""Ways to aggregate, held against gold (the thesis, table 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whycite.annotation.agreement import area_under_curve, f1, kappa, mutual
from whycite.annotation.glad import glad
from whycite.annotation.model import KINDS, LABELS, Kind, Task
from whycite.annotation.votes import Answered, Labelled, first_votes, vote
from whycite.errors import UserError

__all__ = ["METHODS", "Row", "aggregate", "agreements", "compare", "labelled"]

METHODS = ("vote", "glad")
_VOTES = (3, 4, 5)


@dataclass(frozen=True, slots=True)
class Row:
    """A way to aggregate the answers of a kind of task, and what it is worth where gold is known."""

    kind: Kind
    method: str
    votes: int
    tasks: int  # with a label and gold
    kappa: float
    auc: float | None  # of the labels themselves
    auc_soft: float | None  # of the share of votes, or of GLAD's probability
    f1: float  # of the first label; of comparisons the mean of both, since neither option is the positive one


def aggregate(answered: Answered, method: str, kind: Kind) -> dict[str, Labelled]:
    """The labels of tasks of a kind."""
    if method not in METHODS:
        raise UserError(f"no way '{method}' to aggregate; there are: {', '.join(METHODS)}")
    if not answered:
        return {}
    return glad(answered, LABELS[kind]).labels if method == "glad" else vote(answered)


def labelled(tasks: Mapping[str, Task], answered: Answered, method: str, least: float = 0.5) -> dict[str, Labelled]:
    """The labels of all tasks whose share of votes, or probability, is high enough."""
    found: dict[str, Labelled] = {}
    for kind, given in _by_kind(tasks, answered).items():
        found |= aggregate(given, method, kind)
    return {task: each for task, each in found.items() if each.share >= least - 1e-9}


def agreements(tasks: Mapping[str, Task], answered: Answered) -> dict[Kind, float]:
    """For each kind of task, the mean kappa of labellers with each other, where they can be compared."""
    found = {kind: mutual(given) for kind, given in _by_kind(tasks, answered).items()}
    return {kind: value for kind, value in found.items() if value is not None}


def _by_kind(tasks: Mapping[str, Task], answered: Answered) -> dict[Kind, Answered]:
    return {kind: {id: given for id, given in answered.items() if tasks[id].kind == kind} for kind in KINDS}


def compare(tasks: Mapping[str, Task], answered: Answered, votes: Sequence[int] = _VOTES) -> list[Row]:
    """A row for each kind, method and number of votes (votes that can tie are no majority: GLAD takes them alone).

    GLAD learns skills from all tasks of the kind, those without gold too.
    """
    rows = []
    for kind, of_kind in _by_kind(tasks, answered).items():
        for method in METHODS:
            for number in votes:
                if method == "vote" and number % 2 == 0:
                    continue
                labels = aggregate(first_votes(of_kind, number), method, kind)
                known = {task: found for task, found in labels.items() if tasks[task].gold is not None}
                if known:
                    rows.append(_row(kind, method, number, known, {task: tasks[task].gold or "" for task in known}))
    return rows


def _row(kind: Kind, method: str, votes: int, found: Mapping[str, Labelled], gold: Mapping[str, str]) -> Row:
    first, second = LABELS[kind]
    right, said = [gold[task] for task in found], [each.label for each in found.values()]
    positive = [label == first for label in right]
    soft = [each.share if each.label == first else 1 - each.share for each in found.values()]
    positives = f1(said, right, first)
    return Row(
        kind=kind,
        method=method,
        votes=votes,
        tasks=len(found),
        kappa=kappa(said, right),
        auc=area_under_curve([float(label == first) for label in said], positive),
        auc_soft=area_under_curve(soft, positive),
        f1=(positives + f1(said, right, second)) / 2 if kind == "BR" else positives,
    )
