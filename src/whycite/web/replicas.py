"""`whycite serve --ray`: replicas of the server, on the machines of a Ray cluster, answer from one library.

This process listens, checks who asks, and counts. It passes each question on to a replica, which is the whole
application in a process of Ray Serve. Questions change nothing, so that one whose replica is lost is asked again
elsewhere. Each replica moves to a new version of the library by itself, between two questions.

With shards, replicas do not search. Each question goes to one process of every shard; their candidates, merged, are
those of the whole library (`library.snapshot`). Without an answer from each shard there is none: half a library would
give wrong ones.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fastapi.responses import JSONResponse, Response

from whycite.errors import Busy, MissingExtra, UserError
from whycite.library.paths import local_path
from whycite.service.loading import CurrentLibrary
from whycite.web.api.questions import resident_bytes
from whycite.web.app import assemble, guarded, listen
from whycite.web.guard import Application, Message, Problem, Receive, Scope, Send, asks_only, path_below
from whycite.web.serverstate import EXPOSITION, RequestCounts, ServerSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whycite.library.snapshot import SearchCandidates, SearchRequest

__all__ = ["Gateway", "Replica", "ReplicaPlan", "ask_shards", "serve_replicas"]

Handle = Any  # of a deployment of Ray Serve
_ATTEMPTS = 4  # at a question; a replica that is lost takes the questions along that it was answering
_PAUSE_SECONDS = 0.5  # before the second attempt, and so on longer
_ACCEPT_SECONDS = 60.0  # for a replica to take a question; one that is lost comes back within this time
_SHARD_SECONDS = 15.0
_HEALTH_SECONDS = 2.0  # between two looks at a replica
_HEALTH_PATIENCE = 60.0  # for its answer: it may be busy
_STOP_SECONDS = 5.0  # for running questions when a replica is stopped
_MAX_QUESTIONS = 200  # with one replica at a time; it refuses more than its own queue takes
_REPLICAS = "replicas"
_SENT_ON = {
    *("type", "asgi", "http_version", "server", "client", "scheme", "method", "root_path"),
    *("path", "raw_path", "query_string", "headers"),
}  # of a request; the rest belongs to this process
_LOG = logging.getLogger("whycite")


@dataclass(frozen=True, slots=True)
class ReplicaPlan:
    """How many processes answer questions, and how many of each shard search for them."""

    name: str
    replicas: int = 2
    shards: int = 1  # 1: each replica searches the whole library

    @property
    def deployments(self) -> list[str]:
        """The names of what Ray Serve keeps running; of each as many processes as there are replicas."""
        return [_REPLICAS, *(f"shard-{number + 1}" for number in range(self.shards if self.shards > 1 else 0))]


class Replica:
    """The application in a process of the cluster."""

    def __init__(self, settings: ServerSettings, release: str, *shards: Handle) -> None:
        own_release = version("whycite")
        if own_release != release:
            raise UserError(f"a machine of the cluster has whycite {own_release}, and the server {release}")
        place = None if settings.library is None else local_path(settings.library)
        ask = partial(ask_shards, shards) if shards else None
        self._app, server = assemble(replace(settings, library=place, shards=ask))
        server.warm().result()

    async def answer(self, scope: Scope, body: bytes) -> AsyncIterator[list[Message]]:
        """What the application sends for a request; first an empty list, which says that somebody has it."""
        yield []
        messages: asyncio.Queue[Message | None] = asyncio.Queue()
        unread = [body]

        async def receive() -> Message:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            await asyncio.Event().wait()  # the question is cancelled if whoever asked is gone
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "route": getattr(scope.get("route"), "path", "other")}
            messages.put_nowait(message)

        answering = asyncio.ensure_future(self._app(scope, receive, send))
        answering.add_done_callback(lambda _: messages.put_nowait(None))
        try:
            while (message := await messages.get()) is not None:
                batch = [message]
                while not messages.empty() and (message := messages.get_nowait()) is not None:
                    batch.append(message)
                yield batch
                if message is None:
                    break
            await answering
        finally:
            answering.cancel()


def ask_shards(shards: Sequence[Handle], request: SearchRequest) -> list[SearchCandidates]:
    """The answers of all shards, in their order; an error says which one does not answer."""
    from ray.exceptions import RayError, RayTaskError

    answers = [shard.search.remote(request) for shard in shards]
    end = time.monotonic() + _SHARD_SECONDS
    candidates = []
    for number, answer in enumerate(answers):
        while True:
            try:
                candidates.append(answer.result(timeout_s=max(0.1, end - time.monotonic())))
                break
            except RayTaskError as error:
                cause = error.cause
                raise (type(cause)(str(cause)) if isinstance(cause, UserError) else error) from error
            except (RayError, TimeoutError) as error:
                if time.monotonic() >= end:
                    raise Busy(
                        f"part {number + 1} of {len(shards)} of the library does not answer; try again in a moment"
                    ) from error
                time.sleep(_PAUSE_SECONDS)
                answer = shards[number].search.remote(request)
    return candidates


class _Route(NamedTuple):
    """Where a replica found the answer, by which requests are counted."""

    path: str


class Gateway:
    """Passes questions on to replicas, and says how these are."""

    def __init__(
        self,
        replicas: Handle,
        plan: ReplicaPlan,
        current: CurrentLibrary,
        running: Callable[[], Mapping[str, int]],
        counts: RequestCounts,
    ) -> None:
        """`running` tells how many processes of each deployment answer."""
        self._replicas, self._plan, self._current, self._running, self._counts = (
            replicas, plan, current, running, counts,
        )  # fmt: skip
        self._repeated = 0  # questions that were asked again

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = path_below(scope).rstrip("/")
        if path in ("/api/health", "/metrics"):
            scope["route"] = _Route(path)
            state = await asyncio.to_thread(self._health if path == "/api/health" else self._metrics)
            await state(scope, receive, send)
            return
        if path.startswith(("/projects", "/api/projects")) or not asks_only(scope):
            raise Problem(
                403,
                "These replicas answer questions alone; use a server without --ray to change a library or projects.",
            )
        await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        from ray.exceptions import RayError, RayTaskError

        question = {name: value for name, value in scope.items() if name in _SENT_ON}
        body = await _body(receive)
        has_begun = is_complete = False
        for attempt in range(_ATTEMPTS):
            answer = self._replicas.options(stream=True).answer.remote(question, body)
            leaving = asyncio.ensure_future(_left(receive))
            leaving.add_done_callback(partial(_cancel, answer))
            try:
                await asyncio.wait_for(anext(answer), _ACCEPT_SECONDS)
                async for messages in answer:
                    for message in messages:
                        if "route" in message:
                            scope["route"] = _Route(message.pop("route"))
                        has_begun = True
                        is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
                        if is_complete:
                            leaving.cancel()  # from now on the server says that they left, whether they did or not
                        await send(message)
                return
            except TimeoutError:
                answer.cancel()
                break
            except RayError as error:
                if is_complete and isinstance(error, RayTaskError):  # it told an error; why is told here
                    _LOG.error("a replica cannot answer a request", exc_info=error)
                if is_complete or (leaving.done() and not leaving.cancelled()):  # nobody waits for more
                    return
                if has_begun or isinstance(error, RayTaskError):
                    raise
                _LOG.warning("a replica was lost (%s); its questions are asked again", type(error).__name__)
                self._repeated += 1
                await asyncio.sleep(_PAUSE_SECONDS * (attempt + 1))
            finally:
                leaving.cancel()
        raise Problem(503, "No replica answers; try again in a moment.", {"retry-after": "10"})

    def _health(self) -> Response:
        running = self._running()
        documents: int | None = None
        with suppress(UserError):
            documents = self._current.library().info().documents
        replicas = self._plan.replicas
        status: Literal["ok", "degraded", "down"] = "ok"
        if any(running[name] < replicas for name in self._plan.deployments):
            status = "degraded" if all(running[name] for name in self._plan.deployments) else "down"
        content = {
            "status": status,
            "version": version("whycite"),
            "library": str(self._current.path),
            "documents": documents,
            "processes": {name: {"running": running[name], "wanted": replicas} for name in self._plan.deployments},
        }
        return JSONResponse(content, 503 if status == "down" else 200)

    def _metrics(self) -> Response:
        gauges: dict[str, float | Mapping[str, float]] = {
            "whycite_processes_running": dict(self._running()),
            "whycite_processes_wanted": dict.fromkeys(self._plan.deployments, self._plan.replicas),
            "whycite_questions_repeated": self._repeated,
        }
        with suppress(UserError):
            gauges["whycite_library_version"] = self._current.library().version
        if (memory := resident_bytes()) is not None:
            gauges["process_resident_memory_bytes"] = memory
        return Response(self._counts.exposition(gauges), media_type=EXPOSITION)


async def _body(receive: Receive) -> bytes:
    """The whole body of a request, whose length the guard limits."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _left(receive: Receive) -> None:
    """Returns when whoever asked closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _cancel(answer: Any, leaving: asyncio.Future[None]) -> None:
    if not leaving.cancelled():
        answer.cancel()


def serve_replicas(
    settings: ServerSettings, plan: ReplicaPlan, listener: socket.socket, started: Callable[[], None]
) -> None:
    """Serve with the replicas of a cluster until the program is stopped; Ray has to be connected."""
    current = CurrentLibrary(settings.library)
    current.library()  # or an error, before anything is started
    # Processes of a cluster have other folders and variables than this one.
    with _deployed(replace(settings, library=current.shared_path), plan) as replicas:
        counts = RequestCounts()
        gateway: Application = Gateway(replicas, plan, current, partial(_running, plan), counts)
        listen(guarded(gateway, settings, counts), settings.rules, listener, started)


@contextmanager
def _deployed(settings: ServerSettings, plan: ReplicaPlan) -> Iterator[Handle]:
    """The handle of replicas that run on the cluster."""
    try:
        from ray import serve
    except ImportError as error:  # Ray alone is there
        raise MissingExtra("--ray", "scale") from error
    from whycite.library.snapshot import Shard

    logging.getLogger("ray.serve").setLevel(logging.ERROR)

    options: dict[str, Any] = {
        "num_replicas": plan.replicas,
        "max_ongoing_requests": _MAX_QUESTIONS,
        "health_check_period_s": _HEALTH_SECONDS,
        "health_check_timeout_s": _HEALTH_PATIENCE,
        "graceful_shutdown_timeout_s": _STOP_SECONDS,
        "graceful_shutdown_wait_loop_s": 0.2,
    }
    # This process checks tokens, and says with each question below which path it was asked.
    own_rules = replace(settings.rules, token="", read_token="")
    names = plan.deployments
    shards = [
        serve.deployment(Shard, name=name, **options).bind(settings.library, number, plan.shards)
        for number, name in enumerate(names[1:])
    ]
    replicas = serve.deployment(Replica, name=_REPLICAS, **options).bind(
        replace(settings, rules=own_rules, root_path="", warm=False), version("whycite"), *shards
    )
    serve.start(proxy_location="Disabled")
    try:
        try:
            handle = serve.run(replicas, name=plan.name, route_prefix=None)
        except RuntimeError as error:
            reason = (str(error).splitlines() or [""])[-1]
            raise UserError(f"the replicas do not start: {reason}") from error
        yield handle
    finally:
        serve.delete(plan.name)


def _running(plan: ReplicaPlan) -> dict[str, int]:
    """How many processes of each deployment answer."""
    from ray import serve

    application = serve.status().applications.get(plan.name)
    states = {} if application is None else application.deployments
    return {
        name: int(states[name].replica_states.get("RUNNING", 0)) if name in states else 0 for name in plan.deployments
    }
