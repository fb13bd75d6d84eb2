"""The services on a local server: answers in their own formats, and every kind of failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

ANSWERS = Path(__file__).parent / "answers"
NAMES = {
    "Crossref": "crossref", "DataCite": "datacite", "doi.org": "doi", "arXiv": "arxiv", "Europe PMC": "europepmc",
    "OpenAlex": "openalex", "Semantic Scholar": "semanticscholar", "OpenAlex files": "openalexfiles",
}  # fmt: skip


@dataclass(frozen=True)
class Failure:
    """An answer that is none."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut_off: bool = False
    silent: bool = False


@dataclass
class LocalServices:
    """What the server answers, what it was asked, and how it fails next."""

    base: str = ""
    asked: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)  # service, path, question, agent
    # By service and path, if need be with ?query: the name of a file, JSON, or bytes.
    answers: dict[str, str | bytes] = field(default_factory=dict)
    failures: dict[str, list[Failure]] = field(default_factory=dict)  # by service, the next ones
    closing: threading.Event = field(default_factory=threading.Event)

    def services(self) -> list[str]:
        """The services that were asked, in order."""
        return [service for service, *_ in self.asked]

    def answer(self, service: str, path: str, query: str = "") -> bytes | None:
        names = (f"{service}{path}?{query}", f"{service}{path}", service)
        name = next((self.answers[name] for name in names if name in self.answers), None)
        if name is None or isinstance(name, bytes):
            return name
        return name.encode() if name.startswith("{") else (ANSWERS / name).read_bytes()


def _handler(state: LocalServices) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            service, _, path = unquote(address.path).lstrip("/").partition("/")
            question = {name: values[0] for name, values in parse_qs(address.query).items()}
            state.asked.append((service, f"/{path}", question, self.headers["User-Agent"]))
            if waiting := state.failures.get(service):
                self._fail(waiting.pop(0))
            elif (body := state.answer(service, f"/{path}", question.get("query", ""))) is not None:
                self._send(404 if b'"responseCode":100' in body else 200, body, {})
            else:
                self._send(404, b"Resource not found.", {})

        def _fail(self, failure: Failure) -> None:
            if failure.silent:
                state.closing.wait(5)
                self.close_connection = True
            elif failure.cut_off:
                self.send_response(200)
                self.send_header("Content-Length", "5000")
                self.end_headers()
                self.wfile.write(b'{"status":"ok","mess')
                self.close_connection = True
            else:
                self._send(failure.status, failure.body, failure.headers)

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing is logged."""

    return Handler


@pytest.fixture
def local_services(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServices]:
    """The services on a local server, none of which knows anything yet."""
    state = LocalServices()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.base = f"http://127.0.0.1:{server.server_port}"
    module = import_module("whycite.references.services")
    local = {name: module.Service(name, f"{state.base}/{NAMES[name]}", 0.0) for name in module.SERVICES}
    monkeypatch.setattr(module, "SERVICES", local)
    yield state
    state.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client would have waited."""
    return []


@pytest.fixture
def sleep(waits: list[float]) -> Callable[[float], None]:
    return waits.append
