"""What all routes need: settings, the library as it is now, threads to work on, uploaded files, and answers as JSON."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, UploadFile
from fastapi.responses import Response

from whycite.web.guard import AccessRules, Problem
from whycite.web.loading import CurrentLibrary, LazyLoader, warm
from whycite.web.queues import UploadQueue, WorkQueue
from whycite.web.schemas import ProblemDetails
from whycite.web.uploads import Upload, safe_name

__all__ = ["PROBLEMS", "CurrentServer", "Server", "ServerSettings", "json_response", "receive_uploads"]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Which library, who may ask, and how much at once."""

    library: Path | None = None  # None: the user's own
    rules: AccessRules = field(default_factory=AccessRules)
    threads: int = max(2, os.cpu_count() or 1)
    waiting: int = 64
    seconds: float = 60.0  # that a question may take
    patience: float = 600.0  # that a whole document may take
    files: int = 200  # in one upload
    warm: bool = False  # load models before somebody asks


T = TypeVar("T")
_IDLE_SECONDS = 10.0  # seconds, to who asks already: the two would share the cores, and both be late
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "content": {"application/problem+json": {}}}
    for status in (400, 401, 403, 404, 408, 413, 421, 422, 500, 503, 504)
}


@dataclass(frozen=True, slots=True)
class Server:
    """What lives as long as the server does."""

    settings: ServerSettings
    current: CurrentLibrary
    quick: WorkQueue  # questions
    slow: WorkQueue  # whole documents, in threads of their own: who asks a question does not wait for them
    uploads: UploadQueue
    question_loader: LazyLoader
    document_loader: LazyLoader

    async def ask(self, function: Callable[[], T]) -> T:
        """What a function says that takes a moment."""
        return await self.quick.run(self._when_ready, function, (self.question_loader,))

    async def work(self, function: Callable[[], T]) -> T:
        """What a function says that may take long."""
        return await self.slow.run(self._when_ready, function, (self.question_loader, self.document_loader))

    def warm(self) -> None:
        """Get everything ready while nobody waits for it."""
        self.slow.submit(self._warm)

    def close(self, seconds: float = 0.0) -> bool:
        """Take no more work, and wait for what has begun; whether nothing is left."""
        return all([self.uploads.close(seconds), self.slow.close(seconds), self.quick.close(seconds)])

    def _warm(self) -> None:
        try:
            self.question_loader()
            self.quick.wait_until_idle(_IDLE_SECONDS)
            warm(self.current)
            self.quick.wait_until_idle(_IDLE_SECONDS)
            self.document_loader()
        finally:
            gc.freeze()  # what was loaded stays: nobody need look through it for garbage
            gc.enable()

    @staticmethod
    def _when_ready(function: Callable[[], T], loaders: Sequence[LazyLoader]) -> T:
        for loader in loaders:
            loader()
        return function()


def json_response(content: Any) -> Response:
    """An answer, made in the thread that worked for it: one of megabytes must not hold up everybody else's."""
    return Response(json.dumps(content, allow_nan=False).encode(), media_type="application/json")


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


CurrentServer = Annotated[Server, Depends(_server)]


def receive_uploads(files: Sequence[UploadFile], max_files: int) -> list[Upload]:
    """The files under safe names; too many of them are refused, and so are none."""
    if not 0 < len(files) <= max_files:
        raise Problem(422, f"Send between one and {max_files} files at once, not {len(files)}.")
    return [Upload(safe_name(file.filename or "file"), file.file) for file in files]
