"""The application (API and pages behind the guard) and the server that runs it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any, cast

import h11
import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from whycite.errors import Busy, MissingExtra, NoLibrary, UserError
from whycite.service.loading import CurrentLibrary, LazyLoader, load_documents, load_questions
from whycite.web import pages, uploads
from whycite.web.api import check, collections, library, librarypapers, projects, questions
from whycite.web.guard import (
    MEDIA_TYPE,
    AccessRules,
    Application,
    FieldError,
    Guard,
    Message,
    Receive,
    Scope,
    Send,
    defect_detail,
    path_below,
    problem_body,
)
from whycite.web.projects.desk import ProjectDesk
from whycite.web.projects.store import default_projects
from whycite.web.queues import UploadQueue, WorkQueue
from whycite.web.serverstate import RequestCounts, Server, ServerSettings
from whycite.web.warm import WarmPapers

__all__ = ["PunctualProtocol", "assemble", "create", "guarded", "listen", "run"]


_SLOW_THREADS = 2  # for requests that read whole documents
_SLOW_WAITING = 16
_RETRY_AFTER = "10"  # seconds until another writer may have finished
_MAX_MISTAKES = 3  # validation errors in a sentence
_EMPTY_LIBRARY = "Your library is empty. Add papers on the page Library, or with: whycite add FOLDER"
_MAX_ERRORS = 100  # validation errors to list
_RESULT_NAME = re.compile(r"(?<=[a-z])Json\b")
_API = "/api/"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_STATUS_DETAILS = {
    404: "Nothing found at this address.",
    405: "This address does not support this method; see the Allow header and /api/openapi.json.",
}


class _Application(FastAPI):
    """Describes results under their plain names: `Paper` for what `PaperJson` defines."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description."""
        if self.openapi_schema is None:
            self.openapi_schema = json.loads(_RESULT_NAME.sub("", json.dumps(super().openapi())))
            # The token is needed only where the server was started with one.
            self.openapi_schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            self.openapi_schema["security"] = [{}, {"token": []}]
            for operations in self.openapi_schema["paths"].values():
                for operation in operations.values():
                    _declare_problems(operation["responses"])
        return self.openapi_schema


def _declare_problems(responses: dict[str, Any]) -> None:
    """Problems have the type that they are sent as; the framework would declare plain JSON besides."""
    for response in responses.values():
        content = response.get("content", {})
        if MEDIA_TYPE in content:
            content[MEDIA_TYPE] |= content.pop("application/json", {})


def _operation_id(route: APIRoute) -> str:
    """The name of an operation, which stays when its address changes: `projects_create`."""
    group = str(route.tags[0]) if route.tags else ""
    return "_".join(filter(None, (group if group != route.name else "", route.name)))


def create(settings: ServerSettings | None = None) -> Application:
    """The application for a library."""
    return assemble(settings or ServerSettings())[0]


def assemble(settings: ServerSettings) -> tuple[Application, Server]:
    """The application and the server state behind it."""
    current = CurrentLibrary(settings.library, settings.shards)
    question_loader, document_loader = LazyLoader(load_questions), LazyLoader(load_documents)
    papers = WarmPapers()

    def load() -> None:
        question_loader()
        document_loader()

    server = Server(
        settings,
        current,
        WorkQueue(settings.threads, settings.waiting, settings.seconds),
        WorkQueue(_SLOW_THREADS, min(settings.waiting, _SLOW_WAITING), settings.patience, retry_after=10),
        UploadQueue(lambda: current.path, question_loader),
        question_loader,
        document_loader,
        papers,
        ProjectDesk(settings.projects or default_projects(), current, papers, load),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if settings.warm:
            server.warm()
        yield
        server.close()

    app = _Application(
        title="whycite",
        version=version("whycite"),
        summary="Know what to cite, where, and why.",
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=_operation_id,
        lifespan=lifespan,
    )
    app.state.server = server
    api = APIRouter(prefix="/api")
    for part in (questions, check, projects, library, collections, librarypapers):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(questions.metrics_router)
    app.include_router(pages.router)
    pages.mount(app)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(NoLibrary, _no_library)
    app.add_exception_handler(UserError, _mistake)
    app.add_exception_handler(MissingExtra, _mistake)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _defect)
    return guarded(app, settings, server.counts), server


def guarded(app: Application, settings: ServerSettings, counts: RequestCounts) -> Application:
    """An application behind its guard, below its path, whose answers are counted."""
    # The guard is around everything, so that it also guards error responses.
    counted = _CountedRequests(Guard(app, settings.rules, pages.refusal), counts)
    return _Below(settings.root_path, counted) if settings.root_path else counted


