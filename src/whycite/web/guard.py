"""Access control: only known pages, under a known host name and with a token; problems as in RFC 9457.

A page on the internet can make a browser send requests to this machine. It cannot hide its origin (Origin,
Sec-Fetch-Site), and after DNS rebinding it cannot hide the host name it uses (Host). Pages of this server are known,
and those whose origins the user allowed: they ask with a token, since cookies are not sent along with their requests.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit

from starlette.exceptions import HTTPException
from typing_extensions import TypedDict

__all__ = [
    "COOKIE",
    "DETAILS",
    "MEDIA_TYPE",
    "AccessRules",
    "Application",
    "FieldError",
    "Guard",
    "Message",
    "Problem",
    "Receive",
    "Scope",
    "Send",
    "asks_only",
    "defect_detail",
    "is_loopback",
    "path_below",
    "problem_body",
    "root_of",
]


MEDIA_TYPE = "application/problem+json"
# Part of the API, unlike the words of a problem: docs/reference/http.md lists them.
_PROBLEM_KINDS = {
    400: "bad-request",
    401: "token-required",
    403: "not-allowed",
    404: "not-found",
    405: "unknown-method",
    408: "too-late",
    409: "other-release",
    413: "too-large",
    421: "unknown-host",
    422: "invalid",
    500: "defect",
    503: "busy",
    504: "too-slow",
}
# What problems say that are told in several places; the description of the API has them as examples.
DETAILS = {
    400: "The Content-Length header is invalid.",
    401: "A token is required; open the address that `whycite serve` printed, or send it as a Bearer token.",
    403: "Your token is for reading; changing the library or a project needs the other token.",
    404: "There is no such project; it may have been deleted.",
    408: "The request is incomplete: no data for {seconds:.0f} seconds.",
    413: "The request is too large; the limit is {megabytes} MB.",
    421: "Unknown host name; open the address that `whycite serve` printed, or start it with --allowed-host.",
    500: "An internal error occurred ({error}); see the server's log for details.",
    503: "The server is busy; try again in a moment.",
    504: "This took longer than {seconds:.0f} seconds; try a smaller request.",
}


class FieldError(TypedDict):
    """A field of a request, and what is wrong with it."""

    field: str
    message: str


class Problem(HTTPException):
    """An error response: its HTTP status and one plain sentence.

    An HTTPException, because the framework hides other errors that are raised while a request is read.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.headers: dict[str, str] = dict(headers or {})

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.status_code


def defect_detail(error: BaseException) -> str:
    """What a client learns of an unexpected error, which the server logs."""
    return DETAILS[500].format(error=type(error).__name__)


def problem_body(status: int, detail: str, errors: Sequence[FieldError] = ()) -> bytes:
    """The JSON of a problem; its type says what kind it is, whatever the words of its detail."""
    kind = f"urn:whycite:problem:{_PROBLEM_KINDS.get(status, f'status-{status}')}"
    title = HTTPStatus(status).phrase
    return json.dumps({"type": kind, "title": title, "status": status, "detail": detail, "errors": [*errors]}).encode()


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

Page = Callable[[int, str, str, Sequence[tuple[str, str]]], str]
"""Tells people of a problem: HTML of its status, its detail, and the path and query that were asked for."""

