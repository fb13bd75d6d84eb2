"""Replicas answer as one server does, a lost one costs time only, and a lost shard is told."""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from pathlib import Path
from shutil import copytree
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from whycite.cli import app as command
from whycite.errors import Busy
from whycite.library.snapshot import SearchRequest, Shard
from whycite.service.loading import CurrentLibrary
from whycite.web.app import guarded
from whycite.web.guard import AccessRules
from whycite.web.replicas import Gateway, Replica, ReplicaPlan, ask_shards, serve_replicas
from whycite.web.serverstate import RequestCounts, ServerSettings

CLAIM = "Killer whales hit herring with their tails."
DRAFT = ("draft.md", b"# Introduction\n\nKiller whales hit herring with their tails. Bees die of viruses.\n")
Clients = Callable[..., TestClient]


class RayError(Exception):
    """As Ray has it."""


class RayTaskError(RayError):
    """As Ray has it, for what a task itself raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@pytest.fixture(autouse=True)
def _errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of Ray, which may not be installed."""
    ray, errors = ModuleType("ray"), ModuleType("ray.exceptions")
    ray.__spec__ = ModuleSpec("ray", None)
    errors.RayError, errors.RayTaskError = RayError, RayTaskError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.exceptions", errors)


class FakeAnswer:
    """What a handle returns at once, and what comes of it."""

    def __init__(self, messages: AsyncIterator[Any], lost_after: int | None, cancel: Callable[[], None]) -> None:
        self._messages, self._lost_after, self.cancel = messages, lost_after, cancel

    def __aiter__(self) -> "FakeAnswer":
        return self

    async def __anext__(self) -> Any:
        if self._lost_after == 0:
            raise RayError("the actor died")
        if self._lost_after is not None:
            self._lost_after -= 1
        return await anext(self._messages)


class FakeHandle:
    """The handle of replicas, the first answers of which are lost after so many batches."""

    def __init__(self, replica: Any, lost: list[int | None]) -> None:
        self._replica, self._lost = replica, lost
        self.asked = 0
        self.answer = self
        self.cancel: Callable[[], None] = lambda: None

    def options(self, stream: bool) -> "FakeHandle":
        """Answers come in batches."""
        assert stream
        return self

    def remote(self, scope: Any, body: bytes) -> FakeAnswer:
        """Ask."""
        self.asked += 1
        return FakeAnswer(self._replica.answer(scope, body), self._lost.pop(0) if self._lost else None, self.cancel)


@pytest.fixture(scope="module")
def replica(kept_library: Path) -> Replica:
    return Replica(ServerSettings(kept_library, AccessRules()), version("whycite"))


def gateway(
    replica: Any,
    library: Path,
    lost: list[int | None] | None = None,
    running: dict[str, int] | None = None,
    plan: ReplicaPlan | None = None,
    root: str = "",
    rules: AccessRules = AccessRules(),  # noqa: B008 - frozen
) -> tuple[TestClient, FakeHandle]:
    """A client of replicas."""
    handle, counts = FakeHandle(replica, lost or []), RequestCounts()
    plan = plan or ReplicaPlan("test", 1)
    current = CurrentLibrary(library)
    app = Gateway(handle, plan, current, lambda: running or dict.fromkeys(plan.deployments, plan.replicas), counts)
    front = guarded(app, ServerSettings(library, rules, root_path=root), counts)
    return TestClient(front, base_url="http://127.0.0.1", raise_server_exceptions=False), handle


def test_replicas_answer_as_one_server_does(kept_library: Path, client: TestClient, replica: Replica) -> None:
    replicated, _ = gateway(replica, kept_library)

    def ask(client: TestClient) -> list[tuple[int, bytes]]:
        files = [("files", DRAFT)]
        answers = [
            client.post("/api/cite", json={"text": CLAIM, "explain": True}),
            client.post("/api/cite", json={"text": ""}),
            client.post("/api/cite/batch", json={"questions": [{"text": CLAIM}, {"text": "Queens mate."}]}),
            client.post("/api/check", files=files),
            client.post("/api/verify", files=files, data={"claim": CLAIM}),
            client.get("/api/papers/nobody"),
            client.get("/cite"),
            client.get("/static/style.css"),
            client.get("/nothing-here"),
        ]
        return [(answer.status_code, answer.content) for answer in answers]

    assert ask(replicated) == ask(client)
    events = replicated.post("/api/check/stream", files=[("files", DRAFT)]).text
    assert "event: done" in events


