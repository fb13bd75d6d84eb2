"""Answers kept for good: what was acknowledged is on disk, whatever happens to the program."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from whycite.annotation.entries import entry_line, parse
from whycite.annotation.model import Entry, Task
from whycite.errors import UserError

__all__ = ["Answers"]


class Answers:
    """An append-only file of answers, open for writing by one program at a time; and what stands in it."""

    def __init__(self, path: Path, tasks: Mapping[str, Task]) -> None:
        self.path = path
        self.tasks = tasks
        self.by_task: dict[str, dict[str, str]] = {}  # task -> labeller -> label; "" for one that was skipped
        self.by_labeller: dict[str, list[str]] = {}  # the tasks each has answered or skipped, the last one last
        self.acts = 0  # lines
        self._known: dict[str, Entry] = {}  # by submission
        self._failed: int | None = None  # where a line begins that could not be written whole
        self._writing = threading.Lock()
        if not path.resolve().parent.is_dir():
            raise UserError(f"{path.parent}: no such folder")
        self._alone = FileLock(f"{path}.lock")
        try:
            self._alone.acquire(timeout=0)
        except Timeout as error:
            raise UserError(f"{path}: another program collects answers there; stop it, or name another file") from error
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error
        try:
            self._file = self._open()
        except BaseException:
            self._alone.release()
            raise

    def _open(self) -> int:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror or error}") from error
        try:
            with os.fdopen(os.dup(file), "rb") as stream:
                content = stream.read()
            entries, whole = parse(content, str(self.path), self.tasks)
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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._writing:
            file, self._file = self._file, -1  # its number may soon be another file's, and an answer still come
            os.close(file)
            self._alone.release()

    def given(self, labeller: str, task: str) -> str | None:
        """The label that a labeller gave a task, "" for one that was skipped, None for neither."""
        return self.by_task.get(task, {}).get(labeller)

    def votes(self, task: str) -> int:
        """How many answered a task."""
        return sum(bool(label) for label in self.by_task.get(task, {}).values())

    def record(self, entry: Entry) -> Entry:
        """Write an act and return it once it is on disk; one that was sent before is returned as it was then."""
        with self._writing:
            if entry.submission and (before := self._known.get(entry.submission)):
                return before
            self._put(self._file, entry_line(entry))
            self._count(entry)
            return entry

    def _put(self, file: int, line: bytes) -> None:
        """All of the line on disk, or an error; what a failed one left is cut off before the next."""
        try:
            if self._failed is not None:
                os.ftruncate(file, self._failed)
                self._failed = None
            start = os.lseek(file, 0, os.SEEK_END)
        except OSError as error:
            raise self._not_kept(error) from error
        try:
            while line:
                line = line[os.write(file, line) :]
            os.fsync(file)
        except OSError as error:
            self._failed = start
            raise self._not_kept(error) from error

    def _not_kept(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: the answer could not be kept: {error.strerror or error}")

    def _count(self, entry: Entry) -> None:
        given, done = self.by_task.setdefault(entry.task, {}), self.by_labeller.setdefault(entry.labeller, [])
        if entry.labeller in given:
            del given[entry.labeller]
            done.remove(entry.task)
        if entry.action != "undo":
            given[entry.labeller] = entry.label if entry.action == "answer" else ""
            done.append(entry.task)
        self.acts += 1
        if entry.submission:
            self._known[entry.submission] = entry


def _sync_folder(folder: Path) -> None:
    """Keep the name of a new file too; not every platform lets a folder be opened for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
