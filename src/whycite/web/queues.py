"""Work for many people on few cores, and uploads that are added to the library one after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from whycite.errors import Busy, UserError
from whycite.web.guard import Problem
from whycite.web.reading import UPLOADED, read_all

if TYPE_CHECKING:
    from whycite.documents.model import Document
    from whycite.library import AddProgress, AddReport

__all__ = ["KEEPALIVE_SECONDS", "RETRY_SECONDS", "UploadJob", "UploadQueue", "WorkQueue"]


P = ParamSpec("P")
T = TypeVar("T")


class WorkQueue:
    """Runs functions on a few threads; what does not fit in the queue is refused, what takes too long is given up."""

    def __init__(self, threads: int, waiting: int, seconds: float = 60.0, retry_after: int = 2) -> None:
        """`seconds`: that one may wait for an answer; `again`: after which it is worth asking once more."""
        self._pool = ThreadPoolExecutor(threads, "whycite-work")
        self._capacity, self._seconds, self._retry_after = threads + waiting, seconds, retry_after
        self._changed = Condition()
        self._unfinished = 0
        self._closed = False

    async def run(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """What the function returns."""
        running = self.submit(lambda: function(*args, **options))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), self._seconds)
        except TimeoutError:
            if running.done() and not running.cancelled():  # in the last moment; or the error is the function's own
                return running.result()
            running.cancel()
            raise Problem(504, f"This took longer than {self._seconds:.0f} seconds: ask for less at once.") from None
        except asyncio.CancelledError:
            if running.cancelled():  # not the one who asked, but the server stops
                raise self._refusal("The server is being stopped.") from None
            raise

    def close(self, seconds: float = 0.0) -> bool:
        """Take no more work, and wait that long for what has begun; whether nothing is left."""
        with self._changed:
            self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self.wait_until_idle(seconds)

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until nobody waits for anything, at most so long; whether it is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished == 0, seconds)

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Queue a function that nobody waits for."""
        with self._changed:
            if self._closed:
                raise self._refusal("The server is being stopped.")
            if self._unfinished >= self._capacity:
                raise self._refusal("Too many are asking at once: try again in a moment.")
            self._unfinished += 1
            running = self._pool.submit(function)
        # Counted until it is over, also when nobody waits for it any more: a thread cannot be stopped.
        running.add_done_callback(self._finish)
        return running

    def _finish(self, _: Future[Any]) -> None:
        with self._changed:
            self._unfinished -= 1
            self._changed.notify_all()

    def _refusal(self, why: str) -> Problem:
        return Problem(503, why, {"retry-after": str(self._retry_after)})


_MAX_WAITING = 7  # uploads
_RETRY_SECONDS = 30  # seconds after which there may be room for another
_MAX_FINISHED = 64  # that are over
_MAX_MESSAGES = 100  # of what could not be read
RETRY_SECONDS = 1.0  # seconds between two tries while another program writes to the library
KEEPALIVE_SECONDS = 15.0  # seconds after which a sign of life goes to whoever follows
_LOG = logging.getLogger("whycite")


class _Shutdown(Exception):
    """The server is being stopped."""


