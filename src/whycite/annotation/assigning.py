"""Who gets which task: each goes to so many labellers, and to none of them twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from whycite.annotation.answers import Answers
from whycite.annotation.model import LABELS, Action, Entry, Task
from whycite.errors import UserError

__all__ = ["Desk", "Progress"]

_HELD = 600.0  # seconds that a task is kept for the labeller who was shown it


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a labeller has come, and all of them together."""

    answered: int
    skipped: int
    open: int  # tasks that are left for this labeller
    held: int  # tasks that would be, were they not with other labellers just now
    answers: int  # of all labellers
    wanted: int  # of all labellers


class Desk:
    """Hands tasks out and takes answers in; safe to use from several threads."""

    def __init__(self, answers: Answers, votes: int, clock: Callable[[], float] = time.monotonic) -> None:
        if votes < 1:
            raise UserError(f"each task needs 1 labeller or more, not {votes}")
        self.answers = answers
        self.votes = votes
        self._clock = clock
        self._shown: dict[str, dict[str, float]] = {}  # task -> labeller -> until when it is kept
        self._lock = threading.RLock()

    def next(self, labeller: str) -> Task | None:
        """The first task that is left for a labeller, now kept for them; the same one until they are done with it."""
        with self._lock:
            now = self._clock()
            for id, task in self.answers.tasks.items():
                if self._left(id, labeller, now):
                    for shown in self._shown.values():
                        shown.pop(labeller, None)
                    self._shown.setdefault(id, {})[labeller] = now + _HELD
                    return task
            return None

    def _left(self, task: str, labeller: str, now: float) -> bool:
        given = self.answers.by_task.get(task, {})
        if labeller in given:
            return False
        held = sum(
            until > now
            for other, until in self._shown.get(task, {}).items()
            if other != labeller and other not in given
        )
        return self.answers.votes(task) + held < self.votes

    def take(self, task: str, labeller: str, action: Action, label: str, submission: str) -> Entry:
        """Keep an answer, or that a task was skipped. What is sent twice counts once."""
        with self._lock:
            known = self.answers.tasks.get(task)
            if known is None:
                raise UserError(f"there is no task '{task}'; load the page again")
            if action == "answer" and label not in LABELS[known.kind]:
                raise UserError(f"'{label}' is no answer to this task; there are: {', '.join(LABELS[known.kind])}")
            entry = Entry(task, labeller, action, label if action == "answer" else "", submission, _now())
            before = self.answers.given(labeller, task)
            if before is not None and before == entry.label:  # a second press, or another window
                return entry
            kept = self.answers.record(entry)
            self._shown.get(task, {}).pop(labeller, None)
            return kept

    def undo(self, labeller: str, submission: str) -> Task | None:
        """Take back a labeller's last act and hand its task out again; None where there is nothing to take back."""
        with self._lock:
            done = self.answers.by_labeller.get(labeller)
            if not done:
                return None
            entry = self.answers.record(Entry(done[-1], labeller, "undo", "", submission, _now()))
            self._shown.setdefault(entry.task, {})[labeller] = self._clock() + _HELD
            return self.answers.tasks[entry.task]

    def progress(self, labeller: str) -> Progress:
        """Where a labeller stands."""
        with self._lock:
            now, done = self._clock(), self.answers.by_labeller.get(labeller, [])
            answered = sum(bool(self.answers.given(labeller, task)) for task in done)
            tasks = self.answers.tasks
            mine = [task for task in tasks if labeller not in self.answers.by_task.get(task, {})]
            left = sum(self._left(task, labeller, now) for task in mine)
            return Progress(
                answered,
                len(done) - answered,
                left,
                sum(self.answers.votes(task) < self.votes for task in mine) - left,
                sum(min(self.answers.votes(task), self.votes) for task in tasks),
                len(tasks) * self.votes,
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