@pytest.mark.parametrize("lost", [[0], [1], [0, 1, 0]])
def test_a_lost_replica_costs_time_only(
    kept_library: Path, replica: Replica, lost: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.web.replicas._PAUSE_SECONDS", 0.01)
    times = len(lost)
    client, handle = gateway(replica, kept_library, lost)
    answer = client.post("/api/cite", json={"text": CLAIM})
    assert answer.json()["recommendations"][0]["paper"]["title"].startswith("Killer whales")
    assert handle.asked == times + 1
    assert f"whycite_questions_repeated {times}" in client.get("/metrics").text


def test_if_no_replica_answers_that_is_told(
    kept_library: Path, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.web.replicas._PAUSE_SECONDS", 0.01)
    client, handle = gateway(replica, kept_library, [0] * 100)
    answer = client.post("/api/cite", json={"text": CLAIM})
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert int(answer.headers["retry-after"]) > 0
    assert handle.asked < 10


def test_a_question_that_nobody_waits_for_is_cancelled(kept_library: Path) -> None:
    async def leave() -> bool:
        is_cancelled = asyncio.Event()

        class Endless:
            """Answers nothing until it is cancelled."""

            async def answer(self, scope: Any, body: bytes) -> AsyncIterator[list[Any]]:
                yield []
                await is_cancelled.wait()
                raise RayError("cancelled")

        handle = FakeHandle(Endless(), [])
        handle.cancel = is_cancelled.set
        app = Gateway(handle, ReplicaPlan("test", 1), CurrentLibrary(kept_library), dict, RequestCounts())
        messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"{}", "more_body": False}]

        async def receive() -> Any:
            return messages.pop()

        async def send(message: Any) -> None:
            raise AssertionError(message)

        await asyncio.wait_for(app({"type": "http", "method": "POST", "path": "/api/cite"}, receive, send), 30)
        return is_cancelled.is_set()

    assert asyncio.run(leave())


