"""Files of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whycite.annotation.model import KINDS, LABELS, Option, Task
from whycite.annotation.rows import as_line, read, text_of
from whycite.errors import UserError

__all__ = ["as_dict", "read_tasks", "task_lines"]


def read_tasks(path: str | Path) -> dict[str, Task]:
    """The tasks of a file by their ids, in its order."""
    tasks: dict[str, Task] = {}
    for place, row in read(path):
        task = _task(row, place)
        if task.id in tasks:
            raise UserError(f"{place}: there is a task '{task.id}' already")
        tasks[task.id] = task
    return tasks


def task_lines(tasks: Iterable[Task]) -> Iterable[str]:
    """The tasks as lines of JSON."""
    return (as_line(as_dict(task)) for task in tasks)


def as_dict(task: Task) -> dict[str, Any]:
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


def _options(options: Iterable[Option]) -> list[dict[str, Any]]:
    return [{"index": option.index, "text": option.text} for option in options]


def _task(row: dict[str, Any], place: str) -> Task:
    kind: Any = row.get("kind")
    if kind not in KINDS:
        raise UserError(f'{place}: "kind" must be one of {", ".join(KINDS)}; is this a file of whycite annotate make?')
    options = _sentences(row, "options", place)
    wanted = 2 if kind == "BR" else 1
    if len(options) != wanted:
        raise UserError(f'{place}: a task {kind} has {wanted} in "options", not {len(options)}')
    gold = row.get("gold")
    if gold is not None and gold not in LABELS[kind]:
        raise UserError(f'{place}: "gold" of a task {kind} must be one of {", ".join(LABELS[kind])}')
    return Task(
        id=text_of(row, "id", place),
        kind=kind,
        claim=text_of(row, "claim", place),
        options=options,
        citing=text_of(row, "citing", place, ""),
        document=text_of(row, "document", place, ""),
        gold=gold,
        discarded=_sentences(row, "discarded", place),
    )


def _sentences(row: dict[str, Any], key: str, place: str) -> tuple[Option, ...]:
    given = row.get(key) or []
    right = isinstance(given, list) and all(
        isinstance(each, dict) and type(each.get("index")) is int and isinstance(each.get("text"), str)
        for each in given
    )
    if not right:
        raise UserError(f'{place}: "{key}" must be a list of objects with "index" and "text"')
    return tuple(Option(each["index"], each["text"]) for each in given)
