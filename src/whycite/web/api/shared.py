"""What all routes need: the library as it is now, threads to work on, and answers as JSON."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.responses import Response

from whycite.serving.work import Work
from whycite.web.adding import Adding
from whycite.web.current import Current
from whycite.web.ready import Ready, warm
from whycite.web.schemas import ProblemDetails
from whycite.web.settings import Settings

__all__ = ["PROBLEMS", "Here", "Server", "answered"]

T = TypeVar("T")
_GIVES_WAY = 10.0  # seconds, to who asks already: the two would share the cores, and both be late
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "content": {"application/problem+json": {}}}
    for status in (400, 401, 403, 404, 408, 413, 421, 422, 500, 503, 504)
}


@dataclass(frozen=True, slots=True)
class Server:
    """What lives as long as the server does."""

    settings: Settings
    current: Current
    quick: Work  # questions
    slow: Work  # whole documents, in threads of their own: who asks a question does not wait for them
    adding: Adding
    questions: Ready
    documents: Ready

    async def ask(self, function: Callable[[], T]) -> T:
        """What a function says that takes a moment."""
        return await self.quick.do(self._when_ready, function, (self.questions,))

    async def work(self, function: Callable[[], T]) -> T:
        """What a function says that may take long."""
        return await self.slow.do(self._when_ready, function, (self.questions, self.documents))

    def warm(self) -> None:
        """Get everything ready while nobody waits for it."""
        self.slow.begin(self._warm)

    def close(self, seconds: float = 0.0) -> bool:
        """Take no more work, and wait for what has begun; whether nothing is left."""
        return all([self.adding.close(seconds), self.slow.close(seconds), self.quick.close(seconds)])

    def _warm(self) -> None:
        try:
            self.questions()
            self.quick.rest(_GIVES_WAY)
            warm(self.current)
            self.quick.rest(_GIVES_WAY)
            self.documents()
        finally:
            gc.freeze()  # what was loaded stays: nobody need look through it for garbage
            gc.enable()

    @staticmethod
    def _when_ready(function: Callable[[], T], needed: Sequence[Ready]) -> T:
        for each in needed:
            each()
        return function()


def answered(told: Any) -> Response:
    """An answer, made in the thread that worked for it: one of megabytes must not hold up everybody else's."""
    return Response(json.dumps(told, allow_nan=False).encode(), media_type="application/json")


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


Here = Annotated[Server, Depends(_server)]
