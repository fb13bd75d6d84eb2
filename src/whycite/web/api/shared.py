"""What all routes need: the library as it is now, and threads to work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from whycite.serving.work import Work
from whycite.web.adding import Adding
from whycite.web.current import Current
from whycite.web.schemas import ProblemDetails
from whycite.web.settings import Settings

__all__ = ["PROBLEMS", "Here", "Server"]

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "content": {"application/problem+json": {}}}
    for status in (400, 401, 403, 404, 413, 421, 422, 503, 504)
}


@dataclass(frozen=True, slots=True)
class Server:
    """What lives as long as the server does."""

    settings: Settings
    current: Current
    work: Work
    adding: Adding


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


Here = Annotated[Server, Depends(_server)]
