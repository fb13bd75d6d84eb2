"""Tasks out of claims and their candidates (the thesis, 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from whycite.annotation.model import LABELS, Kind, Option, Task
from whycite.annotation.sampling import Sampled
from whycite.annotation.swapping import balanced, swapped
from whycite.errors import UserError
from whycite.packing import by_lot

__all__ = ["make_tasks"]


def make_tasks(
    sampled: Iterable[Sampled], kinds: Sequence[Kind] = ("BR",), pairs: int = 5, discarded: int = 8, seed: int = 0
) -> list[Task]:
    """Tasks of these kinds: `pairs` comparisons a claim, and a judgement of each candidate.

    The right option stands first as often as second; where it is not known, the one more like the claim does. A task
    of two options carries some sentences that were not sampled, for the augmented data set (4.5).
    """
    if not kinds or len(set(kinds)) < len(kinds):
        raise UserError(f"name kinds of tasks, each once: {', '.join(LABELS)}")
    if pairs < 1:
        raise UserError(f"there must be 1 pair a claim or more, not {pairs}")
    tasks: list[Task] = []
    for each in sampled:
        for kind in kinds:
            made = _comparisons(each, pairs, discarded, seed) if kind == "BR" else _judgements(each, kind)
            tasks += by_lot(made, lambda task: task.id, seed)  # their order tells nothing of the likeness
    return _balanced(tasks, seed)


def _comparisons(sampled: Sampled, pairs: int, discarded: int, seed: int) -> list[Task]:
    cited = sampled.cited
    beside = by_lot(sampled.discarded, lambda option: f"{cited.id} {option.index}", seed)[:discarded]
    tasks = []
    for first, second in combinations(sampled.candidates, 2):
        known = cited.gold is not None and (first.index in cited.gold) != (second.index in cited.gold)
        gold = None if cited.gold is None or not known else "1" if first.index in cited.gold else "2"
        name = "-".join(str(index) for index in sorted((first.index, second.index)))
        tasks.append(_task(sampled, "BR", name, (first, second), gold, tuple(beside)))
    return by_lot(tasks, lambda task: task.id, seed)[:pairs]


def _judgements(sampled: Sampled, kind: Kind) -> list[Task]:
    right = sampled.cited.gold if kind == "BC-E" else sampled.cited.related
    tasks = []
    for option in sampled.candidates:
        gold = None if right is None else LABELS[kind][option.index not in right]
        tasks.append(_task(sampled, kind, str(option.index), (option,), gold))
    return tasks


def _task(
    sampled: Sampled,
    kind: Kind,
    name: str,
    options: tuple[Option, ...],
    gold: str | None,
    discarded: tuple[Option, ...] = (),
) -> Task:
    cited = sampled.cited
    id = f"{cited.id}:{kind}:{name}"
    return Task(id, kind, cited.claim, options, cited.citing, cited.document, gold, discarded)


def _balanced(tasks: Sequence[Task], seed: int) -> list[Task]:
    """The tasks with options swapped in half of the comparisons, of those with gold and of the others alike."""
    swap: set[str] = set()
    for known in (True, False):
        chosen = [task for task in tasks if task.kind == "BR" and (task.gold is not None) == known]
        swap |= balanced({task.id: task.gold or "1" for task in chosen}, seed)
    return [_swapped(task) if task.id in swap else task for task in tasks]


def _swapped(task: Task) -> Task:
    return replace(task, options=task.options[::-1], gold=swapped(task.gold))