def test_an_answer_that_was_sent_is_not_cancelled(kept_library: Path) -> None:
    async def finish() -> bool:
        is_sent, is_cancelled = asyncio.Event(), asyncio.Event()

        class Slow:
            """Takes a while to end after its last message."""

            async def answer(self, scope: Any, body: bytes) -> AsyncIterator[list[Any]]:
                yield []
                yield [{"type": "http.response.start", "status": 200, "headers": [], "route": "/"}]
                yield [{"type": "http.response.body", "body": b"all"}]
                await asyncio.sleep(0.05)

        handle = FakeHandle(Slow(), [])
        handle.cancel = is_cancelled.set
        app = Gateway(handle, ReplicaPlan("test", 1), CurrentLibrary(kept_library), dict, RequestCounts())
        messages = [{"type": "http.request", "body": b"{}", "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await is_sent.wait()  # servers say that they left when all is sent
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if "body" in message:
                is_sent.set()
                await asyncio.sleep(0)

        await asyncio.wait_for(app({"type": "http", "method": "POST", "path": "/api/cite"}, receive, send), 30)
        return is_sent.is_set() and not is_cancelled.is_set()

    assert asyncio.run(finish())


def test_why_a_replica_cannot_answer_is_in_the_log(kept_library: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        async def answer(self, scope: Any, body: bytes) -> AsyncIterator[list[dict[str, Any]]]:
            yield []
            yield [{"type": "http.response.start", "status": 500, "headers": [], "route": "/api/cite"}]
            yield [{"type": "http.response.body", "body": b"An internal error occurred"}]
            raise RayTaskError(ZeroDivisionError("no sentences"))

    client, handle = gateway(Failing(), kept_library)
    answer = client.post("/api/cite", json={"text": CLAIM})
    assert (answer.status_code, answer.text, handle.asked) == (500, "An internal error occurred", 1)
    assert "no sentences" in caplog.text


def test_replicas_change_nothing(kept_library: Path, replica: Replica) -> None:
    client, handle = gateway(replica, kept_library)
    refused = [
        client.post("/api/library/remove", json={"ids": []}),
        client.get("/api/projects"),
        client.get("/projects"),
        client.delete("/api/collections/x"),
    ]
    assert Counter(answer.status_code for answer in refused) == {403: 4}
    assert "without --ray" in refused[0].json()["detail"]
    assert handle.asked == 0


@pytest.mark.parametrize(
    ("running", "status", "code"),
    [
        ({"replicas": 3, "shard-1": 3, "shard-2": 3}, "ok", 200),
        ({"replicas": 2, "shard-1": 3, "shard-2": 3}, "degraded", 200),
        ({"replicas": 3, "shard-1": 1, "shard-2": 3}, "degraded", 200),
        ({"replicas": 3, "shard-1": 3, "shard-2": 0}, "down", 503),
        ({"replicas": 0, "shard-1": 3, "shard-2": 3}, "down", 503),
    ],
)
def test_what_is_lost_is_told(
    kept_library: Path, replica: Replica, running: dict[str, int], status: str, code: int
) -> None:
    client, _ = gateway(replica, kept_library, running=running, plan=ReplicaPlan("test", 3, 2))
    answer = client.get("/api/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["documents"]) == (code, status, 2)
    assert answer.json()["processes"]["shard-2"] == {"running": running["shard-2"], "wanted": 3}
    metrics = client.get("/metrics").text
    assert f'whycite_processes_running{{deployment="shard-2"}} {running["shard-2"]}' in metrics
    assert 'whycite_processes_wanted{deployment="replicas"} 3' in metrics


def test_answers_are_counted_by_route(kept_library: Path, replica: Replica) -> None:
    client, _ = gateway(replica, kept_library)
    for text in (CLAIM, CLAIM, ""):
        client.post("/api/cite", json={"text": text})
    client.get("/secret-words")
    metrics = client.get("/metrics").text
    assert 'whycite_requests_total{route="/api/cite",method="POST",status="200"} 2' in metrics
    assert 'whycite_requests_total{route="/api/cite",method="POST",status="422"} 1' in metrics
    assert "secret-words" not in metrics
    assert re.search(r"^# TYPE whycite_processes_running gauge$", metrics, re.MULTILINE)


@pytest.mark.parametrize("passed", ["/whycite", ""])  # to the server by a proxy, which may leave the path out
def test_replicas_answer_below_a_path(kept_library: Path, client: TestClient, replica: Replica, passed: str) -> None:
    rules = AccessRules(token="a-secret-word", read_token="for-reading")
    replicated, handle = gateway(replica, kept_library, root="/whycite", rules=rules)
    reading, own = ({"authorization": f"Bearer {token}"} for token in (rules.read_token, rules.token))
    answer = replicated.post(f"{passed}/api/cite", json={"text": CLAIM}, headers=reading)
    assert answer.json() == client.post("/api/cite", json={"text": CLAIM}).json()
    page = replicated.get(f"{passed}/cite", headers=reading).text
    assert 'href="/whycite/static/style.css"' in page
    assert 'href="/static/' not in page
    asked = handle.asked
    assert replicated.get(f"{passed}/api/projects", headers=own).status_code == 403
    assert replicated.post(f"{passed}/api/library/remove", json={"ids": []}, headers=reading).status_code == 403
    assert replicated.get(f"{passed}/api/library").status_code == 401
    assert replicated.get(f"{passed}/api/health", headers=own).json()["status"] == "ok"
    assert handle.asked == asked
    metrics = replicated.get(f"{passed}/metrics", headers=own).text
    for route, method, status in (
        ("/api/cite", "POST", 200),
        ("/api/other", "GET", 403),
        ("/api/other", "POST", 403),
        ("/api/other", "GET", 401),
    ):
        assert f'whycite_requests_total{{route="{route}",method="{method}",status="{status}"}} 1\n' in metrics


class FakeShard:
    """The handle of a shard, some of whose answers do not come."""

    def __init__(self, shard: Shard, errors: list[Exception]) -> None:
        self._shard, self._errors = shard, errors
        self.search = self

    def remote(self, request: SearchRequest) -> "FakeShard":
        """Ask."""
        self._request = request
        return self

    def result(self, timeout_s: float) -> Any:
        """The answer, or an error."""
        assert timeout_s > 0
        if self._errors:
            raise self._errors.pop(0)
        return self._shard.search(self._request)


def _sharded(library: Path, errors: list[Exception]) -> ServerSettings:
    shards = [FakeShard(Shard(library, number, 2), errors if number else []) for number in range(2)]
    return ServerSettings(library, shards=lambda request: ask_shards(shards, request))


def test_a_shard_that_comes_back_costs_time_only(
    kept_library: Path, client_of: Clients, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.web.replicas._PAUSE_SECONDS", 0.01)
    errors: list[Exception] = [RayError("the actor died"), TimeoutError()]
    settings = _sharded(kept_library, errors)
    question = {"text": CLAIM, "explain": True}
    sharded = client_of(kept_library, shards=settings.shards)
    assert sharded.post("/api/cite", json=question).json() == client.post("/api/cite", json=question).json()
    assert not errors


def test_a_lost_shard_is_told_and_never_left_out(
    kept_library: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.web.replicas._PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("whycite.web.replicas._SHARD_SECONDS", 0.2)
    settings = _sharded(kept_library, [RayError("the actor died")] * 1_000)
    answer = client_of(kept_library, shards=settings.shards).post("/api/cite", json={"text": CLAIM})
    assert answer.status_code == 503
    assert "part 2 of 2 of the library does not answer" in answer.json()["detail"]
    assert int(answer.headers["retry-after"]) > 0


def test_what_a_shard_itself_says_is_told(kept_library: Path, client_of: Clients) -> None:
    told = RayTaskError(Busy("does not have version 7 of the library here"))
    settings = _sharded(kept_library, [told])
    answer = client_of(kept_library, shards=settings.shards).post("/api/cite", json={"text": CLAIM})
    assert (answer.status_code, answer.json()["detail"]) == (503, "does not have version 7 of the library here")


def test_replicas_of_another_release_do_not_start(kept_library: Path) -> None:
    with pytest.raises(Exception, match=r"and the server 0\.0\.0"):
        Replica(ServerSettings(kept_library), "0.0.0")


def test_without_the_extra_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch, kept_library: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = CliRunner().invoke(command, ["serve", "--ray", "local", "--library", str(kept_library)])
    assert answer.exit_code != 0
    assert "pip install 'whycite[scale]'" in str(answer.exception) + answer.output


@pytest.mark.parametrize("stated", ["option", "variable"])
def test_other_machines_get_the_whole_path_of_the_library(
    kept_library: Path, monkeypatch: pytest.MonkeyPatch, stated: str
) -> None:
    monkeypatch.chdir(kept_library.parent)
    monkeypatch.setenv("WHYCITE_LIBRARY", kept_library.name)
    given = Path(kept_library.name) if stated == "option" else None
    assert _given_to_replicas(given, monkeypatch) == kept_library


def test_other_machines_get_the_address_of_a_library_in_object_storage(
    kept_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = copytree(kept_library, tmp_path / "copy")
    (copied / "mirror.json").write_text('{"address": "s3://lab/library"}', "utf-8")
    elsewhere = copytree(copied, tmp_path / "elsewhere")
    asked: list[str] = []

    def locate(address: str) -> Path:
        asked.append(address)
        return elsewhere

    monkeypatch.setattr("whycite.library.publishing.locate", locate)
    given = _given_to_replicas(copied, monkeypatch)
    assert given == Path("s3://lab/library")
    answer, _ = gateway(Replica(ServerSettings(given, AccessRules()), version("whycite")), elsewhere)
    assert answer.post("/api/cite", json={"text": CLAIM}).json()["recommendations"]
    assert {*asked} == {"s3://lab/library"}


def _given_to_replicas(library: Path | None, monkeypatch: pytest.MonkeyPatch) -> Path | None:
    """The library that replicas are told to open."""
    given: list[ServerSettings] = []

    @contextmanager
    def deployed(settings: ServerSettings, _: ReplicaPlan) -> Iterator[None]:
        given.append(settings)
        yield

    with monkeypatch.context() as patch:
        patch.setattr("whycite.web.replicas._deployed", deployed)
        patch.setattr("whycite.web.replicas.listen", lambda *_: None)
        serve_replicas(ServerSettings(library), ReplicaPlan("test"), None, print)  # type: ignore[arg-type]
    return given[0].library


@pytest.mark.parametrize(
    ("cores", "said"),
    [(6, "starting 6 processes\n"), (4, "starting 6 processes; the cluster has 4 of the 6 cores they need: waiting")],
)
def test_a_cluster_that_is_too_small_is_told(monkeypatch: pytest.MonkeyPatch, cores: int, said: str) -> None:
    cluster = SimpleNamespace(cluster_resources=lambda: {"CPU": float(cores)})
    monkeypatch.setattr("whycite.library.cluster.connected", contextmanager(lambda *_: iter([cluster])))
    monkeypatch.setattr("whycite.web.replicas.serve_replicas", lambda settings, plan, bound, started: bound.close())
    options = ("--ray", "auto", "--replicas", "2", "--shards", "2", "--port", "0", "--no-browser")
    assert said in CliRunner().invoke(command, ["serve", *options]).stderr


def test_replicas_have_no_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = CliRunner().invoke(command, ["serve", "--ray", "local", "--projects", "folder", "--no-browser"])
    assert answer.exit_code != 0
    assert "--projects is not used with --ray" in str(answer.exception) + answer.output


@pytest.mark.parametrize("option", ["--replicas", "--shards"])
def test_replicas_need_a_cluster(option: str) -> None:
    answer = CliRunner().invoke(command, ["serve", option, "2"])
    assert answer.exit_code != 0
    assert "are for --ray" in str(answer.exception) + answer.output
