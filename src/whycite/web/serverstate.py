"""Shared by all routes: settings, the library, work queues, uploaded files and JSON responses."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request, UploadFile
from fastapi.responses import Response

from whycite.service.loading import CurrentLibrary, LazyLoader, warm
from whycite.web.guard import DETAILS, MEDIA_TYPE, AccessRules, FieldError, Problem, problem_body
from whycite.web.projects.desk import ProjectDesk
from whycite.web.queues import UploadQueue, WorkQueue
from whycite.web.schemas import ProblemDetails
from whycite.web.uploads import Upload, safe_name
from whycite.web.warm import WarmPapers

if TYPE_CHECKING:
    from whycite.library.snapshot import AskShards

__all__ = [
    "EXPOSITION",
    "PROBLEMS",
    "CurrentServer",
    "RequestCounts",
    "Server",
    "ServerSettings",
    "json_response",
    "receive_uploads",
]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The library, the access rules, and the limits of the server."""

    library: Path | None = None  # None: the default library
    rules: AccessRules = field(default_factory=AccessRules)
    threads: int = max(2, os.cpu_count() or 1)
    waiting: int = 64
    seconds: float = 60.0  # per question
    patience: float = 600.0  # per request that reads whole documents
    files: int = 200  # per upload
    warm: bool = False  # load models at the start
    projects: Path | None = None  # None: the default folder
    root_path: str = ""  # below which a proxy serves this: "/whycite"
    shards: AskShards | None = None  # None: this process searches the library itself


EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"  # Prometheus's text format
_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 600.0)  # seconds, up to the longest wait


class RequestCounts:
    """How many requests were answered, how, and how long that took, by route."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()  # by route, method and status
        self._within: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(_BUCKETS))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._lock:
            self._answers[route, method, status] += 1
            self._seconds[route] += seconds
            for place, limit in enumerate(_BUCKETS):
                self._within[route][place] += seconds <= limit

    def exposition(self, gauges: Mapping[str, float | Mapping[str, float]]) -> str:
        """Gauges by name, some of them by deployment, and the counts, in Prometheus's text format."""
        lines = []
        for name, value in gauges.items():
            values = value.items() if isinstance(value, Mapping) else [("", value)]
            lines.append(f"# TYPE {name} gauge")
            lines += [f'{name}{{deployment="{of}"}} {number}' if of else f"{name} {number}" for of, number in values]
        return "\n".join([*lines, *self._lines(), ""])

    def _lines(self) -> list[str]:
        with self._lock:
            answers, seconds = dict(self._answers), dict(self._seconds)
            within = {route: list(counts) for route, counts in self._within.items()}
        total: Counter[str] = Counter()
        lines = ["# TYPE whycite_requests_total counter"]
        for (route, method, status), count in sorted(answers.items()):
            total[route] += count
            lines.append(f'whycite_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}')
        lines.append("# TYPE whycite_request_seconds histogram")
        for route, number in sorted(total.items()):
            limits = [*zip(map(str, _BUCKETS), within[route], strict=True), ("+Inf", number)]
            lines += [
                f'whycite_request_seconds_bucket{{route="{route}",le="{limit}"}} {count}' for limit, count in limits
            ]
            lines.append(f'whycite_request_seconds_sum{{route="{route}"}} {seconds[route]:.6f}')
            lines.append(f'whycite_request_seconds_count{{route="{route}"}} {number}')
        return lines


T = TypeVar("T")
_IDLE_SECONDS = 10.0  # to wait for running questions, which warming up would slow down
_EXAMPLES = {422: "text: String should have at least 1 character"} | {
    status: detail.format(seconds=30, megabytes=8, error="OSError") for status, detail in DETAILS.items()
}


def _described_problem(status: int, detail: str) -> dict[str, Any]:
    """A problem in the description of the API: its schema, which `app` moves to its media type, and an example."""
    errors: list[FieldError] = []
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        field, _, message = detail.partition(": ")
        errors = [{"field": field, "message": message}]
    example = json.loads(problem_body(status, detail, errors))
    return {"model": ProblemDetails, "content": {MEDIA_TYPE: {"example": example}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: _described_problem(status, detail) for status, detail in sorted(_EXAMPLES.items())
}


@dataclass(frozen=True, slots=True)
class Server:
    """The state of a running server."""

    settings: ServerSettings
    current: CurrentLibrary
    quick: WorkQueue  # questions
    slow: WorkQueue  # whole documents, on separate threads so that they do not delay questions
    uploads: UploadQueue
    question_loader: LazyLoader
    document_loader: LazyLoader
    papers: WarmPapers
    desk: ProjectDesk
    counts: RequestCounts = field(default_factory=RequestCounts)

    async def ask(self, function: Callable[[], T]) -> T:
        """Run a quick function and return its result."""
        return await self.quick.run(self._when_ready, function, (self.question_loader,))

    async def work(self, function: Callable[[], T]) -> T:
        """Run a slow function and return its result."""
        return await self.slow.run(self._when_ready, function, (self.question_loader, self.document_loader))

    def start(self, function: Callable[[], T]) -> Future[T]:
        """Run a slow function without waiting for it."""
        return self.slow.submit(lambda: self._when_ready(function, (self.question_loader, self.document_loader)))

    def warm(self) -> Future[None]:
        """Load everything in the background."""
        return self.slow.submit(self._warm)

    def close(self, seconds: float = 0.0) -> bool:
        """Accept no more work, and wait for what is running; returns whether all of it finished."""
        return all(
            [self.desk.close(seconds), self.uploads.close(seconds), self.slow.close(seconds), self.quick.close(seconds)]
        )

    def _warm(self) -> None:
        try:
            self.question_loader()
            self.quick.wait_until_idle(_IDLE_SECONDS)
            warm(self.current)
            self.quick.wait_until_idle(_IDLE_SECONDS)
            self.document_loader()
        finally:
            gc.freeze()  # loaded modules stay, so the garbage collector can ignore them
            gc.enable()

    @staticmethod
    def _when_ready(function: Callable[[], T], loaders: Sequence[LazyLoader]) -> T:
        for loader in loaders:
            loader()
        return function()


def json_response(content: Any) -> Response:
    """A JSON response, serialised in the worker thread so that a large one does not block the event loop."""
    return Response(json.dumps(content, allow_nan=False).encode(), media_type="application/json")


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


CurrentServer = Annotated[Server, Depends(_server)]


def receive_uploads(files: Sequence[UploadFile], max_files: int) -> list[Upload]:
    """The uploaded files under safe names; raises a Problem if there are none or too many."""
    if not 0 < len(files) <= max_files:
        raise Problem(422, f"Upload between 1 and {max_files} files at once, not {len(files)}.")
    # Browsers send a quotation mark in a name as %22.
    return [Upload(safe_name((file.filename or "file").replace("%22", '"')), file.file) for file in files]
