"""The labelling page, served only on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whycite.errors import UserError
from whycite.lab.annotate.assignment import Desk
from whycite.lab.annotate.instructions import INSTRUCTIONS
from whycite.lab.annotate.tasks import LabellingTask
from whycite.web.guard import MEDIA_TYPE, AccessRules, Guard, problem_body

__all__ = ["HOST", "application", "listen", "run"]

HOST = "127.0.0.1"
_MAX_REQUEST_BYTES = 1 << 20  # maximum size of a request
_ASSETS = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise ValueError("a name must contain letters")
    return name


Name = Annotated[str, Field(max_length=64), AfterValidator(_name)]
Submission = Annotated[str, Field(min_length=8, max_length=64)]


class AnswerRequest(BaseModel):
    """Sent by the page when a labeller answers or skips."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(max_length=1000)]
    labeller: Name
    action: Literal["answer", "skip"]
    label: Annotated[str, Field(max_length=64)] = ""
    submission: Submission


class UndoRequest(BaseModel):
    """Sent by the page when a labeller undoes the last action."""

    model_config = ConfigDict(extra="forbid")

    labeller: Name
    submission: Submission


def application(desk: Desk) -> Guard:
    """The page and its API."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _serve_assets(app)

    @app.get("/api/instructions")
    def instructions() -> dict[str, Any]:
        return {kind: asdict(words) for kind, words in INSTRUCTIONS.items()}

    @app.get("/api/next")
    def next_task(labeller: Annotated[Name, Query()]) -> dict[str, Any]:
        return _state(desk, labeller, desk.next(labeller))

    @app.post("/api/answers")
    def answer(request: AnswerRequest) -> dict[str, Any]:
        desk.take(request.task, request.labeller, request.action, request.label, request.submission)
        return _state(desk, request.labeller, desk.next(request.labeller))

    @app.post("/api/undo")
    def undo(request: UndoRequest) -> dict[str, Any]:
        task = desk.undo(request.labeller, request.submission)
        return _state(desk, request.labeller, task or desk.next(request.labeller))

    @app.exception_handler(UserError)
    def refuse_user_error(request: Request, error: UserError) -> Response:
        return Response(problem_body(400, str(error)), 400, media_type=MEDIA_TYPE)

    @app.exception_handler(RequestValidationError)
    def refuse_malformed(request: Request, error: RequestValidationError) -> Response:
        place = ".".join(str(part) for part in error.errors()[0]["loc"][1:])
        return Response(problem_body(422, f"'{place}' is missing or not as it should be"), 422, media_type=MEDIA_TYPE)

    return Guard(app, AccessRules(HOST, max_bytes=_MAX_REQUEST_BYTES))


def _serve_assets(app: FastAPI) -> None:
    for path, (name, kind) in _ASSETS.items():
        content = files("whycite.lab.annotate").joinpath("assets", name).read_bytes()
        app.add_route(path, _asset(content, kind), methods=["GET"])


def _asset(content: bytes, kind: str) -> Callable[[Request], Response]:
    def asset(request: Request) -> Response:
        return Response(content, media_type=kind)

    return asset


def _state(desk: Desk, labeller: str, task: LabellingTask | None) -> dict[str, Any]:
    """What a labeller sees next, without the locations of sentences or the correct answer."""
    shown = None
    if task is not None:
        texts = [option.text for option in task.options]
        shown = {"id": task.id, "kind": task.kind, "claim": task.claim, "options": texts}
    return {"labeller": labeller, "task": shown, "progress": asdict(desk.progress(labeller))}


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 picks a free one."""
    listening = socket.socket()
    if os.name == "posix":  # elsewhere, two programs could share the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # early requests wait until the server is ready
    except OSError as error:
        listening.close()
        raise UserError(f"port {port}: {error.strerror or error}; choose another with --port") from error
    return listening


def run(app: Guard, listening: socket.socket) -> None:
    """Serve until interrupted."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", access_log=False))
    server.run(sockets=[listening])
