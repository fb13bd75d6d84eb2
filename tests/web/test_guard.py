"""Who may ask, and what everybody gets with the answer."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import pytest

from whycite.web.guard import COOKIE, AccessRules, Guard, is_loopback
from whycite.web.pages import refusal

Answer = tuple[int, dict[str, str], bytes]


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """Says how many bytes it was given."""
    got = b""
    more = True
    while more:
        message = await receive()
        got += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(len(got)).encode()})


def ask(
    rules: AccessRules,
    method: str = "GET",
    path: str = "/",
    query: str = "",
    body: Iterable[bytes] = (b"",),
    **headers: str,
) -> Answer:
    """What a guarded application answers."""
    given = {"host": "127.0.0.1:8642", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
    }
    parts = list(body)
    sent: list[Any] = []

    async def receive() -> Any:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(_echo, rules, refusal)(scope, receive, send))
    found = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


def test_a_request_of_this_machine_gets_through_with_strict_headers() -> None:
    status, headers, body = ask(AccessRules(), "POST", body=[b"ab", b"c"], origin="http://127.0.0.1:8642")
    assert (status, body) == (200, b"3")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["localhost:8642", "LOCALHOST", "[::1]:8642", "127.0.0.1", "localhost."])
def test_names_of_this_machine_are_known(host: str) -> None:
    assert ask(AccessRules(), host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "[::1", "a b"]
)
def test_another_name_is_refused(host: str) -> None:
    status, headers, body = ask(AccessRules(), host=host)
    assert status == 421
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["status"] == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:8642.evil.example", "x"]
)
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
def test_other_pages_may_not_change_anything(origin: str, method: str) -> None:
    assert ask(AccessRules(), method, origin=origin)[0] == 403


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_a_browser_says_which_site_asks(site: str, status: int) -> None:
    assert ask(AccessRules(), "POST", sec_fetch_site=site)[0] == status
    assert ask(AccessRules(), "GET", sec_fetch_site=site)[0] == 200


def test_a_program_without_origin_may_ask() -> None:
    assert ask(AccessRules(), "POST")[0] == 200


@pytest.mark.parametrize(("query", "is_wrong"), [("token=", False), ("", False), ("token=guessed", True)])
def test_only_a_token_that_was_entered_is_called_wrong(query: str, is_wrong: bool) -> None:
    status, _, body = ask(AccessRules(token="secret"), path="/cite", query=query, accept="text/html")
    assert (status, b"This is not the token of this server." in body) == (401, is_wrong)
    assert b'name="token"' in body


def test_what_is_too_large_is_refused_whether_it_says_so_or_not() -> None:
    rules = AccessRules(max_bytes=10, max_file_bytes=20)
    assert ask(rules, "POST", content_length="11")[0] == 413
    assert ask(rules, "POST", body=[b"x" * 6, b"x" * 6])[0] == 413
    assert ask(rules, "POST", body=[b"x" * 6, b"x" * 4])[0] == 200
    files = "multipart/form-data; boundary=x"
    assert ask(rules, "POST", body=[b"x" * 16], content_type=files)[0] == 200
    assert ask(rules, "POST", body=[b"x" * 16, b"x" * 6], content_type=files)[0] == 413


@pytest.mark.parametrize("length", ["-1", "x", "١", "1" * 30, "1,1"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    assert ask(AccessRules(), "POST", content_length=length.encode().decode("latin-1"))[0] == 400


def test_who_stops_half_way_is_not_waited_for() -> None:
    async def wait(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass

    sent: list[Any] = []
    parts = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def receive() -> Any:
        return parts.pop() if parts else await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(Guard(wait, AccessRules(seconds=0.05))(scope, receive, send))
    assert sent[0]["status"] == 408


def test_who_has_sent_everything_may_wait_long_for_the_answer() -> None:
    async def follow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await receive()  # the end of the connection

    parts = [{"type": "http.request", "body": b""}]

    async def receive() -> Any:
        if parts:
            return parts.pop()
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    sent: list[Any] = []
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(Guard(follow, AccessRules(seconds=0.05))(scope, receive, sent.append))  # type: ignore[arg-type]
    assert sent == []


def test_a_web_socket_is_closed() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(_echo, AccessRules())({"type": "websocket"}, send, send))  # type: ignore[arg-type]
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_the_name_of_the_host_may_have_capitals() -> None:
    rules = AccessRules(host="Lab.Example", token="a-secret-word")
    assert ask(rules, host="lab.example:8642", authorization="Bearer a-secret-word")[0] == 200
    assert ask(rules, host="other.example", authorization="Bearer a-secret-word")[0] == 421


class TestToken:
    """With a token only those who know it get anything."""

    rules = AccessRules(host="0.0.0.0", token="a-secret-word")

    def test_without_it_nothing_is_answered(self) -> None:
        for path in ("/", "/cite", "/static/style.css", "/api/health"):
            status, headers, _ = ask(self.rules, path=path, host="192.168.1.5:8642")
            assert status == 401
            assert headers["www-authenticate"] == "Bearer"

    @pytest.mark.parametrize("given", ["Bearer wrong", "Bearer", "Basic a-secret-word", "Bearer é"])
    def test_a_wrong_one_is_none(self, given: str) -> None:
        assert ask(self.rules, authorization=given)[0] == 401

    def test_as_a_header(self) -> None:
        assert ask(self.rules, authorization="Bearer a-secret-word", host="lab.example")[0] == 200

    def test_in_the_address_it_becomes_a_cookie(self) -> None:
        status, headers, _ = ask(self.rules, path="/cite", query="token=a-secret-word")
        assert status == 303
        assert headers["location"] == "/cite"
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert ask(self.rules, cookie=f"{COOKIE}=a-secret-word")[0] == 200

    @pytest.mark.parametrize("others", ['a={"b": [1, 2]}; ', "x y z; ", "a=1; ", "=;;", '"; '])
    def test_cookies_of_other_servers_do_not_hide_it(self, others: str) -> None:
        assert ask(self.rules, cookie=f"{others}{COOKIE}=a-secret-word; b=2")[0] == 200
        assert ask(self.rules, cookie=others)[0] == 401

    @pytest.mark.parametrize("token", ["with space", "semi;colon", 'quo"te', "per%cent", "comma,=&+"])
    def test_whatever_is_in_it(self, token: str) -> None:
        rules = AccessRules(token=token)
        status, headers, _ = ask(rules, query=f"token={quote(token, safe='')}")
        assert status == 303
        assert ask(rules, cookie=headers["set-cookie"].partition(";")[0])[0] == 200

    def test_the_way_on_leads_nowhere_else(self) -> None:
        for path in ("//evil.example", "/\\evil.example", "\\\\evil.example"):
            location = ask(self.rules, path=path, query="token=a-secret-word")[1]["location"]
            assert location.startswith("/")
            assert not location.startswith("//")
            assert "\\" not in location

    def test_the_rest_of_the_address_stays(self) -> None:
        location = ask(self.rules, path="/papers/title:a b|é", query="text=a%26b&token=a-secret-word&n=")[1]["location"]
        assert location == "/papers/title:a%20b%7C%C3%A9?text=a%26b&n="

    @pytest.mark.parametrize(
        ("method", "path", "accept"),
        [("GET", "/api/health", "text/html"), ("GET", "/cite", "*/*"), ("POST", "/cite", "text/html")],
    )
    def test_programs_get_json(self, method: str, path: str, accept: str) -> None:
        assert ask(self.rules, method, path, accept=accept)[1]["content-type"] == "application/problem+json"

    def test_a_wrong_one_in_the_address_sets_no_cookie(self) -> None:
        status, headers, _ = ask(self.rules, query="token=wrong")
        assert status == 401
        assert "set-cookie" not in headers

    def test_other_pages_may_not_use_the_cookie(self) -> None:
        cookie = f"{COOKIE}=a-secret-word"
        assert ask(self.rules, "POST", cookie=cookie, origin="http://evil.example")[0] == 403


class TestReaders:
    """With the second token people may ask, but change nothing."""

    rules = AccessRules(host="0.0.0.0", token="a-secret-word", read_token="for-readers")

    @pytest.mark.parametrize(
        ("method", "path"),
        [("GET", "/library"), ("GET", "/api/projects"), ("POST", "/api/cite/batch"), ("POST", "/api/check/stream")],
    )
    def test_they_may_ask(self, method: str, path: str) -> None:
        assert ask(self.rules, method, path, authorization="Bearer for-readers")[0] == 200

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/api/library/documents"),
            ("DELETE", "/api/library/documents/1"),
            ("POST", "/api/projects"),
            ("PUT", "/api/projects/1/dismissals/2"),
            ("POST", "/api/cite/../library/documents"),
            ("POST", "/api/whatever/comes"),
        ],
    )
    def test_they_may_not_change_anything(self, method: str, path: str) -> None:
        assert ask(self.rules, method, path, authorization="Bearer for-readers")[0] == 403
        assert ask(self.rules, method, path, authorization="Bearer a-secret-word")[0] == 200

    def test_their_token_becomes_a_cookie_too(self) -> None:
        status, headers, _ = ask(self.rules, query="token=for-readers")
        assert status == 303
        assert ask(self.rules, cookie=headers["set-cookie"].partition(";")[0])[0] == 200

    def test_an_empty_token_is_none(self) -> None:
        assert ask(AccessRules(token="a-secret-word"), authorization="Bearer ")[0] == 401


class TestOrigins:
    """Pages of other sites that the user allowed."""

    overleaf = "https://www.overleaf.com"
    rules = AccessRules(token="a-secret-word", origins=frozenset({overleaf}))

    def test_a_browser_may_ask_whether_it_may_ask(self) -> None:
        asked: dict[str, Any] = {"origin": self.overleaf, "access_control_request_method": "POST"}
        status, headers, _ = ask(self.rules, "OPTIONS", "/api/cite", **asked)
        assert status == 204
        assert headers["access-control-allow-origin"] == self.overleaf
        assert "authorization" in headers["access-control-allow-headers"]
        assert "access-control-allow-credentials" not in headers

    def test_the_page_may_ask_with_a_token(self) -> None:
        asked: dict[str, Any] = {"origin": self.overleaf, "sec_fetch_site": "cross-site"}
        status, headers, _ = ask(self.rules, "POST", "/api/cite", **asked, authorization="Bearer a-secret-word")
        assert (status, headers["access-control-allow-origin"]) == (200, self.overleaf)
        assert headers["cross-origin-resource-policy"] == "cross-origin"
        status, headers, _ = ask(self.rules, "POST", "/api/cite", **asked)
        assert (status, headers["access-control-allow-origin"]) == (401, self.overleaf)  # the page sees why

    @pytest.mark.parametrize("origin", ["https://evil.example", "https://www.overleaf.com.evil.example", "null"])
    def test_other_pages_may_not(self, origin: str) -> None:
        asked: dict[str, Any] = {"origin": origin, "access_control_request_method": "POST"}
        assert "access-control-allow-origin" not in ask(self.rules, "OPTIONS", "/api/cite", **asked)[1]
        asked = {"origin": origin, "authorization": "Bearer a-secret-word"}
        assert ask(self.rules, "POST", "/api/cite", **asked)[0] == 403
        assert "access-control-allow-origin" not in ask(self.rules, **asked)[1]


@pytest.mark.parametrize("query", ["text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "token=%3Cscript%3E", "%FF=%00"])
def test_the_page_for_people_runs_nothing(query: str) -> None:
    status, headers, body = ask(AccessRules(token="a-secret-word"), path='/"><script>', query=query, accept="text/html")
    assert status == 401
    assert "script-src" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert b"<script" not in body


def test_allowed_hosts_are_known_and_others_are_not() -> None:
    for host in ("127.0.0.1", "0.0.0.0"):
        rules = AccessRules(host, "a-secret-word", hosts=frozenset({"cite.example"}))
        assert ask(rules, host="cite.example", authorization="Bearer a-secret-word")[0] == 200
        assert ask(rules, host="127.0.0.1:8642", authorization="Bearer a-secret-word")[0] == 200
        assert ask(rules, host="evil.example", authorization="Bearer a-secret-word")[0] == 421


def test_loopback() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("192.168.1.5")
