"""The application: API and pages behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from whycite.errors import Busy, MissingExtra, UserError
from whycite.serving.guard import Guard
from whycite.serving.problems import MEDIA_TYPE, body
from whycite.serving.work import Work
from whycite.web import pages
from whycite.web.adding import Adding
from whycite.web.api import check, cite, health, library, read, verify
from whycite.web.api.shared import Server
from whycite.web.current import Current
from whycite.web.ready import Ready, load_documents, load_questions
from whycite.web.settings import Settings

__all__ = ["assemble", "create"]

_SLOW = 2  # threads for whole documents
_SLOW_WAITING = 16
_LATER = "10"  # seconds after which another writer may be done
_WRONG = 3  # mistakes that are told of at once
_SAID = {
    404: "There is nothing at this address.",
    405: "This address is asked in another way: see Allow, and /api/openapi.json.",
}


def create(settings: Settings | None = None) -> Guard:
    """The application for a library."""
    return assemble(settings or Settings())[0]


def assemble(settings: Settings) -> tuple[Guard, Server]:
    """The application, and what works behind it."""
    current = Current(settings.library)
    questions = Ready(load_questions)
    server = Server(
        settings,
        current,
        Work(settings.threads, settings.waiting, settings.seconds),
        Work(_SLOW, min(settings.waiting, _SLOW_WAITING), settings.patience, again=10),
        Adding(lambda: current.path, questions),
        questions,
        Ready(load_documents),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if settings.warm:
            server.warm()
        yield
        server.close()

    app = FastAPI(
        title="whycite",
        version=version("whycite"),
        summary="Know what to cite, where, and why.",
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.server = server
    api = APIRouter(prefix="/api")
    for part in (health, cite, check, verify, read, library):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(pages.router)
    pages.mount(app)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(UserError, _mistake)
    app.add_exception_handler(MissingExtra, _mistake)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _defect)
    return Guard(app, settings.rules), server  # around all of it: what fails is guarded too


def _said(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    return Response(body(status, detail), status, headers, MEDIA_TYPE)


async def _mistake(_: Request, error: Exception) -> Response:
    return _said(422, str(error))


async def _busy(_: Request, error: Exception) -> Response:
    return _said(503, str(error), {"retry-after": _LATER})


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [f"{'.'.join(map(str, each['loc'][1:])) or 'request'}: {each['msg']}" for each in error.errors()]
    more = [f"and {len(wrong) - _WRONG} more"] if len(wrong) > _WRONG else []
    return _said(422, "; ".join(wrong[:_WRONG] + more))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    plain = type(error) is HTTPException  # of the framework, which says no more than the status does
    if plain and error.status_code == 404 and not request.url.path.startswith(("/api/", "/static/")):
        return pages.missing(request)
    detail = _SAID.get(error.status_code, str(error.detail)) if plain else str(error.detail)
    return _said(error.status_code, detail, dict(error.headers or {}))


async def _defect(_: Request, error: Exception) -> Response:
    """Whatever nobody thought of; the server that runs the application logs it."""
    return _said(500, f"Something went wrong inside whycite ({type(error).__name__}); the server's log has more.")
