"""Assign each task to a fixed number of different labellers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from whycite.errors import UserError
from whycite.lab.annotate.answers import Answers
from whycite.lab.annotate.tasks import LABELS, Action, AnswerEntry, LabellingTask

__all__ = ["Desk", "LabellingProgress"]

_RESERVATION_SECONDS = 600.0  # how long a task stays reserved for a labeller


@dataclass(frozen=True, slots=True)
class LabellingProgress:
    """The progress of a labeller, and of all labellers."""

    answered: int
    skipped: int
    open: int  # tasks left for this labeller
    held: int  # tasks that would be, but are reserved for others
    answers: int  # of all labellers
    wanted: int  # of all labellers


class Desk:
    """Hands out tasks and records answers; thread-safe."""

    def __init__(self, answers: Answers, votes: int, clock: Callable[[], float] = time.monotonic) -> None:
        if votes < 1:
            raise UserError(f"each task needs at least 1 labeller, not {votes}")
        self.answers = answers
        self.votes = votes
        self._clock = clock
        self._reservations: dict[str, dict[str, float]] = {}  # task -> labeller -> expiry
        self._lock = threading.RLock()

    def next(self, labeller: str) -> LabellingTask | None:
        """Reserve the first task left for a labeller; the same one until they answer or skip it."""
        with self._lock:
            now = self._clock()
            for id, task in self.answers.tasks.items():
                if self._is_open(id, labeller, now):
                    for reservations in self._reservations.values():
                        reservations.pop(labeller, None)
                    self._reservations.setdefault(id, {})[labeller] = now + _RESERVATION_SECONDS
                    return task
            return None

    def _is_open(self, task: str, labeller: str, now: float) -> bool:
        labels = self.answers.by_task.get(task, {})
        if labeller in labels:
            return False
        reserved_votes = sum(
            until > now
            for holder, until in self._reservations.get(task, {}).items()
            if holder != labeller and holder not in labels
        )
        return self.answers.votes(task) + reserved_votes < self.votes

    def take(self, task: str, labeller: str, action: Action, label: str, submission: str) -> AnswerEntry:
        """Record an answer or a skip; duplicates count once."""
        with self._lock:
            labelling_task = self.answers.tasks.get(task)
            if labelling_task is None:
                raise UserError(f"unknown task '{task}'; reload the page")
            if action == "answer" and label not in LABELS[labelling_task.kind]:
                raise UserError(
                    f"'{label}' is not an answer to this task; choose one of: {', '.join(LABELS[labelling_task.kind])}"
                )
            entry = AnswerEntry(task, labeller, action, label if action == "answer" else "", submission, _now())
            earlier_label = self.answers.label_of(labeller, task)
            if earlier_label is not None and earlier_label == entry.label:  # a double click, or another window
                return entry
            recorded_entry = self.answers.record(entry)
            self._reservations.get(task, {}).pop(labeller, None)
            return recorded_entry

    def undo(self, labeller: str, submission: str) -> LabellingTask | None:
        """Undo a labeller's last action and return its task, or None if there is nothing to undo."""
        with self._lock:
            task_ids = self.answers.by_labeller.get(labeller)
            if not task_ids:
                return None
            entry = self.answers.record(AnswerEntry(task_ids[-1], labeller, "undo", "", submission, _now()))
            self._reservations.setdefault(entry.task, {})[labeller] = self._clock() + _RESERVATION_SECONDS
            return self.answers.tasks[entry.task]

    def progress(self, labeller: str) -> LabellingProgress:
        """The progress of a labeller."""
        with self._lock:
            now, task_ids = self._clock(), self.answers.by_labeller.get(labeller, [])
            answered = sum(bool(self.answers.label_of(labeller, task)) for task in task_ids)
            tasks = self.answers.tasks
            open_to_labeller = [task for task in tasks if labeller not in self.answers.by_task.get(task, {})]
            open_tasks = sum(self._is_open(task, labeller, now) for task in open_to_labeller)
            return LabellingProgress(
                answered,
                len(task_ids) - answered,
                open_tasks,
                sum(self.answers.votes(task) < self.votes for task in open_to_labeller) - open_tasks,
                sum(min(self.answers.votes(task), self.votes) for task in tasks),
                len(tasks) * self.votes,
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
