"""Files of answers: one line an act, none of them ever changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whycite.annotation.model import ACTIONS, LABELS, Entry, Task
from whycite.annotation.rows import as_line, text_of
from whycite.errors import UserError

__all__ = ["answers_by_task", "as_dict", "entry_line", "parse", "read_entries"]

_FIRST = b'{"task": '  # what every line begins with


def read_entries(path: Path, tasks: Mapping[str, Task]) -> list[Entry]:
    """The acts in a file of answers, in their order."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    return parse(content, str(path), tasks)[0]


def parse(content: bytes, path: str, tasks: Mapping[str, Task]) -> tuple[list[Entry], int]:
    """The acts, and how many bytes hold them: a last line cut off while it was written was never acknowledged."""
    entries, whole = [], 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        place = f"{path}:{number}"
        if line.strip():
            row = _row(line)
            last = whole + len(line) == len(content) and not line.endswith(b"\n")
            if row is None and last and (line.startswith(_FIRST) or _FIRST.startswith(line)):
                break
            if row is None:
                raise UserError(f"{place}: not a line of a file of answers; name another file")
            entries.append(_entry(row, place, tasks))
        whole += len(line)
    return entries, whole


def answers_by_task(entries: list[Entry], tasks: Mapping[str, Task]) -> dict[str, dict[str, str]]:
    """Task -> labeller -> label as it stands after all undoing, the first to answer first; for tasks with answers."""
    found: dict[str, dict[str, str]] = {}
    for entry in entries:
        given = found.setdefault(entry.task, {})
        given.pop(entry.labeller, None)
        if entry.action == "answer":
            given[entry.labeller] = entry.label
    return {task: found[task] for task in tasks if found.get(task)}


def entry_line(entry: Entry) -> bytes:
    """The line of an act."""
    return as_line(as_dict(entry)).encode()


def as_dict(entry: Entry) -> dict[str, Any]:
    """An act as JSON."""
    return {
        "task": entry.task,
        "labeller": entry.labeller,
        "action": entry.action,
        "label": entry.label,
        "submission": entry.submission,
        "at": entry.at,
    }


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _entry(row: Mapping[str, Any], place: str, tasks: Mapping[str, Task]) -> Entry:
    id, action = text_of(row, "task", place), text_of(row, "action", place, "answer")
    if id not in tasks:
        raise UserError(f"{place}: an answer to '{id}', which is not among the tasks; do both files belong together?")
    if action not in ACTIONS:
        raise UserError(f'{place}: "action" must be one of {", ".join(ACTIONS)}')
    label = text_of(row, "label", place, "")
    labels = LABELS[tasks[id].kind]
    if action == "answer" and label not in labels:
        raise UserError(f'{place}: "label" must be one of {", ".join(labels)}')
    return Entry(
        task=id,
        labeller=text_of(row, "labeller", place),
        action=action,
        label=label,
        submission=text_of(row, "submission", place, ""),
        at=text_of(row, "at", place, ""),
    )