@dataclass(slots=True)
class UploadJob:
    """An upload on its way into the library: what was told of it last, `done` or `failed` at the end."""

    id: str
    folder: TemporaryDirectory[str]
    files: int
    event: tuple[str, dict[str, Any]]
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # another one for each change

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be told."""
        return self.event[0] in ("done", "failed")

    def wake(self) -> None:
        """Let everybody who follows look again."""
        self.changed.set()
        self.changed = asyncio.Event()


class UploadQueue:
    """The queue of uploads for the library at a path; `ready` is called before anything is added."""

    def __init__(self, path: Callable[[], Path], load: Callable[[], None]) -> None:
        self._path, self._load = path, load
        self._work = WorkQueue(1, _MAX_WAITING, retry_after=_RETRY_SECONDS)  # a library has one writer
        self._lock = Lock()
        self._jobs: dict[str, UploadJob] = {}
        self._stopped = Event()

    def enqueue(self, folder: TemporaryDirectory[str], files: int, loop: asyncio.AbstractEventLoop) -> UploadJob:
        """Queue the files of an upload, which are gone when it is over; those who follow are of that loop."""
        job = UploadJob(uuid4().hex, folder, files, ("progress", _progress(0, 0, "", files)))
        try:
            with self._lock:
                for old in [id for id, job in self._jobs.items() if job.is_over][:-_MAX_FINISHED]:
                    del self._jobs[old]
                self._work.submit(lambda: self._run(job, loop))
                self._jobs[job.id] = job
        except Problem:
            folder.cleanup()
            raise
        return job

    async def events(self, id: str) -> AsyncGenerator[tuple[str, dict[str, Any]] | None]:
        """What is told of a job from now on to its end; None where there is nothing new, but all is well."""
        job = self._jobs.get(id)
        if job is None:
            raise Problem(404, "There is no such upload, or it was over long ago.")
        while True:
            changed, event = job.changed, job.event
            yield event
            if event[0] in ("done", "failed") or self._stopped.is_set():
                return
            while event is job.event and not self._stopped.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), KEEPALIVE_SECONDS)
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

    def _run(self, job: UploadJob, loop: asyncio.AbstractEventLoop) -> None:
        def tell(kind: str, facts: dict[str, Any]) -> None:
            job.event = kind, facts
            with suppress(RuntimeError):  # the server is gone, and everybody who followed
                loop.call_soon_threadsafe(job.wake)

        def watch(progress: AddProgress) -> None:
            reading = progress.reading.removeprefix(UPLOADED)
            tell("progress", _progress(progress.read, progress.added, reading, job.files))

        try:
            self._load()
            report = self._add_documents(job, tell, watch)
        except UserError as error:
            tell("failed", {"detail": str(error)})
        except _Shutdown:
            tell("failed", {"detail": "The server was stopped; what was added by then is in the library."})
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and logged
            _LOG.exception("papers could not be added")
            tell("failed", {"detail": f"The papers could not be added ({type(error).__name__})."})
        else:
            tell("done", _summary(report))
        finally:
            job.folder.cleanup()

    def _add_documents(
        self, job: UploadJob, tell: Callable[[str, dict[str, Any]], None], watch: Callable[[AddProgress], None]
    ) -> AddReport:
        """Add the documents of an upload, after whoever else is writing."""
        from whycite.library import add_documents

        while True:
            try:
                return add_documents(self._path(), self._read_documents(Path(job.folder.name)), jobs=1, progress=watch)
            except Busy as error:
                tell("progress", _progress(0, 0, "", job.files) | {"waiting": str(error)})
            if self._stopped.wait(RETRY_SECONDS):
                raise _Shutdown

    def _read_documents(self, folder: Path) -> Iterator[Document]:
        for document in read_all(folder):
            if self._stopped.is_set():
                raise _Shutdown
            yield document


def _progress(read: int, added: int, reading: str, files: int) -> dict[str, Any]:
    return {"read": read, "added": added, "reading": reading, "files": files}


def _file_message(message: tuple[str, str]) -> tuple[str, str]:
    """A file and what is said of it, named once."""
    path = message[0].removeprefix(UPLOADED)
    return path, message[1].replace(UPLOADED, "").removeprefix(f"{path}: ")


def _summary(report: AddReport) -> dict[str, Any]:
    reasons = set(report.skipped)
    skipped = [{"path": path, "reason": reason} for path, reason in map(_file_message, report.skipped)]
    other_warnings = [warning for warning in report.warnings if warning not in reasons]
    warnings = [{"path": path, "warning": warning} for path, warning in map(_file_message, other_warnings)]
    return {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "skipped": skipped[:_MAX_MESSAGES],
        "warnings": warnings[:_MAX_MESSAGES],
    }
