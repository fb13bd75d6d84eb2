"""Papers that were sent are added one upload after the other; whoever sent them is told how far it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from whycite.errors import Busy, UserError
from whycite.serving.problems import Problem
from whycite.serving.work import Work
from whycite.web.reading import UPLOADED, read_all

if TYPE_CHECKING:
    from whycite.documents.model import Document
    from whycite.library import Progress, Report

__all__ = ["Adding", "Job"]

_WAITING = 7  # uploads
_AGAIN = 30  # seconds after which there may be room for another
_KEPT = 64  # that are over
_SHOWN = 100  # of what could not be read
_TURN = 1.0  # seconds between two tries while another program writes to the library
_QUIET = 15.0  # seconds after which a sign of life goes to whoever follows
_LOG = logging.getLogger("whycite")


class _Stopped(Exception):
    """The server is being stopped."""


@dataclass(slots=True)
class Job:
    """An upload on its way into the library: what was told of it last, `done` or `failed` at the end."""

    id: str
    folder: TemporaryDirectory[str]
    files: int
    told: tuple[str, dict[str, Any]]
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # another one for each change

    @property
    def over(self) -> bool:
        """Whether nothing more will be told."""
        return self.told[0] in ("done", "failed")

    def wake(self) -> None:
        """Let everybody who follows look again."""
        self.changed.set()
        self.changed = asyncio.Event()


class Adding:
    """The queue of uploads for the library at a path; `ready` is called before anything is added."""

    def __init__(self, path: Callable[[], Path], ready: Callable[[], None]) -> None:
        self._path, self._ready = path, ready
        self._work = Work(1, _WAITING, again=_AGAIN)  # a library has one writer
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}
        self._stopped = Event()

    def begin(self, folder: TemporaryDirectory[str], files: int, loop: asyncio.AbstractEventLoop) -> Job:
        """Queue the files of an upload, which are gone when it is over; those who follow are of that loop."""
        job = Job(uuid4().hex, folder, files, ("progress", _progress(0, 0, "", files)))
        try:
            with self._lock:
                for old in [id for id, each in self._jobs.items() if each.over][:-_KEPT]:
                    del self._jobs[old]
                self._work.begin(lambda: self._run(job, loop))
                self._jobs[job.id] = job
        except Problem:
            folder.cleanup()
            raise
        return job

    async def follow(self, id: str) -> AsyncGenerator[tuple[str, dict[str, Any]] | None]:
        """What is told of a job from now on to its end; None where there is nothing new, but all is well."""
        job = self._jobs.get(id)
        if job is None:
            raise Problem(404, "There is no such upload, or it was over long ago.")
        while True:
            changed, told = job.changed, job.told
            yield told
            if told[0] in ("done", "failed") or self._stopped.is_set():
                return
            while told is job.told and not self._stopped.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _QUIET)
                    break
                yield None

    def stop(self) -> None:
        """Begin no more, stop after the document that is being read, and let nobody wait."""
        self._stopped.set()
        with self._lock:
            for job in self._jobs.values():
                job.wake()

    def close(self, seconds: float = 0.0) -> bool:
        """Stop, and wait that long for what has begun; whether nothing is left."""
        self._stopped.set()
        ended = self._work.close(seconds)
        with self._lock:
            for job in self._jobs.values() if ended else ():
                job.folder.cleanup()  # of those that had not begun
        return ended

    def _run(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        def tell(kind: str, facts: dict[str, Any]) -> None:
            job.told = kind, facts
            with suppress(RuntimeError):  # the server is gone, and everybody who followed
                loop.call_soon_threadsafe(job.wake)

        def watch(progress: Progress) -> None:
            reading = progress.reading.removeprefix(UPLOADED)
            tell("progress", _progress(progress.read, progress.added, reading, job.files))

        try:
            self._ready()
            report = self._added(job, tell, watch)
        except UserError as error:
            tell("failed", {"detail": str(error)})
        except _Stopped:
            tell("failed", {"detail": "The server was stopped; what was added by then is in the library."})
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and logged
            _LOG.exception("papers could not be added")
            tell("failed", {"detail": f"The papers could not be added ({type(error).__name__})."})
        else:
            tell("done", _done(report))
        finally:
            job.folder.cleanup()

    def _added(
        self, job: Job, tell: Callable[[str, dict[str, Any]], None], watch: Callable[[Progress], None]
    ) -> Report:
        """Add the documents of an upload, after whoever else is writing."""
        from whycite.library import add_documents

        while True:
            try:
                return add_documents(self._path(), self._documents(Path(job.folder.name)), jobs=1, progress=watch)
            except Busy as error:
                tell("progress", _progress(0, 0, "", job.files) | {"waiting": str(error)})
            if self._stopped.wait(_TURN):
                raise _Stopped

    def _documents(self, folder: Path) -> Iterator[Document]:
        for document in read_all(folder):
            if self._stopped.is_set():
                raise _Stopped
            yield document


def _progress(read: int, added: int, reading: str, files: int) -> dict[str, Any]:
    return {"read": read, "added": added, "reading": reading, "files": files}


def _shown(told: tuple[str, str]) -> tuple[str, str]:
    """A file and what is said of it, named once."""
    path = told[0].removeprefix(UPLOADED)
    return path, told[1].replace(UPLOADED, "").removeprefix(f"{path}: ")


def _done(report: Report) -> dict[str, Any]:
    told = set(report.skipped)
    skipped = [{"path": path, "reason": reason} for path, reason in map(_shown, report.skipped)]
    others = [each for each in report.warnings if each not in told]
    warnings = [{"path": path, "warning": warning} for path, warning in map(_shown, others)]
    return {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "skipped": skipped[:_SHOWN],
        "warnings": warnings[:_SHOWN],
    }
