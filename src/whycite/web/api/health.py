"""Report that the server is up."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version

from fastapi import APIRouter
from fastapi.responses import Response

from whycite.errors import UserError
from whycite.web.schemas import Health
from whycite.web.server import PROBLEMS, CurrentServer, Server, json_response

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/health", response_model=Health, responses=PROBLEMS)
async def health(here: CurrentServer) -> Response:
    """The version and the library in use; also a check that requests are accepted."""
    return await here.ask(lambda: _health(here))


def _health(here: Server) -> Response:
    documents: int | None = None  # no library yet
    with suppress(UserError):
        documents = here.current.library().info().documents
    path = str(here.current.path)
    answer: Health = {"status": "ok", "version": version("whycite"), "library": path, "documents": documents}
    return json_response(answer)
