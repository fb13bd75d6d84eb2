"""Data sets of comparisons, by how sure the vote was (the thesis, 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from whycite.annotation.model import Option, Task
from whycite.annotation.swapping import balanced, swapped
from whycite.annotation.votes import Answered, vote

__all__ = ["DATASETS", "Pair", "as_dict", "datasets", "swap_evenly"]

_LEAST: Mapping[str, float] = MappingProxyType({"majority": 0.5, "high-majority": 0.8, "unanimous": 1.0})
DATASETS = (*_LEAST, "augmented")


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and two sentences, the label says which backs it better."""

    id: str
    claim: str
    first: Option
    second: Option
    label: str
    citing: str
    document: str
    share: float  # of the votes; 1 where no one was asked
    asked: bool = True  # whether labellers compared them


def datasets(tasks: Mapping[str, Task], answered: Answered) -> dict[str, list[Pair]]:
    """The four data sets. Augmented: majority, and sentences that won every time against sentences not sampled."""
    compared = {task: given for task, given in answered.items() if tasks[task].kind == "BR"}
    found = {name: _voted(tasks, compared, least) for name, least in _LEAST.items()}
    return found | {"augmented": [*found["majority"], *_added(tasks, found["majority"])]}


def swap_evenly(pairs: Iterable[Pair], seed: int = 0) -> list[Pair]:
    """The pairs with options swapped so that either is the better one equally often."""
    pairs = list(pairs)
    swap = balanced({pair.id: pair.label for pair in pairs}, seed)
    return [_swapped(pair) if pair.id in swap else pair for pair in pairs]


def as_dict(pair: Pair) -> dict[str, Any]:
    """A pair as JSON."""
    return {
        "id": pair.id,
        "claim": pair.claim,
        "options": [{"index": option.index, "text": option.text} for option in (pair.first, pair.second)],
        "label": pair.label,
        "citing": pair.citing,
        "document": pair.document,
        "share": pair.share,
        "asked": pair.asked,
    }


def _voted(tasks: Mapping[str, Task], compared: Answered, least: float) -> list[Pair]:
    return [
        Pair(id, task.claim, task.options[0], task.options[1], found.label, task.citing, task.document, found.share)
        for id, found in vote(compared, least).items()
        for task in [tasks[id]]
    ]


def _added(tasks: Mapping[str, Task], majority: Sequence[Pair]) -> list[Pair]:
    """Each sentence that was never the worse one, against those that its claim's tasks carry as less like it."""
    won: dict[tuple[str, str, int], Pair] = {}
    lost: set[tuple[str, str, int]] = set()
    for pair in majority:
        better, worse = (pair.first, pair.second) if pair.label == "1" else (pair.second, pair.first)
        won.setdefault((pair.claim, pair.document, better.index), replace(pair, first=better, label="1"))
        lost.add((pair.claim, pair.document, worse.index))
    return [
        replace(pair, id=f"{pair.id}+{pair.first.index}-{other.index}", second=other, share=1.0, asked=False)
        for winner, pair in won.items()
        if winner not in lost
        for other in tasks[pair.id].discarded
    ]


def _swapped(pair: Pair) -> Pair:
    return replace(pair, first=pair.second, second=pair.first, label=swapped(pair.label))
