"""The labellers' page, served on this machine alone."""

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

from whycite.annotation.assigning import Desk
from whycite.annotation.instructions import INSTRUCTIONS
from whycite.annotation.model import Task
from whycite.errors import UserError
from whycite.serving.guard import Guard, Rules
from whycite.serving.problems import MEDIA_TYPE, body

__all__ = ["HOST", "application", "listen", "run"]

HOST = "127.0.0.1"
_MOST = 1 << 20  # bytes of a request
_ASSETS = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise ValueError("a name has letters")
    return name


Name = Annotated[str, Field(max_length=64), AfterValidator(_name)]
Submission = Annotated[str, Field(min_length=8, max_length=64)]


class Given(BaseModel):
    """What the page sends when a labeller answers or skips."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(max_length=1000)]
    labeller: Name
    action: Literal["answer", "skip"]
    label: Annotated[str, Field(max_length=64)] = ""
    submission: Submission


class Undone(BaseModel):
    """What it sends when a labeller takes the last act back."""

    model_config = ConfigDict(extra="forbid")

    labeller: Name
    submission: Submission


def application(desk: Desk) -> Guard:
    """The page and what it talks to."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _serve_assets(app)

    @app.get("/api/instructions")
    def instructions() -> dict[str, Any]:
        return {kind: asdict(words) for kind, words in INSTRUCTIONS.items()}

    @app.get("/api/next")
    def following(labeller: Annotated[Name, Query()]) -> dict[str, Any]:
        return _state(desk, labeller, desk.next(labeller))

    @app.post("/api/answers")
    def answer(given: Given) -> dict[str, Any]:
        desk.take(given.task, given.labeller, given.action, given.label, given.submission)
        return _state(desk, given.labeller, desk.next(given.labeller))

    @app.post("/api/undo")
    def undo(undone: Undone) -> dict[str, Any]:
        task = desk.undo(undone.labeller, undone.submission)
        return _state(desk, undone.labeller, task or desk.next(undone.labeller))

    @app.exception_handler(UserError)
    def wrong(request: Request, error: UserError) -> Response:
        return Response(body(400, str(error)), 400, media_type=MEDIA_TYPE)

    @app.exception_handler(RequestValidationError)
    def misformed(request: Request, error: RequestValidationError) -> Response:
        place = ".".join(str(part) for part in error.errors()[0]["loc"][1:])
        return Response(body(422, f"'{place}' is missing or not as it should be"), 422, media_type=MEDIA_TYPE)

    return Guard(app, Rules(HOST, most=_MOST))


def _serve_assets(app: FastAPI) -> None:
    for path, (name, kind) in _ASSETS.items():
        content = files("whycite.annotation").joinpath("assets", name).read_bytes()
        app.add_route(path, _asset(content, kind), methods=["GET"])


def _asset(content: bytes, kind: str) -> Callable[[Request], Response]:
    def asset(request: Request) -> Response:
        return Response(content, media_type=kind)

    return asset


def _state(desk: Desk, labeller: str, task: Task | None) -> dict[str, Any]:
    """What a labeller sees next; not where the sentences stand, nor which answer is right."""
    shown = None
    if task is not None:
        texts = [option.text for option in task.options]
        shown = {"id": task.id, "kind": task.kind, "claim": task.claim, "options": texts}
    return {"labeller": labeller, "task": shown, "progress": asdict(desk.progress(labeller))}


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0: any that is free."""
    listening = socket.socket()
    if os.name == "posix":  # elsewhere it would let two programs share the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # who comes before the server is ready waits
    except OSError as error:
        listening.close()
        raise UserError(f"port {port}: {error.strerror or error}; name another with --port") from error
    return listening


def run(app: Guard, listening: socket.socket) -> None:
    """Serve until the program is stopped."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", access_log=False))
    server.run(sockets=[listening])
