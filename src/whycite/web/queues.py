"""A bounded queue of work on a few threads, and a queue of uploads to add to the library."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from logging import DEBUG, ERROR
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from whycite.errors import Busy, MissingExtra, UserError
from whycite.library.paths import UPLOADED
from whycite.web.guard import DETAILS, Problem, defect_detail
from whycite.web.reading import keep_originals, read_all

if TYPE_CHECKING:
    from whycite.documents.model import Document
    from whycite.library import AddProgress, AddReport
    from whycite.sources.items import SourceItem

__all__ = ["KEEPALIVE_SECONDS", "RETRY_SECONDS", "EventStream", "StreamClosed", "UploadJob", "UploadQueue", "WorkQueue"]


P = ParamSpec("P")
T = TypeVar("T")


class WorkQueue:
    """Runs functions on a few threads; refuses work when its queue is full, and gives up on work that is too slow."""

    def __init__(self, threads: int, waiting: int, seconds: float = 60.0, retry_after: int = 2) -> None:
        """`seconds` limits the wait for a result; `retry_after` is sent with refusals."""
        self._pool = ThreadPoolExecutor(threads, "whycite-work")
        self._capacity, self._seconds, self._retry_after = threads + waiting, seconds, retry_after
        self._changed = Condition()
        self._unfinished = 0
        self._closed = False

    async def run(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """Run a function and return its result."""
        running = self.submit(lambda: function(*args, **options))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), self._seconds)
        except TimeoutError:
            if running.done() and not running.cancelled():  # finished just now, or raised this error itself
                return running.result()
            running.cancel()
            raise Problem(504, DETAILS[504].format(seconds=self._seconds)) from None
        except asyncio.CancelledError:
            if running.cancelled():  # the server is stopping; the client is still waiting
                raise self._refusal("The server is shutting down.") from None
            raise

    @property
    def is_closed(self) -> bool:
        """Whether no more work is accepted: the process is about to end, and running work may lack what it needs."""
        return self._closed

    def close(self, seconds: float = 0.0) -> bool:
        """Accept no more work, and wait for what is running; returns whether all of it finished."""
        with self._changed:
            self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self.wait_until_idle(seconds)

    @property
    def unfinished(self) -> int:
        """The number of functions that run or wait."""
        return self._unfinished

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until no work is left; returns False after that many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished == 0, seconds)

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Queue a function without waiting for it."""
        with self._changed:
            if self._closed:
                raise self._refusal("The server is shutting down.")
            if self._unfinished >= self._capacity:
                raise self._refusal(DETAILS[503])
            self._unfinished += 1
            running = self._pool.submit(function)
        # Counted until it ends, even if nobody waits for it any more, because a thread cannot be stopped.
        running.add_done_callback(self._finish)
        return running

    def _finish(self, _: Future[Any]) -> None:
        with self._changed:
            self._unfinished -= 1
            self._changed.notify_all()

    def _refusal(self, why: str) -> Problem:
        return Problem(503, why, {"retry-after": str(self._retry_after)})


class StreamClosed(Exception):
    """Nobody listens to the events any more."""


