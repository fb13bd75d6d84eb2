"""The files that docs/how-to/deploy.md describes: as they are, behind a real nginx."""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
HOST = "cite.example.org"
TOKEN = "a-secret-word"


def _options(command: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", command))


def test_every_file_starts_the_server_with_options_that_exist() -> None:
    shown = subprocess.run([sys.executable, "-m", "whycite", "serve", "--help"], capture_output=True, text=True).stdout
    known = _options(shown)
    commands = [line for file in DEPLOY.iterdir() for line in file.read_text().splitlines() if '"serve"' in line]
    commands += [line for file in DEPLOY.iterdir() for line in file.read_text().splitlines() if "whycite serve" in line]
    assert len(commands) == 5
    for command in commands:
        assert _options(command) <= known, command


def test_the_compose_file_is_strict() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["whycite"]
    assert service["ports"] == ["127.0.0.1:8642:8642"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[int]:
    """A server behind nginx with deploy/nginx.conf; the port of nginx."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("needs nginx and openssl: apt-get install nginx-light openssl")
    (tmp_path / "token").write_text(TOKEN)
    command = [sys.executable, "-m", "whycite", "serve", "--no-browser", "--port", "0", "--allowed-host", HOST]
    command += ["--token-file", str(tmp_path / "token"), "--library", str(tmp_path / "library")]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={HOST}"]
    subprocess.run([*openssl, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    with _process(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        address = re.search(r"127\.0\.0\.1:\d+", server.stderr.readline())
        assert address
        site = (DEPLOY / "nginx.conf").read_text()
        for old, new in (
            ("127.0.0.1:8642;", f"{address[0]};"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            (f"/etc/ssl/certs/{HOST}.pem", str(certificate)),
            (f"/etc/ssl/private/{HOST}.key", str(key)),
        ):
            assert old in site
            site = site.replace(old, new)
        folders = "".join(
            f"{kind}_temp_path {tmp_path / kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/errors; events {{}}\n"
            f"http {{ access_log off;\n{folders}{site} }}"
        )
        with _process(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]):
            _wait_for(port)
            yield port


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
    raise TimeoutError("nginx did not start")


def _any_certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _ask(port: int, method: str, path: str, body: str = "", **headers: str) -> HTTPResponse:
    connection = HTTPSConnection("127.0.0.1", port, timeout=60, context=_any_certificate())
    named = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.mark.slow
def test_behind_nginx(proxied: int) -> None:
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
    assert _ask(proxied, "GET", "/cite", Host="evil.example", **mine).status == 421
