"""The application: API and pages behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from whycite.errors import MissingExtra, UserError
from whycite.serving.guard import Guard
from whycite.serving.problems import MEDIA_TYPE, Problem, body
from whycite.serving.work import Work
from whycite.web import pages
from whycite.web.adding import Adding
from whycite.web.api import check, cite, health, library, read, verify
from whycite.web.api.shared import Server
from whycite.web.current import Current
from whycite.web.settings import Settings

__all__ = ["create"]


def create(settings: Settings | None = None) -> FastAPI:
    """The application for a library."""
    settings = settings or Settings()
    current = Current(settings.library)
    server = Server(settings, current, Work(settings.threads, settings.waiting, settings.seconds), Adding(current.path))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        server.work.close()
        server.adding.close()

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
    app.add_middleware(Guard, rules=settings.rules)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(UserError, _mistake)
    app.add_exception_handler(MissingExtra, _mistake)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _defect)
    return app


def _said(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    return Response(body(status, detail), status, headers, MEDIA_TYPE)


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _said(error.status, error.detail, error.headers)


async def _mistake(_: Request, error: Exception) -> Response:
    return _said(422, str(error))


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = (f"{'.'.join(map(str, each['loc'][1:])) or 'request'}: {each['msg']}" for each in error.errors())
    return _said(422, "; ".join(wrong))


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _said(error.status_code, str(error.detail), dict(error.headers or {}))


async def _defect(_: Request, error: Exception) -> Response:
    return _said(500, f"Something went wrong inside whycite ({type(error).__name__}); the server's log has more.")