class EventStream:
    """The events of work on another thread, for one listener; the work stops when the listener leaves."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._events: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._closed = Event()

    def send(self, kind: str, content: str) -> None:
        """Send an event with JSON from any thread; StreamClosed if nobody listens, which is to end the work."""
        if self._closed.is_set():
            raise StreamClosed
        self._put((kind, content))

    def follow(self, work: Future[None]) -> None:
        """End the stream when the work ends; if it failed, with an event that says why."""
        work.add_done_callback(self._finish)

    async def lines(self) -> AsyncGenerator[str]:
        """The events as text/event-stream, with comments that keep the connection alive."""
        try:
            while True:
                try:
                    event = await asyncio.wait_for(self._events.get(), KEEPALIVE_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                yield f"event: {event[0]}\ndata: {event[1]}\n\n"
        finally:
            self._closed.set()

    def _finish(self, work: Future[None]) -> None:
        error = None if work.cancelled() else work.exception()
        if work.cancelled():
            detail = "The server is shutting down."
        elif isinstance(error, UserError | MissingExtra):
            detail = str(error)
        elif error is not None and not isinstance(error, StreamClosed):
            _LOG.error("cannot answer a request", exc_info=error)
            detail = defect_detail(error)
        else:
            detail = ""
        if detail:
            self._put(("failed", json.dumps({"detail": detail})))
        self._put(None)

    def _put(self, event: tuple[str, str] | None) -> None:
        with suppress(RuntimeError):  # the event loop has closed
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)


_STOPPED = "The server was stopped; papers added so far are in the library."
_LAST_EVENTS = ("done", "stopped", "failed")
_MAX_WAITING = 7  # uploads
_RETRY_SECONDS = 30  # until there may be room for another upload
_MAX_FINISHED = 64  # finished uploads to remember
_MAX_MESSAGES = 100  # skipped files and warnings to report
RETRY_SECONDS = 1.0  # seconds between attempts while another program writes to the library
KEEPALIVE_SECONDS = 15.0  # seconds between keep-alive messages
_LOG = logging.getLogger("whycite")


class _Shutdown(Exception):
    """The server is shutting down."""


class _Cancelled(Exception):
    """Somebody stopped an upload."""


@dataclass(slots=True)
class UploadJob:
    """An upload being added to the library, with its latest event; the last one is `done`, `stopped` or `failed`."""

    id: str
    folder: TemporaryDirectory[str]
    files: int
    event: tuple[str, dict[str, Any]]
    items: tuple[SourceItem, ...] = ()  # of a source, to be added instead of the files of the folder
    origin: str | None = None  # how the names of all items of that source begin
    cancelled: Event = field(default_factory=Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # replaced on each change

    @property
    def is_over(self) -> bool:
        """Whether the last event was sent."""
        return self.event[0] in _LAST_EVENTS

    def wake(self) -> None:
        """Notify everyone who follows this upload."""
        self.changed.set()
        self.changed = asyncio.Event()


class UploadQueue:
    """The queue of uploads to the library at a path; `load` is called before the first is added."""

    def __init__(self, path: Callable[[], Path], load: Callable[[], None]) -> None:
        self._path, self._load = path, load
        self._work = WorkQueue(1, _MAX_WAITING, retry_after=_RETRY_SECONDS)  # a library has one writer
        self._lock = Lock()
        self._jobs: dict[str, UploadJob] = {}
        self._stopped = Event()

    def enqueue(
        self,
        folder: TemporaryDirectory[str],
        files: int,
        loop: asyncio.AbstractEventLoop,
        items: Sequence[SourceItem] = (),
        origin: str | None = None,
    ) -> UploadJob:
        """Queue the files of an upload, which are deleted afterwards; its events are sent on `loop`.

        With `items`, those of a source are added instead; `origin` is how the names of all its items begin.
        """
        job = UploadJob(uuid4().hex, folder, files, ("progress", _progress(0, 0, "", files)), tuple(items), origin)
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
        """The events of an upload until its end; None keeps the connection alive."""
        job = self._job(id)
        while True:
            changed, event = job.changed, job.event
            yield event
            if event[0] in _LAST_EVENTS or self._stopped.is_set():
                return
            while event is job.event and not self._stopped.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), KEEPALIVE_SECONDS)
                    break
                yield None

    def cancel(self, id: str) -> None:
        """Stop an upload after the paper that is being read; what was added stays."""
        self._job(id).cancelled.set()

    def _job(self, id: str) -> UploadJob:
        job = self._jobs.get(id)
        if job is None:
            raise Problem(404, "No such upload, or it finished long ago.")
        return job

    def _check(self, job: UploadJob) -> None:
        if self._stopped.is_set():
            raise _Shutdown
        if job.cancelled.is_set():
            raise _Cancelled

    def stop(self) -> None:
        """Start no more uploads, stop after the current document, and wake everyone who waits."""
        self._stopped.set()
        with self._lock:
            for job in self._jobs.values():
                job.wake()

    def close(self, seconds: float = 0.0) -> bool:
        """Stop, and wait for what is running; returns whether all of it finished."""
        self._stopped.set()
        ended = self._work.close(seconds)
        with self._lock:
            for job in self._jobs.values() if ended else ():
                job.folder.cleanup()  # of uploads that never started
        return ended

    def _run(self, job: UploadJob, loop: asyncio.AbstractEventLoop) -> None:
        def tell(kind: str, facts: dict[str, Any]) -> None:
            job.event = kind, facts
            with suppress(RuntimeError):  # the event loop has closed
                loop.call_soon_threadsafe(job.wake)

        def watch(progress: AddProgress) -> None:
            if job.items or self._stopped.is_set():  # of files, those that were read are added first
                self._check(job)
            reading = progress.reading.removeprefix(UPLOADED)
            tell("progress", _progress(progress.read, progress.added, reading, job.files))

        from whycite.library import AddReport

        try:
            self._check(job)
            self._load()
            report = self._add_documents(job, tell, watch)
        except UserError as error:
            tell("failed", {"detail": str(error)})
        except _Shutdown:
            tell("failed", {"detail": _STOPPED})
        except _Cancelled:
            tell("stopped", _summary(AddReport(added=job.event[1].get("added", 0))))
        except Exception as error:  # noqa: BLE001 - logged and reported to the client
            _LOG.log(DEBUG if self._work.is_closed else ERROR, "cannot add the uploaded papers", exc_info=error)
            why = f"The papers could not be added ({type(error).__name__})."
            tell("failed", {"detail": _STOPPED if self._work.is_closed else why})
        else:
            tell("stopped" if job.cancelled.is_set() else "done", _summary(report))
        finally:
            job.folder.cleanup()

    def _add_documents(
        self, job: UploadJob, tell: Callable[[str, dict[str, Any]], None], watch: Callable[[AddProgress], None]
    ) -> AddReport:
        """Add the documents of an upload, waiting for other writers."""
        from whycite.library import add_documents
        from whycite.sources.items import open_library, take_items

        while True:
            try:
                if job.items:
                    return take_items(self._path(), job.items, job.origin, jobs=1, progress=watch).added
                folder = Path(job.folder.name)
                try:
                    return add_documents(self._path(), self._read_documents(job), jobs=1, progress=watch)
                finally:  # also of those that were added before it was stopped
                    if library := open_library(self._path()):
                        keep_originals(self._path(), folder, (entry.path for entry in library.documents()))
            except Busy as error:
                tell("progress", _progress(0, 0, "", job.files) | {"waiting": str(error)})
            job.cancelled.wait(RETRY_SECONDS)
            self._check(job)

    def _read_documents(self, job: UploadJob) -> Iterator[Document]:
        for document in read_all(Path(job.folder.name)):
            if self._stopped.is_set():
                raise _Shutdown
            if job.cancelled.is_set():
                return  # what was read by now is added
            yield document


def _progress(read: int, added: int, reading: str, files: int) -> dict[str, Any]:
    return {"read": read, "added": added, "reading": reading, "files": files}


def _file_message(message: tuple[str, str]) -> tuple[str, str]:
    """A file and its message, without the file name in the message."""
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