COOKIE = "whycite-token"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})  # all addresses: only the token controls access
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# What a reader may send besides: questions, which change nothing.
_QUESTIONS = frozenset(
    {"/api/cite", "/api/cite/batch", "/api/check", "/api/check/stream", "/api/check/fix"}
    | {"/api/verify", "/api/read", "/api/engine"}
)
_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-allow-private-network": "true",
    "access-control-max-age": "600",
}
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",  # unless set otherwise: a library is private
}
# A page without scripts that brings its own style, since nobody who is refused gets another file.
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may send which requests, and their limits."""

    host: str = "127.0.0.1"
    token: str = ""  # for everything; "" for none
    read_token: str = ""  # for those who may ask, but change nothing
    hosts: frozenset[str] = frozenset()  # further names of the server, in lower case
    origins: frozenset[str] = frozenset()  # of other pages that may ask
    max_bytes: int = 8 << 20  # per request
    max_file_bytes: int = 256 << 20  # per request with files
    seconds: float = 30.0  # to wait for the next byte of a request


def root_of(scope: Scope) -> str:
    """The path below which the application is reached, such as "/whycite"; "" where it has a host of its own."""
    root: str = scope.get("root_path", "")
    return root.rstrip("/")


def path_below(scope: Scope) -> str:
    """The path of a request below that of the application, which begins with a slash."""
    path: str = scope["path"]
    root = root_of(scope)
    return path.removeprefix(root) or "/" if path == root or path.startswith(f"{root}/") else path


def is_loopback(host: str) -> bool:
    """Whether a server on this host is reachable only from this machine."""
    return host in _LOOPBACK


class Guard:
    """Passes requests on to an application, or rejects them with a problem."""

    def __init__(self, app: Application, rules: AccessRules, page: Page | None = None) -> None:
        """`page` is for people who open an address in a browser; without it they get JSON as well."""
        self._app, self._rules, self._page = app, rules, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # WebSockets are not supported
            return
        has_started = False
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        sharing = self._sharing_headers(headers)

        async def guarded(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                present = {name for name, _ in message.get("headers", ())}
                default_headers = [(name.encode(), value.encode()) for name, value in (_HEADERS | sharing).items()]
                message["headers"] = [
                    *message.get("headers", ()),
                    *(pair for pair in default_headers if pair[0] not in present),
                ]
            await send(message)

        try:
            self._check_host(headers)
            if sharing and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await _send_answer(guarded, 204, b"", _PREFLIGHT)  # a browser asks whether it may ask
                return
            self._check_origin(scope, headers)
            self._check_token(scope, headers)
            max_bytes = self._rules.max_file_bytes if _brings_files(headers) else self._rules.max_bytes
            if _length(headers) > max_bytes:
                raise _too_large(max_bytes)
            if self._rules.token and (moved := _token_in_address(scope)):
                await _send_answer(guarded, 303, b"", {"location": moved[0], "set-cookie": _cookie(scope, moved[1])})
                return
            await self._app(scope, _limit_body(receive, max_bytes, self._rules.seconds), guarded)
        except Problem as problem:
            if has_started:
                raise
            body, answer_headers = self._refusal(scope, headers, problem)
            await _send_answer(guarded, problem.status, body, answer_headers | problem.headers)

    def _refusal(self, scope: Scope, headers: Mapping[str, str], problem: Problem) -> tuple[bytes, dict[str, str]]:
        """A problem as a page for people, or else as JSON."""
        is_opened = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
        if self._page is None or not is_opened or path_below(scope).startswith(("/api/", "/static/")):
            return problem_body(problem.status, problem.detail), {"content-type": MEDIA_TYPE}
        fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        text = self._page(problem.status, problem.detail, _safe_path(scope), fields)
        page_headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": _PAGE_POLICY}
        return text.encode("utf-8", "replace"), page_headers

    def _sharing_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """What lets a page of an allowed origin see the answer; nothing for other pages."""
        origin = headers.get("origin", "")
        if origin not in self._rules.origins:
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": "retry-after, content-disposition",
            "cross-origin-resource-policy": "cross-origin",
            "vary": "Origin",
        }

    def _check_host(self, headers: Mapping[str, str]) -> None:
        rules = self._rules
        if rules.host in _ANY and not rules.hosts:
            return
        if _host(headers.get("host", "")) not in _LOOPBACK | {rules.host.lower()} | rules.hosts:
            raise Problem(421, DETAILS[421])

    def _check_origin(self, scope: Scope, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        if scope["method"] in _SAFE or origin in self._rules.origins:
            return
        if origin is not None and (origin == "null" or urlsplit(origin).netloc != headers.get("host")):
            raise Problem(403, "This request came from another page; only pages of this server are allowed.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Problem(403, "This request came from another site; only pages of this server are allowed.")

    def _check_token(self, scope: Scope, headers: Mapping[str, str]) -> None:
        rules = self._rules
        if not rules.token:
            return
        token = _token(scope, headers).encode()
        if secrets.compare_digest(token, rules.token.encode()):
            return
        if not rules.read_token or not secrets.compare_digest(token, rules.read_token.encode()):
            raise Problem(401, DETAILS[401], {"www-authenticate": "Bearer"})
        if not asks_only(scope):
            raise Problem(403, DETAILS[403])


def asks_only(scope: Scope) -> bool:
    """Whether a request is a question, which changes nothing."""
    return scope["method"] in _SAFE or path_below(scope).rstrip("/") in _QUESTIONS


def _host(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _token(scope: Scope, headers: Mapping[str, str]) -> str:
    kind, _, credential = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return credential.strip()
    if moved := _token_in_address(scope):
        return moved[1]
    # Other servers on this host may have set cookies, which need not be well-formed.
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((unquote(value) for name, _, value in pairs if name == COOKIE), "")


def _token_in_address(scope: Scope) -> tuple[str, str] | None:
    """The address without the token in its query, which is moved to a cookie to keep it out of the browser history."""
    query = scope["query_string"].decode("latin-1")
    tokens = parse_qs(query).get("token")
    if scope["method"] != "GET" or not tokens or path_below(scope).startswith("/api/"):
        return None
    others = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "token"]
    address = quote(_safe_path(scope), safe="/:")
    return f"{address}?{urlencode(others)}" if others else address, tokens[0]


def _safe_path(scope: Scope) -> str:
    """The path of a request in which no browser sees the name of another server."""
    path: str = scope["path"]
    return "/" + path.lstrip("/\\").replace("\\", "/")


def _cookie(scope: Scope, token: str) -> str:
    secure = "; Secure" if scope.get("scheme") == "https" else ""  # as a reverse proxy says
    path = quote(root_of(scope), safe="/") or "/"
    return f"{COOKIE}={quote(token, safe='')}; HttpOnly; Path={path}; SameSite=Strict{secure}"


def _brings_files(headers: dict[str, str]) -> bool:
    return headers.get("content-type", "").lower().startswith("multipart/form-data")


def _length(headers: dict[str, str]) -> int:
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdecimal() or len(length) > 18:
        raise Problem(400, DETAILS[400])
    return int(length)


def _limit_body(receive: Receive, max_bytes: int, seconds: float) -> Receive:
    """Receive a request body up to a size and time limit, since the Content-Length may be missing."""
    received = 0
    complete = False

    async def limited() -> Message:
        nonlocal received, complete
        if complete:  # now waiting for the end of the connection, which may take any time
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), seconds)
        except TimeoutError:
            raise Problem(408, DETAILS[408].format(seconds=seconds)) from None
        complete = not message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise _too_large(max_bytes)
        return message

    return limited


def _too_large(max_bytes: int) -> Problem:
    return Problem(413, DETAILS[413].format(megabytes=max_bytes >> 20))


async def _send_answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    header_pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    header_pairs.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": header_pairs})
    await send({"type": "http.response.body", "body": body})
