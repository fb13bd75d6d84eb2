"""Labelling tasks, their files, and swapping of options for balance (the thesis, 4.3 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, overload

from whycite.errors import UserError
from whycite.lab.evaluate.statistics import order_by_lot
from whycite.lab.jsonlines import as_line, read_objects, text_of

__all__ = [
    "ACTIONS",
    "KINDS",
    "LABELS",
    "Action",
    "AnswerEntry",
    "LabellingTask",
    "TaskKind",
    "TaskOption",
    "as_dict",
    "names_to_swap",
    "parse_kind",
    "parse_options",
    "read_tasks",
    "swap_label",
    "task_lines",
]


TaskKind = Literal["BR", "BC-E", "BC-R", "TC"]
"""Which of two sentences backs the claim better; whether one is evidence; whether it is related (the thesis, 4.3).

TC is ours: whether a sentence supports the claim, contradicts it, or neither.
"""
KINDS: tuple[TaskKind, ...] = get_args(TaskKind)

LABELS: Mapping[TaskKind, tuple[str, ...]] = MappingProxyType(
    {
        "BR": ("1", "2"),
        "BC-E": ("evidence", "not evidence"),
        "BC-R": ("related", "unrelated"),
        "TC": ("supports", "contradicts", "neither"),
    }
)

Action = Literal["answer", "skip", "undo"]
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class TaskOption:
    """A sentence of the cited document."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class LabellingTask:
    """A claim with one sentence to judge, or two to compare."""

    id: str
    kind: TaskKind
    claim: str
    options: tuple[TaskOption, ...]
    citing: str = ""  # source of the claim
    document: str = ""  # the cited document
    gold: str | None = None  # the correct label, if known
    discarded: tuple[TaskOption, ...] = ()  # sentences of the document less similar than all candidates


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """A labeller's action on a task: a line of the answer file."""

    task: str
    labeller: str
    action: Action
    label: str = ""
    submission: str = ""  # id of the action, so that duplicates count once
    time: str = ""  # in UTC


def read_tasks(path: str | Path) -> dict[str, LabellingTask]:
    """The tasks of a file by id, in order."""
    tasks: dict[str, LabellingTask] = {}
    for place, row in read_objects(path):
        task = _parse_task(row, place)
        if task.id in tasks:
            raise UserError(f"{place}: duplicate task '{task.id}'")
        tasks[task.id] = task
    return tasks


def task_lines(tasks: Iterable[LabellingTask]) -> Iterable[str]:
    """The tasks as lines of JSON."""
    return (as_line(as_dict(task)) for task in tasks)


def as_dict(task: LabellingTask) -> dict[str, Any]:
    """A task as JSON."""
    return {
        "id": task.id,
        "kind": task.kind,
        "claim": task.claim,
        "options": _options(task.options),
        "citing": task.citing,
        "document": task.document,
        "gold": task.gold,
        "discarded": _options(task.discarded),
    }


def _options(options: Iterable[TaskOption]) -> list[dict[str, Any]]:
    return [{"index": option.index, "text": option.text} for option in options]


def _parse_task(row: dict[str, Any], place: str) -> LabellingTask:
    options = parse_options(row, "options", place)
    kind = parse_kind(row, options, place)
    gold = row.get("gold")
    if gold is not None and gold not in LABELS[kind]:
        raise UserError(f'{place}: "gold" of a task {kind} must be one of {", ".join(LABELS[kind])}')
    return LabellingTask(
        id=text_of(row, "id", place),
        kind=kind,
        claim=text_of(row, "claim", place),
        options=options,
        citing=text_of(row, "citing", place, ""),
        document=text_of(row, "document", place, ""),
        gold=gold,
        discarded=parse_options(row, "discarded", place),
    )


def parse_kind(row: Mapping[str, Any], options: Sequence[TaskOption], place: str) -> TaskKind:
    """The kind of a task with these options."""
    kind: Any = row.get("kind")
    if kind not in KINDS:
        raise UserError(f'{place}: "kind" must be one of {", ".join(KINDS)}; was this file made by `whycite annotate`?')
    option_count = 2 if kind == "BR" else 1
    if len(options) != option_count:
        raise UserError(f'{place}: a task {kind} has {option_count} in "options", not {len(options)}')
    checked: TaskKind = kind
    return checked


def parse_options(row: Mapping[str, Any], key: str, place: str) -> tuple[TaskOption, ...]:
    """The sentences of a task."""
    objects = row.get(key) or []
    is_valid = isinstance(objects, list) and all(
        isinstance(entry, dict) and type(entry.get("index")) is int and isinstance(entry.get("text"), str)
        for entry in objects
    )
    if not is_valid:
        raise UserError(f'{place}: "{key}" must be a list of objects with "index" and "text"')
    return tuple(TaskOption(entry["index"], entry["text"]) for entry in objects)


def names_to_swap(labels: Mapping[str, str], seed: int) -> set[str]:
    """The names of comparisons to swap so that "1" and "2" are correct equally often, give or take one."""
    names = order_by_lot(labels, str, seed)
    return {name for index, name in enumerate(names) if labels[name] != ("1", "2")[index % 2]}


@overload
def swap_label(label: str) -> str: ...
@overload
def swap_label(label: str | None) -> str | None: ...
def swap_label(label: str | None) -> str | None:
    """The label after swapping the options."""
    return {"1": "2", "2": "1"}[label] if label else label
