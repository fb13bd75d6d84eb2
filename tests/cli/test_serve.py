"""`whycite serve`: it starts, says where it is, answers, and stops."""

import json
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest
from typer.testing import Result

from whycite.errors import UserError
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

ROOT = Path(__file__).resolve().parents[2]
# A server that reaches beyond this machine ends at once.
GUARDED = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.network import exit_on_connections as guard; guard(); "
)
WHYCITE = [sys.executable, "-c", GUARDED + "from whycite.cli import main; main()", "serve", "--no-browser"]
ALONE = ("--no-token",)  # whoever else has an account on the machine that runs the tests
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
Start = Callable[..., tuple["subprocess.Popen[str]", str]]
Run = Callable[..., Result]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server, and gives the process and what it said first."""
    begun: list[subprocess.Popen[str]] = []

    def make(*options: str) -> tuple["subprocess.Popen[str]", str]:
        command = [*WHYCITE, "--library", str(tmp_path / "library"), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stderr
        return process, process.stderr.readline()

    yield make
    for process in begun:
        process.kill()
        process.communicate()


def _ask(said: str, path: str, **headers: str) -> tuple[int, bytes]:
    found = re.search(r"http://([\w.]+):(\d+)/", said)
    assert found, said
    connection = HTTPConnection(found[1], int(found[2]), timeout=100)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    read = answer.status, answer.read()
    connection.close()
    return read


def test_it_starts_answers_and_stops_quietly(start: Start) -> None:
    process, said = start("--port", "0", *ALONE)
    assert re.fullmatch(r"whycite is running at http://127\.0\.0\.1:\d+/ \(press Ctrl-C to stop\)\n", said)
    status, page = _ask(said, "/cite")
    assert status == 200
    assert b"What should this claim cite?" in page
    assert json.loads(_ask(said, "/api/health")[1])["status"] == "ok"
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=100)
    assert (process.returncode, out, rest) == (130, "", "whycite: stopped\n")


def test_a_service_that_is_stopped_leaves_no_uploads(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    process, said = start("--port", "0", *ALONE)
    address = re.search(r"http://[\w.:]+/", said)
    assert address, said
    sent = httpx.post(f"{address[0]}api/read", files={"files": ("bees.md", b"Bees rest.")}, timeout=100)
    assert sent.status_code == 200
    assert [*(tmp_path / "temporary").glob("whycite-*")]
    process.send_signal(signal.SIGTERM)  # as systemd and Docker do
    _, rest = process.communicate(timeout=100)
    assert (process.returncode, rest) == (-signal.SIGTERM, "")
    assert [*(tmp_path / "temporary").glob("whycite-*")] == []


def test_another_host_demands_a_token(start: Start) -> None:
    process, said = start("--host", "0.0.0.0", "--port", "0")
    token = re.search(r"\?token=([\w-]{20,})", said)
    assert token, said
    assert _ask(said, "/cite")[0] == 401
    assert _ask(said, "/cite", authorization=f"Bearer {token[1]}")[0] == 200
    assert process.stderr
    assert "From other machines: http://" in process.stderr.readline()


def test_a_port_in_use_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run([*WHYCITE, "--port", port], capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert re.fullmatch(rf"whycite: cannot listen on 127\.0\.0\.1:{port} \(.+\); try another .*\n", done.stderr)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", " "), "--host is empty"),
        (("--host", "no.such.host.invalid"), "cannot listen on"),
        (("--allowed-origin", "www.overleaf.com"), "is not an origin"),
        (("--allowed-origin", "https://www.overleaf.com/project"), "is not an origin"),
        (("--allowed-origin", "*"), "is not an origin"),
        (("--no-token", "--host", "0.0.0.0"), "--no-token is for servers on localhost alone"),
        (("--no-token", "--allowed-origin", "https://www.overleaf.com"), "--no-token is for servers"),
        (("--no-token", "--allowed-host", "cite.example"), "--no-token is for servers"),
        (("--no-token", "--root-path", "/whycite"), "--no-token is for servers"),
    ],
)
def test_mistakes(run: Run, options: tuple[str, ...], said: str) -> None:
    result = run("serve", "--no-browser", *options)
    assert isinstance(result.exception, UserError)
    assert said in str(result.exception)


@pytest.mark.parametrize("token", ["short", "with a\nline end", "señal secreta"])
@pytest.mark.parametrize("variable", ["WHYCITE_TOKEN", "WHYCITE_READ_TOKEN"])
def test_tokens_that_are_none(run: Run, token: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, token)
    result = run("serve", "--no-browser")
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{variable}: a token must have at least 8 printable")


def test_two_tokens_must_differ(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_TOKEN", "the-same-secret")
    monkeypatch.setenv("WHYCITE_READ_TOKEN", "the-same-secret")
    assert "the two tokens are the same" in str(run("serve", "--no-browser").exception)


def _rules(run: Run, monkeypatch: pytest.MonkeyPatch, *options: str) -> AccessRules:
    """The rules of a server that is started with these options."""
    begun: list[ServerSettings] = []

    def begin(settings: ServerSettings, bound: socket.socket, started: Callable[[], None]) -> None:
        begun.append(settings)
        bound.close()

    monkeypatch.setattr("whycite.web.app.run", begin)
    result = run("serve", "--no-browser", "--port", "0", *options)
    assert result.exit_code == 0, result.exception
    return begun[0].rules


def test_a_machine_that_others_use_demands_a_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(()))
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    people = [pwd.struct_passwd(("me", "x", os.getuid(), 0, "", "/home/me", "/bin/sh"))]
    monkeypatch.setattr(pwd, "getpwall", lambda: people)
    assert _rules(run, monkeypatch).token == ""
    people.append(pwd.struct_passwd(("daemon", "x", 1001, 0, "", "/", "/usr/sbin/nologin")))
    assert _rules(run, monkeypatch).token == ""
    people.append(pwd.struct_passwd(("you", "x", 1002, 0, "", "/home/you", "/bin/sh")))
    assert len(_rules(run, monkeypatch).token) > 20
    assert _rules(run, monkeypatch, "--no-token").token == ""
    people.pop()
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
    assert len(_rules(run, monkeypatch).token) > 20


def test_hosts_and_origins_are_allowed_with_a_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--allowed-host", "Cite.Example.", "--allowed-origin", "https://www.overleaf.com")
    rules = _rules(run, monkeypatch, *options)
    assert rules.hosts == {"cite.example"}
    assert rules.origins == {"https://www.overleaf.com"}
    assert len(_rules(run, monkeypatch, "--root-path", "/whycite").token) > 20  # others come through the proxy
    assert len(rules.token) > 20
    assert rules.read_token == ""


def test_a_second_token_is_for_reading(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "readers").write_text("for-all-of-us\n")
    rules = _rules(run, monkeypatch, "--read-token-file", str(tmp_path / "readers"))
    assert rules.read_token == "for-all-of-us"
    assert len(rules.token) > 20


def test_slow_headers_are_not_waited_for(tmp_path: Path) -> None:
    code = (
        "import socket, sys, pathlib; from whycite.web.app import run; from whycite.web.guard import AccessRules;"
        "from whycite.web.serverstate import ServerSettings; listener = socket.create_server(('127.0.0.1', 0));"
        "run(ServerSettings(pathlib.Path(sys.argv[1]), AccessRules(seconds=0.5)), listener,"
        " lambda: print(listener.getsockname()[1], flush=True))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "library")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        port = int(process.stdout.readline())
        for head in (b"", b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(head)
                assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            for _ in range(2):  # a connection that is kept alive asks again
                connection.sendall(b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
                assert _answer(connection).startswith(b"HTTP/1.1 200 ")
    finally:
        process.kill()
        process.communicate()


def _answer(connection: socket.socket) -> bytes:
    """A whole answer in JSON, which may come in pieces."""
    answer = b""
    while not answer.endswith(b"}"):
        piece = connection.recv(10_000)
        assert piece, answer
        answer += piece
    return answer


def test_the_browser_is_opened_where_the_server_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    seen = threading.Event()

    def browse(address: str) -> bool:
        opened.append(address)
        seen.set()
        return True

    def begin(settings: object, bound: socket.socket, started: Callable[[], None]) -> None:
        started()
        assert seen.wait(30)
        bound.close()

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr("whycite.web.app.run", begin)
    monkeypatch.setenv("WHYCITE_TOKEN", "a secret & more")
    assert run("serve", "--port", "0").exit_code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=a%20secret%20%26%20more", opened[0])


def test_projects_are_kept_where_one_says(start: Start, tmp_path: Path) -> None:
    project = tmp_path / "projects" / "0123456789abcdef"
    project.mkdir(parents=True)
    (project / "project.json").write_text('{"name": "A review", "created": "2026-01-01T00:00:00+00:00"}')
    _, said = start("--port", "0", *ALONE, "--projects", str(tmp_path / "projects"))
    [listed] = json.loads(_ask(said, "/api/projects")[1])["projects"]
    assert (listed["id"], listed["name"], listed["state"]) == ("0123456789abcdef", "A review", "new")


def test_the_token_comes_from_a_file(start: Start, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a secret of mine\n")
    process, said = start("--port", "0", "--token-file", str(tmp_path / "token"))
    assert process.stderr
    assert "secret" not in said + process.stderr.readline()  # it stays out of logs
    assert _ask(said, "/cite")[0] == 401
    assert _ask(said, "/cite", authorization="Bearer a secret of mine")[0] == 200


def test_the_token_of_the_environment(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_TOKEN", "another-secret")
    _, said = start("--port", "0")
    assert _ask(said, "/cite")[0] == 401
    assert _ask(said, "/cite", authorization="Bearer another-secret")[0] == 200


def test_a_token_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    result = run("serve", "--token-file", tmp_path / "none")
    assert isinstance(result.exception, UserError)
    assert "the token cannot be read: No such file" in str(result.exception)


def test_what_takes_long_is_not_loaded_before_it_answers() -> None:
    code = "import sys, whycite.web.app; print(sorted({'lancedb', 'onnxruntime', 'spacy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