class _Below:
    """Serves an application below a path, which a reverse proxy passes on or leaves out."""

    def __init__(self, root: str, app: Application) -> None:
        self._root, self._app = root, app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            below = {**scope, "root_path": self._root}
            scope = below | {"path": self._root + path_below(below)}
        await self._app(scope, receive, send)


class _CountedRequests:
    """Counts what an application answers, refusals too, and in what time."""

    def __init__(self, app: Application, counts: RequestCounts) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            # By its route, not its address: addresses have no end, and may say what somebody asked.
            route = getattr(scope.get("route"), "path", "other")
            if path_below(scope).startswith(_API) and not route.startswith(_API):
                route = _API + route.lstrip("/")  # newer versions of FastAPI leave out what it is included under
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._counts.add(route, method, status, time.perf_counter() - started)


def _problem_response(
    status: int, detail: str, headers: dict[str, str] | None = None, errors: Sequence[FieldError] = ()
) -> Response:
    return Response(problem_body(status, detail, errors), status, headers, MEDIA_TYPE)


async def _mistake(_: Request, error: Exception) -> Response:
    return _problem_response(422, str(error))


async def _no_library(_: Request, error: Exception) -> Response:
    return _problem_response(422, _EMPTY_LIBRARY)  # its own words name a folder, which is no help on a page


async def _busy(_: Request, error: Exception) -> Response:
    return _problem_response(503, str(error), {"retry-after": _RETRY_AFTER})


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors: list[FieldError] = [
        {"field": ".".join(map(str, mistake["loc"][1:])) or "request", "message": mistake["msg"]}
        for mistake in error.errors()
    ]
    mistakes = [f"{mistake['field']}: {mistake['message']}" for mistake in errors[:_MAX_MISTAKES]]
    remainder = [f"and {len(errors) - _MAX_MISTAKES} more"] if len(errors) > _MAX_MISTAKES else []
    return _problem_response(422, "; ".join(mistakes + remainder), errors=errors[:_MAX_ERRORS])


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    plain = type(error) is HTTPException  # from the framework, without a message of its own
    is_file = isinstance(request.scope.get("endpoint"), StaticFiles)
    if plain and error.status_code == 404 and not is_file and not path_below(request.scope).startswith(_API):
        return pages.missing(request)
    detail = _STATUS_DETAILS.get(error.status_code, str(error.detail)) if plain else str(error.detail)
    return _problem_response(error.status_code, detail, dict(error.headers or {}))


async def _defect(_: Request, error: Exception) -> Response:
    """Answer an unexpected error; the server logs it."""
    return _problem_response(500, defect_detail(error))


_PATIENCE = 3  # seconds to finish running requests when the server stops
_CONNECTIONS = 1_000  # at once; more are refused
_INTERRUPT_STATUS = 130


class PunctualProtocol(H11Protocol):
    """Ends connections whose request does not arrive in time: a few slow ones would keep out everybody else."""

    def __init__(self, *args: Any, seconds: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._seconds = seconds
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request; its head must be complete in time, however many parts it has."""
        super().data_received(data)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._clear_deadline()

    def _set_deadline(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._clear_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds, self._expire)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()


def run(settings: ServerSettings, listener: socket.socket, started: Callable[[], None]) -> None:
    """Serve until the program is stopped; `started` is called once the server accepts requests."""
    app, server = assemble(settings)
    try:
        listen(app, settings.rules, listener, started, server)
    finally:
        if not server.close():
            _exit_at_once()


def listen(
    app: Application,
    rules: AccessRules,
    listener: socket.socket,
    started: Callable[[], None],
    server: Server | None = None,
) -> None:
    """Let an application answer requests until the program is stopped; `server` is the state behind it, if any."""
    config = uvicorn.Config(
        cast(Any, app),
        http=cast(Any, partial(PunctualProtocol, seconds=rules.seconds)),
        lifespan="off" if server is None else "auto",
        log_level="warning",
        access_log=False,  # addresses may contain a token
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE,
        limit_concurrency=_CONNECTIONS,
    )
    _UvicornServer(config, server, started).run(sockets=[listener])


class _UvicornServer(uvicorn.Server):
    """Reports when it has started, and ends event streams before it stops."""

    def __init__(self, config: uvicorn.Config, server: Server | None, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._server, self._on_start = server, on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        await super().startup(sockets)
        if self.started:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, and clean up here: a process that SIGTERM ends does nothing afterwards."""
        if self._server is None:
            await super().shutdown(sockets)
            return
        self._server.uploads.stop()
        await super().shutdown(sockets)
        await asyncio.to_thread(self._server.close, _PATIENCE)
        uploads.remove_all()


def _exit_at_once() -> None:
    """Exit without waiting for worker threads, whose results nobody needs any more."""
    uploads.remove_all()
    print("whycite: stopped", file=sys.stderr, flush=True)
    os._exit(_INTERRUPT_STATUS)
