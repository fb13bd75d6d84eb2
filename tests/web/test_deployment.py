"""The files that docs/how-to/deploy.md describes: as they are, behind a real nginx and a real Caddy."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from json import dumps, loads
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
import yaml

from whycite import cite
from whycite.library import Library

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
HOST = "cite.example.org"
TOKEN = "a-secret-word"
CLAIMS = 60


def _options(command: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", command))


def test_every_file_starts_the_server_with_options_that_exist() -> None:
    shown = subprocess.run([sys.executable, "-m", "whycite", "serve", "--help"], capture_output=True, text=True).stdout
    known = _options(shown)
    commands = [line for file in DEPLOY.iterdir() for line in file.read_text().splitlines() if '"serve"' in line]
    commands += [line for file in DEPLOY.iterdir() for line in file.read_text().splitlines() if "whycite serve" in line]
    assert len(commands) == 6
    for command in commands:
        assert _options(command) <= known, command


def test_the_compose_file_is_strict() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["whycite"]
    assert service["ports"] == ["127.0.0.1:8642:8642"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


@pytest.fixture(params=["nginx", "caddy"])
def proxied(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """A server behind a proxy with its file in deploy; the port of the proxy."""
    proxy: str = request.param
    if shutil.which(proxy) is None or shutil.which("openssl") is None:
        pytest.skip(f"needs {proxy} and openssl: apt-get install nginx-light caddy openssl")
    (tmp_path / "token").write_text(TOKEN)
    command = [sys.executable, "-m", "whycite", "serve", "--no-browser", "--port", "0", "--allowed-host", HOST]
    command += ["--token-file", str(tmp_path / "token"), "--library", str(tmp_path / "library")]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    _make_certificate(tmp_path)
    with _process(command, stderr=subprocess.PIPE, text=True) as server:
        address = _announced_address(server)
        start = _caddy if proxy == "caddy" else _nginx
        with _process(start(tmp_path, port, address), env={**os.environ, "HOME": str(tmp_path)}):
            _wait_for(port)
            yield port


def _make_certificate(folder: Path) -> None:
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={HOST}"]
    openssl += ["-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"]
    subprocess.run([*openssl, *files], check=True, capture_output=True)


def _announced_address(server: subprocess.Popen[str]) -> str:
    assert server.stderr
    address = re.search(r"127\.0\.0\.1:\d+", server.stderr.readline())
    assert address
    return address[0]


def _nginx(folder: Path, port: int, *servers: str) -> list[str]:
    """The command of nginx for its file in deploy with other addresses and files."""
    placeholders = [f"192.0.2.{number}:8642" for number in (11, 12, 13)] if len(servers) > 1 else ["127.0.0.1:8642;"]
    names = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        f"/etc/ssl/certs/{HOST}.pem": str(folder / "certificate.pem"),
        f"/etc/ssl/private/{HOST}.key": str(folder / "key.pem"),
    }
    for placeholder, server in zip(placeholders, servers, strict=True):
        names[placeholder] = server + placeholder[len(placeholder.rstrip(";")) :]
    site = _changed("nginx-several.conf" if len(servers) > 1 else "nginx.conf", names)
    folders = "".join(
        f"{kind}_temp_path {folder / kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off;\n{folders}{site} }}"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def _caddy(folder: Path, port: int, server: str) -> list[str]:
    """The command of Caddy for deploy/Caddyfile with other addresses, and a certificate of ours."""
    certificate = f"tls {folder / 'certificate.pem'} {folder / 'key.pem'}"
    names = {"127.0.0.1:8642": server, f"{HOST} {{": f"https://{HOST}:{port} {{\n\t{certificate}"}
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(options + _changed("Caddyfile", names))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def _changed(file: str, names: dict[str, str]) -> str:
    content = (DEPLOY / file).read_text()
    for old, new in names.items():
        assert old in content
        content = content.replace(old, new)
    return content


@contextmanager
def _process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("the proxy did not start")


def _any_certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _answer(port: int, method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
    answer, content = _exchange(port, method, path, body, **headers)
    return answer.status, content


def _ask(port: int, method: str, path: str, body: str = "", **headers: str) -> HTTPResponse:
    return _exchange(port, method, path, body, **headers)[0]


def _exchange(port: int, method: str, path: str, body: str = "", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(HOST, port)
    plain = socket.create_connection(("127.0.0.1", port), 60)
    connection.sock = _any_certificate().wrap_socket(plain, server_hostname=HOST)
    named = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


@pytest.mark.slow
def test_behind_a_proxy(proxied: int) -> None:
    assert _ask(proxied, "GET", "/cite").status == 401
    welcome = _ask(proxied, "GET", f"/cite?token={TOKEN}")
    cookie = welcome.headers["set-cookie"]
    assert (welcome.status, welcome.headers["location"]) == (303, "/cite")
    assert "; Secure" in cookie
    mine = {"cookie": cookie.partition(";")[0]}
    page = _ask(proxied, "GET", "/cite", **mine)
    assert page.status == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    json = {"content_type": "application/json"}
    body = '{"text": "Bees sleep at night."}'
    assert _ask(proxied, "POST", "/api/read", body, **json, **mine, origin=f"https://{HOST}").status != 403
    assert _ask(proxied, "POST", "/api/read", body, **json, **mine, origin="https://evil.example").status == 403
    elsewhere = _ask(proxied, "GET", "/cite", Host="evil.example", **mine)
    assert elsewhere.status == 421 or elsewhere.headers["content-length"] == "0"  # Caddy itself has no such site


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_several_servers_answer_as_one_and_one_may_be_lost(kept_library: Path, tmp_path: Path) -> None:
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("needs nginx and openssl: apt-get install nginx-light openssl")
    (tmp_path / "token").write_text(TOKEN)
    _make_certificate(tmp_path)
    command = [sys.executable, "-m", "whycite", "serve", "--no-browser", "--port", "0", "--allowed-host", HOST]
    command += ["--read-token-file", str(tmp_path / "token"), "--library", str(kept_library)]
    texts = sorted({text for text, _, _ in Library.open(kept_library).occurrences()})
    expected = {text: [each.paper.key for each in cite(text, kept_library, 5)] for text in texts[:CLAIMS]}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    questions: Queue[str] = Queue()
    wrong: list[str] = []

    def ask_all() -> None:
        with suppress(Empty):
            while True:
                text = questions.get_nowait()
                headers = {"content_type": "application/json", "authorization": f"Bearer {TOKEN}"}
                answer, body = _answer(port, "POST", "/api/cite", dumps({"text": text, "n": 5}), **headers)
                papers = [each["paper"]["key"] for each in loads(body)["recommendations"]] if answer == 200 else body
                if papers != expected[text]:
                    wrong.append(f"{text}: {answer} {papers!r}")

    with ExitStack() as stack:
        servers = [stack.enter_context(_process(command, stderr=subprocess.PIPE, text=True)) for _ in range(3)]
        addresses = [_announced_address(server) for server in servers]
        stack.enter_context(_process(_nginx(tmp_path, port, *addresses)))
        _wait_for(port)
        for lost in (None, servers[0]):  # first all three, then one is killed while 20 clients ask
            for text in list(expected) * 2:
                questions.put(text)
            with ThreadPoolExecutor(20) as clients:
                asking = [clients.submit(ask_all) for _ in range(20)]
                if lost is not None:
                    while questions.qsize() > len(expected):
                        time.sleep(0.05)
                    lost.kill()
                for client in asking:
                    client.result()
            assert wrong == []
        assert servers[0].wait() != 0
