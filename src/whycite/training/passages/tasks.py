"""What a model is shown: claims, the sentences it scores for each, and which two of them are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from whycite.evaluation.passages.comparisons import Comparison

__all__ = ["Task", "batches", "tasks"]


@dataclass(frozen=True, slots=True)
class Task:
    """A claim, sentences of the document it cites, and pairs of them: the winner and the loser, by index."""

    claim: str
    sentences: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]


def tasks(comparisons: Iterable[Comparison], whole: bool) -> list[Task]:
    """One for each case that is compared; whole: with all sentences of the document, else with the compared ones."""
    by_case: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        by_case.setdefault((comparison.case.dataset, comparison.case.id), []).append(comparison)
    return [_task(own, whole) for own in by_case.values()]


def _task(own: Sequence[Comparison], whole: bool) -> Task:
    case = own[0].case
    pairs = [(each.winner, each.loser) for each in own]
    if whole:
        return Task(case.claim, case.sentences, tuple(pairs))
    places = {at: place for place, at in enumerate(sorted({at for pair in pairs for at in pair}))}
    return Task(
        case.claim,
        tuple(case.sentences[at] for at in places),
        tuple((places[winner], places[loser]) for winner, loser in pairs),
    )


def batches(shown: Sequence[Task], size: int, whole: bool, chance: Random | None = None) -> list[list[Task]]:
    """So many tasks a step, in an order by lot where there is one to draw it.

    Whole: tasks of one document stand together, since its sentences are then read once.
    """
    ordered = list(shown)
    if chance:
        chance.shuffle(ordered)
    if not whole:
        return [ordered[at : at + size] for at in range(0, len(ordered), size)]
    groups: dict[tuple[str, ...], list[Task]] = {}
    for task in ordered:
        groups.setdefault(task.sentences, []).append(task)
    some = [group[at : at + size] for group in groups.values() for at in range(0, len(group), size)]
    if chance:
        chance.shuffle(some)
    found: list[list[Task]] = []
    for group in some:
        if found and len(found[-1]) + len(group) <= size:
            found[-1] += group
        else:
            found.append(group)
    return found
