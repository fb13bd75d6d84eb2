"""The labelling page, served only on this machine: its instructions, and which task a labeller gets next."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whycite.errors import UserError
from whycite.lab.annotate.tasks import LABELS, Action, AnswerEntry, Answers, LabellingTask, TaskKind
from whycite.web.guard import MEDIA_TYPE, AccessRules, Guard, problem_body

__all__ = [
    "HOST",
    "INSTRUCTIONS",
    "AnswerChoice",
    "Desk",
    "Instructions",
    "LabellingProgress",
    "application",
    "listen",
    "run",
]

_RESERVATION_SECONDS = 600.0  # how long a task stays reserved for a labeller


@dataclass(frozen=True, slots=True)
class LabellingProgress:
    """The progress of a labeller, and of all labellers."""

    answered: int
    skipped: int
    open: int  # tasks left for this labeller
    held: int  # tasks that would be, but are reserved for others
    answers: int  # of all labellers
    wanted: int  # of all labellers


class Desk:
    """Hands out tasks and records answers; thread-safe."""

    def __init__(self, answers: Answers, votes: int, clock: Callable[[], float] = time.monotonic) -> None:
        if votes < 1:
            raise UserError(f"each task needs at least 1 labeller, not {votes}")
        self.answers = answers
        self.votes = votes
        self._clock = clock
        self._reservations: dict[str, dict[str, float]] = {}  # task -> labeller -> expiry
        self._lock = threading.RLock()

    def next(self, labeller: str) -> LabellingTask | None:
        """Reserve the first task left for a labeller; the same one until they answer or skip it."""
        with self._lock:
            now = self._clock()
            for id, task in self.answers.tasks.items():
                if self._is_open(id, labeller, now):
                    for reservations in self._reservations.values():
                        reservations.pop(labeller, None)
                    self._reservations.setdefault(id, {})[labeller] = now + _RESERVATION_SECONDS
                    return task
            return None

    def _is_open(self, task: str, labeller: str, now: float) -> bool:
        labels = self.answers.by_task.get(task, {})
        if labeller in labels:
            return False
        reserved_votes = sum(
            until > now
            for holder, until in self._reservations.get(task, {}).items()
            if holder != labeller and holder not in labels
        )
        return self.answers.votes(task) + reserved_votes < self.votes

    def take(self, task: str, labeller: str, action: Action, label: str, submission: str) -> AnswerEntry:
        """Record an answer or a skip; duplicates count once."""
        with self._lock:
            labelling_task = self.answers.tasks.get(task)
            if labelling_task is None:
                raise UserError(f"unknown task '{task}'; reload the page")
            if action == "answer" and label not in LABELS[labelling_task.kind]:
                raise UserError(
                    f"'{label}' is not an answer to this task; choose one of: {', '.join(LABELS[labelling_task.kind])}"
                )
            entry = AnswerEntry(task, labeller, action, label if action == "answer" else "", submission, _now())
            earlier_label = self.answers.label_of(labeller, task)
            if earlier_label is not None and earlier_label == entry.label:  # a double click, or another window
                return entry
            recorded_entry = self.answers.record(entry)
            self._reservations.get(task, {}).pop(labeller, None)
            return recorded_entry

    def undo(self, labeller: str, submission: str) -> LabellingTask | None:
        """Undo a labeller's last action and return its task, or None if there is nothing to undo."""
        with self._lock:
            task_ids = self.answers.by_labeller.get(labeller)
            if not task_ids:
                return None
            entry = self.answers.record(AnswerEntry(task_ids[-1], labeller, "undo", "", submission, _now()))
            self._reservations.setdefault(entry.task, {})[labeller] = self._clock() + _RESERVATION_SECONDS
            return self.answers.tasks[entry.task]

    def progress(self, labeller: str) -> LabellingProgress:
        """The progress of a labeller."""
        with self._lock:
            now, task_ids = self._clock(), self.answers.by_labeller.get(labeller, [])
            answered = sum(bool(self.answers.label_of(labeller, task)) for task in task_ids)
            tasks = self.answers.tasks
            open_to_labeller = [task for task in tasks if labeller not in self.answers.by_task.get(task, {})]
            open_tasks = sum(self._is_open(task, labeller, now) for task in open_to_labeller)
            return LabellingProgress(
                answered,
                len(task_ids) - answered,
                open_tasks,
                sum(self.answers.votes(task) < self.votes for task in open_to_labeller) - open_tasks,
                sum(min(self.answers.votes(task), self.votes) for task in tasks),
                len(tasks) * self.votes,
            )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """An answer, its text on the page, and its keyboard shortcut."""

    label: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """The texts of the page for a kind of task."""

    title: str
    steps: tuple[str, ...]
    guide: str
    hints: tuple[str, ...]
    question: str
    choices: tuple[AnswerChoice, ...]


def _choices(kind: TaskKind, *buttons: tuple[str, str]) -> tuple[AnswerChoice, ...]:
    return tuple(AnswerChoice(label, *button) for label, button in zip(LABELS[kind], buttons, strict=True))


_READ = "Read both sentences to the end and make sure that you understand them. A minute or two is enough."
_JUDGE = "How does the second sentence relate to the first?"

INSTRUCTIONS: Mapping[TaskKind, Instructions] = MappingProxyType(
    {
        "BR": Instructions(
            "Which option backs the claim better?",
            (
                "Read the claim.",
                "Read both options.",
                "Make sure that you understand all three sentences.",
                "Choose the option that better supports the claim.",
                "If neither supports it at all, choose either one.",
            ),
            "What makes an option better, most important first:",
            (
                "It directly addresses the claim.",
                "It gives evidence for part of the claim.",
                "It is about the same topic.",
                "It mentions something related to the topic of the claim.",
            ),
            "Which one?",
            _choices("BR", ("Option 1", "1"), ("Option 2", "2")),
        ),
        "BC-E": Instructions(
            _JUDGE,
            (
                _READ,
                "Decide whether the second sentence gives evidence for the first.",
                "If it is only related and gives no evidence, choose “Not evidence”.",
            ),
            "Look for:",
            ("an idea, a method or an explanation in the second sentence that the first one is based on.",),
            "Is this evidence?",
            _choices("BC-E", ("Evidence", "e"), ("Not evidence", "n")),
        ),
        "BC-R": Instructions(
            _JUDGE,
            (_READ, "Decide whether the second sentence is related to the first."),
            "Look for:",
            ("an idea, a method or an explanation in the second sentence that is related to the first one.",),
            "Is this related?",
            _choices("BC-R", ("Related", "r"), ("Unrelated", "n")),
        ),
        "TC": Instructions(
            "Does the sentence say what the claim says?",
            (
                "Read the claim, then the sentence from the paper it cites.",
                "Judge by this sentence alone, not by what you know of the topic.",
                "“Supports”: whoever believes the sentence must believe the claim, in all that matters.",
                "“Contradicts”: the two cannot both be true.",
                "“Neither”: anything else, even on the same topic.",
            ),
            "Choose “Neither” if the sentence only:",
            (
                "is about other people, animals, substances or outcomes;",
                "says that something may be so, is expected or is unknown;",
                "reports an association where the claim names a cause;",
                "says what was done, not what was found.",
            ),
            "What does the sentence do?",
            _choices("TC", ("Supports", "p"), ("Contradicts", "c"), ("Neither", "n")),
        ),
    }
)


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
