"""Papers that were sent are added one upload after the other; whoever sent them is told how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from whycite.errors import UserError
from whycite.serving.problems import Problem
from whycite.web.uploads import Upload, read_all

__all__ = ["Adding", "Job"]

_WAITING = 8  # uploads
_KEPT = 64  # that are over


@dataclass(slots=True)
class Job:
    """An upload on its way into the library; events are told in order, the last is `done` or `failed`."""

    id: str
    names: tuple[str, ...]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether nothing more will be told."""
        return bool(self.events) and self.events[-1][0] in ("done", "failed")


class Adding:
    """The queue of uploads for the library at a path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(1, "whycite-add")  # a library has one writer
        self._jobs: dict[str, Job] = {}

    def begin(self, files: Sequence[Upload]) -> Job:
        """Queue the files of an upload."""
        if sum(not job.over for job in self._jobs.values()) >= _WAITING:
            raise Problem(503, "Many papers are being added already: try again in a minute.", {"retry-after": "30"})
        for old in [id for id, job in self._jobs.items() if job.over][:-_KEPT]:
            del self._jobs[old]
        job = Job(uuid4().hex, tuple(file.name for file in files))
        self._jobs[job.id] = job
        self._pool.submit(self._run, job, list(files), asyncio.get_running_loop())
        return job

    async def follow(self, id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """What is told of a job, from its beginning to its end."""
        job = self._jobs.get(id)
        if job is None:
            raise Problem(404, "There is no such upload, or it was over long ago.")
        told = 0
        while True:
            job.changed.clear()
            for event in job.events[told:]:
                told += 1
                yield event
            if told == len(job.events) and job.over:
                return
            await job.changed.wait()

    def close(self) -> None:
        """Begin no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job, files: list[Upload], loop: asyncio.AbstractEventLoop) -> None:
        from whycite.library import Progress, add_documents

        def tell(kind: str, **facts: Any) -> None:
            def now() -> None:
                job.events.append((kind, facts))
                job.changed.set()

            loop.call_soon_threadsafe(now)

        def watch(progress: Progress) -> None:
            tell("progress", read=progress.read, added=progress.added, reading=progress.reading, files=len(files))

        try:
            # One at a time: a file is read when its turn comes, and given back once its documents are stored.
            documents = (document for file in files for document in read_all(file))
            report = add_documents(self._path, documents, jobs=1, progress=watch)
        except UserError as error:
            tell("failed", detail=str(error))
        except BaseException as error:
            tell("failed", detail=f"The papers could not be added ({type(error).__name__}).")
            raise
        else:
            tell(
                "done",
                added=report.added,
                replaced=report.replaced,
                unchanged=report.unchanged,
                skipped=[{"path": path, "reason": reason} for path, reason in report.skipped],
                warnings=[{"path": path, "warning": warning} for path, warning in report.warnings],
            )
