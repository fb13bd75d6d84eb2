"""Labelling tasks, swapping of options for balance, and the files of tasks and answers (the thesis, 4.3 and 4.5).

A file of answers has one action per line; actions are on disk before they are acknowledged.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Literal, get_args, overload

from filelock import FileLock, Timeout

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import order_by_lot
from whycite.lab.jsonlines import as_line, read_objects, text_of

__all__ = [
    "ACTIONS",
    "KINDS",
    "LABELS",
    "Action",
    "AnswerEntry",
    "Answers",
    "LabellingTask",
    "TaskKind",
    "TaskOption",
    "answers_by_task",
    "entry_line",
    "names_to_swap",
    "parse_entries",
    "parse_kind",
    "parse_options",
    "read_entries",
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
    return (as_line(_task_row(task)) for task in tasks)


def _task_row(task: LabellingTask) -> dict[str, Any]:
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


_LINE_START = b'{"task": '  # start of every line


def read_entries(path: Path, tasks: Mapping[str, LabellingTask]) -> list[AnswerEntry]:
    """The actions in an answer file, in order."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    return parse_entries(content, str(path), tasks)[0]


def parse_entries(content: bytes, path: str, tasks: Mapping[str, LabellingTask]) -> tuple[list[AnswerEntry], int]:
    """The actions and their length in bytes, without a truncated last line, which was never acknowledged."""
    entries, whole = [], 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        place = f"{path}:{number}"
        if line.strip():
            row = _parse_line(line)
            is_unfinished = whole + len(line) == len(content) and not line.endswith(b"\n")
            if row is None and is_unfinished and (line.startswith(_LINE_START) or _LINE_START.startswith(line)):
                break
            if row is None:
                raise UserError(f"{place}: not an answer; choose another file")
            entries.append(_parse_entry(row, place, tasks))
        whole += len(line)
    return entries, whole


def answers_by_task(entries: list[AnswerEntry], tasks: Mapping[str, LabellingTask]) -> dict[str, dict[str, str]]:
    """Task -> labeller -> label after all undos, in order of answering; only tasks with answers."""
    answers: dict[str, dict[str, str]] = {}
    for entry in entries:
        labels = answers.setdefault(entry.task, {})
        labels.pop(entry.labeller, None)
        if entry.action == "answer":
            labels[entry.labeller] = entry.label
    return {task: answers[task] for task in tasks if answers.get(task)}


def entry_line(entry: AnswerEntry) -> bytes:
    """The line of an action."""
    return as_line(_entry_row(entry)).encode()


def _entry_row(entry: AnswerEntry) -> dict[str, Any]:
    return {
        "task": entry.task,
        "labeller": entry.labeller,
        "action": entry.action,
        "label": entry.label,
        "submission": entry.submission,
        "at": entry.time,
    }


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _parse_entry(row: Mapping[str, Any], place: str, tasks: Mapping[str, LabellingTask]) -> AnswerEntry:
    id, action = text_of(row, "task", place), text_of(row, "action", place, "answer")
    if id not in tasks:
        raise UserError(f"{place}: answer to an unknown task '{id}'; do the two files belong together?")
    if action not in ACTIONS:
        raise UserError(f'{place}: "action" must be one of {", ".join(ACTIONS)}')
    label = text_of(row, "label", place, "")
    labels = LABELS[tasks[id].kind]
    if action == "answer" and label not in labels:
        raise UserError(f'{place}: "label" must be one of {", ".join(labels)}')
    return AnswerEntry(
        task=id,
        labeller=text_of(row, "labeller", place),
        action=action,
        label=label,
        submission=text_of(row, "submission", place, ""),
        time=text_of(row, "at", place, ""),
    )


class Answers:
    """An append-only answer file and its contents; one process at a time can write to it."""

    def __init__(self, path: Path, tasks: Mapping[str, LabellingTask]) -> None:
        self.path = path
        self.tasks = tasks
        self.by_task: dict[str, dict[str, str]] = {}  # task -> labeller -> label; "" if skipped
        self.by_labeller: dict[str, list[str]] = {}  # tasks answered or skipped, in order
        self.acts = 0  # lines
        self._by_submission: dict[str, AnswerEntry] = {}  # by submission
        self._failed_offset: int | None = None  # start of a line that was only partly written
        self._write_lock = threading.Lock()
        if not path.resolve().parent.is_dir():
            raise UserError(f"{path.parent}: no such folder")
        self._file_lock = FileLock(f"{path}.lock")
        try:
            self._file_lock.acquire(timeout=0)
        except Timeout as error:
            raise UserError(f"{path}: in use by another program; stop it, or choose another file") from error
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error
        try:
            self._file = self._open()
        except BaseException:
            self._file_lock.release()
            raise

    def _open(self) -> int:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror or error}") from error
        try:
            with os.fdopen(os.dup(file), "rb") as stream:
                content = stream.read()
            entries, whole = parse_entries(content, str(self.path), self.tasks)
            for entry in entries:
                self._count(entry)
            os.ftruncate(file, whole)
            os.lseek(file, whole, os.SEEK_SET)
            if whole and not content[:whole].endswith(b"\n"):
                self._put(file, b"\n")
            _sync_folder(self.path.resolve().parent)
        except BaseException:
            os.close(file)
            raise
        return file

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close and unlock the file."""
        with self._write_lock:
            file, self._file = self._file, -1  # the descriptor may be reused before a late answer
            os.close(file)
            self._file_lock.release()

    def label_of(self, labeller: str, task: str) -> str | None:
        """A labeller's label for a task, "" if skipped, None if neither."""
        return self.by_task.get(task, {}).get(labeller)

    def votes(self, task: str) -> int:
        """The number of answers to a task."""
        return sum(bool(label) for label in self.by_task.get(task, {}).values())

    def record(self, entry: AnswerEntry) -> AnswerEntry:
        """Write an action to disk and return it, or return the earlier one with the same submission."""
        with self._write_lock:
            if entry.submission and (earlier_entry := self._by_submission.get(entry.submission)):
                return earlier_entry
            self._put(self._file, entry_line(entry))
            self._count(entry)
            return entry

    def _put(self, file: int, line: bytes) -> None:
        """Write the whole line or raise; the next write truncates what a failed one left."""
        try:
            if self._failed_offset is not None:
                os.ftruncate(file, self._failed_offset)
                self._failed_offset = None
            start = os.lseek(file, 0, os.SEEK_END)
        except OSError as error:
            raise self._write_error(error) from error
        try:
            while line:
                line = line[os.write(file, line) :]
            os.fsync(file)
        except OSError as error:
            self._failed_offset = start
            raise self._write_error(error) from error

    def _write_error(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: the answer could not be kept: {error.strerror or error}")

    def _count(self, entry: AnswerEntry) -> None:
        labels, task_ids = self.by_task.setdefault(entry.task, {}), self.by_labeller.setdefault(entry.labeller, [])
        if entry.labeller in labels:
            del labels[entry.labeller]
            task_ids.remove(entry.task)
        if entry.action != "undo":
            labels[entry.labeller] = entry.label if entry.action == "answer" else ""
            task_ids.append(entry.task)
        self.acts += 1
        if entry.submission:
            self._by_submission[entry.submission] = entry


def _sync_folder(folder: Path) -> None:
    """Sync the name of a new file too, on platforms where folders can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
