"""Asks services over HTTP: politely, with a cache, and without giving up the rest when one of them fails.

Politeness: one request at a time and a pause after each, by service, or a longer one if the service announces how many
requests it takes in which time; `Retry-After` is obeyed; after errors the pauses get longer, and a service that keeps
failing is not asked again. Answers are kept for a month, and that there is none for a week, so that a second check
sends nothing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import httpx

from whycite.errors import UserError
from whycite.files import atomic_write, make_folder

__all__ = ["Clock", "ServiceAnswer", "ServiceClient", "ServiceFailure"]

_DAY = 86_400.0
_ANSWER_AGE = 30 * _DAY
_NOTHING_AGE = 7 * _DAY  # what a service does not know today it may know next week
_TIMEOUT = 20.0  # seconds without a byte
_TRIES = 3
_MAX_WAIT = 60.0  # seconds; a service that asks for more is left alone
_MAX_FAILURES = 3  # in a row
_MAX_BYTES = 5_000_000  # of an answer
_MAX_FILE = 100_000_000  # bytes of a paper with its pictures
_HEAD = 4_096  # bytes by which a file is recognised
_MAX_DENIAL = 1_000  # characters

_Received = TypeVar("_Received")


class ServiceFailure(Exception):
    """A service did not answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, so that tests need not wait."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What a service answered; None if it knows nothing."""

    body: str | None
    denial: str = ""  # what it said when it knows nothing

    def json(self) -> Any:
        """The answer as JSON, None if there is none."""
        return None if self.body is None else json.loads(self.body)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of a service, and the pause that it wants after it."""

    service: str
    address: str
    parameters: Mapping[str, str]
    pause: float
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class ServiceClient:
    """Asks services; use it as a context manager."""

    cache: Path | None = None
    contact: str = ""
    clock: Clock = field(default_factory=Clock)
    timeout: float = _TIMEOUT
    sent: Counter[str] = field(default_factory=Counter)  # requests by service
    failures: dict[str, str] = field(default_factory=dict)  # why services are no longer asked
    last_failures: dict[str, str] = field(default_factory=dict)  # why some questions were not answered
    _failed: Counter[str] = field(default_factory=Counter)
    _next: dict[str, float] = field(default_factory=dict)  # when each service may be asked again
    _http: httpx.Client | None = None

    def __enter__(self) -> ServiceClient:
        agent = f"whycite/{version('whycite')}" + (f" (mailto:{self.contact})" if self.contact else "")
        self._http = httpx.Client(timeout=self.timeout, headers={"User-Agent": agent}, follow_redirects=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.close()

    def get(
        self,
        service: str,
        address: str,
        parameters: Mapping[str, str],
        pause: float,
        headers: Mapping[str, str] | None = None,
        *,
        is_json: bool = True,
    ) -> ServiceAnswer:
        """The answer to a question, from the cache if it was asked before; ServiceFailure if there is none."""
        file = self._cache_file(address, parameters)
        if (cached := self._cached(file)) is not None:
            return cached

        def receive(response: httpx.Response) -> ServiceAnswer:
            response.read()
            return ServiceAnswer(_checked_body(response, is_json))

        answer = self._ask(_Request(service, address, parameters, pause, headers or {}), receive)
        self._keep(file, answer)
        return answer

    def download(
        self,
        service: str,
        address: str,
        parameters: Mapping[str, str],
        pause: float,
        target: Path,
        accepts: Callable[[bytes], bool],
    ) -> bool:
        """Save what is at an address to a file; False if there is nothing, also if a cached answer said so.

        `accepts` looks at the first bytes. ServiceFailure if they are something else, or if the service fails. Only a
        process that is killed leaves a part of a file.
        """
        file = self._cache_file(address, parameters)
        if (cached := self._cached(file)) is not None and cached.body is None:
            return False

        def receive(response: httpx.Response) -> bool:
            _save(response, target, accepts)
            return True

        received = self._ask(_Request(service, address, parameters, pause), receive)
        if isinstance(received, ServiceAnswer):
            self._keep(file, received)
            return False
        return received

    def _ask(self, request: _Request, receive: Callable[[httpx.Response], _Received]) -> _Received | ServiceAnswer:
        """What is received, or an answer without a body; failures of a service are counted."""
        service = request.service
        if service in self.failures:
            raise ServiceFailure(self.failures[service])
        try:
            received = self._try(request, receive)
        except ServiceFailure as failure:
            self._failed[service] += 1
            self.last_failures[service] = str(failure)
            if self._failed[service] >= _MAX_FAILURES:
                self.failures[service] = str(failure)
            raise
        self._failed[service] = 0
        return received

    def _try(self, request: _Request, receive: Callable[[httpx.Response], _Received]) -> _Received | ServiceAnswer:
        assert self._http is not None, "use it as a context manager"
        service, pause, reason = request.service, request.pause, ""
        parameters, headers = dict(request.parameters), dict(request.headers)
        for attempt in range(_TRIES):
            self._wait(service)
            self.sent[service] += 1
            delay = max(pause, 2.0**attempt)
            try:
                with self._http.stream("GET", request.address, params=parameters, headers=headers) as response:
                    if response.status_code in (200, 404, 410):
                        self._next[service] = self.clock.now() + max(pause, _announced_pause(response))
                    if response.status_code in (404, 410):
                        response.read()
                        return ServiceAnswer(None, response.text[:_MAX_DENIAL])
                    if response.status_code == 200:
                        return receive(response)
            except httpx.TimeoutException:
                reason = "did not answer in time"
            except httpx.ConnectError:  # no network: waiting would not help
                self.failures[service] = "cannot be reached"
                raise ServiceFailure(self.failures[service]) from None
            except httpx.HTTPError as error:
                reason = f"broke off ({type(error).__name__})"
            else:
                if response.status_code in (401, 403):
                    self.failures[service] = f"refused to answer (status {response.status_code})"
                    raise ServiceFailure(self.failures[service])
                reason = f"answered with status {response.status_code}"
                if response.status_code != 429 and response.status_code < 500:
                    raise ServiceFailure(reason)
                delay = max(delay, _retry_after(response, self.clock.now()))
            if delay > _MAX_WAIT:
                self.failures[service] = f"asks to wait {delay:,.0f} seconds; try again later"
                raise ServiceFailure(self.failures[service])
            self._next[service] = self.clock.now() + delay
        raise ServiceFailure(reason)

    def _wait(self, service: str) -> None:
        if (pause := self._next.get(service, 0.0) - self.clock.now()) > 0:
            self.clock.sleep(pause)

    def _cache_file(self, address: str, parameters: Mapping[str, str]) -> Path | None:
        if self.cache is None:
            return None
        public = {name: value for name, value in sorted(parameters.items()) if name not in ("mailto", "api_key")}
        return self.cache / f"{sha256(json.dumps([address, public]).encode()).hexdigest()}.json"

    def _cached(self, file: Path | None) -> ServiceAnswer | None:
        try:
            stored = json.loads(file.read_text("utf-8")) if file else None
            if stored is None:
                return None
            answer, age = ServiceAnswer(stored["body"], stored["denial"]), self.clock.now() - stored["time"]
        except (OSError, ValueError, KeyError, TypeError):  # not there, or cut off
            return None
        return answer if age <= (_NOTHING_AGE if answer.body is None else _ANSWER_AGE) else None

    def _keep(self, file: Path | None, answer: ServiceAnswer) -> None:
        if file is not None:
            make_folder(file.parent)
            with atomic_write(file) as stream:
                stream.write(json.dumps({"time": self.clock.now(), **asdict(answer)}).encode())


def _checked_body(response: httpx.Response, is_json: bool) -> str:
    """The text of an answer; ServiceFailure if it is not what was asked for, such as the page of a portal."""
    if len(response.content) > _MAX_BYTES:
        raise ServiceFailure("sent more than an answer can be")
    text = response.text
    if is_json:
        try:
            json.loads(text)
        except ValueError:
            raise ServiceFailure("answered with something else than JSON") from None
    elif "<feed" not in text[:2000]:
        raise ServiceFailure("answered with something else than a feed")
    return text


def _save(response: httpx.Response, target: Path, accepts: Callable[[bytes], bool]) -> None:
    """Write what arrives to a file; ServiceFailure, and no file, if it is not what was asked for."""
    make_folder(target.parent)
    try:
        with target.open("wb") as file:
            head, size = b"", 0
            for chunk in response.iter_bytes():
                file.write(chunk)
                head += chunk[: max(0, _HEAD - len(head))]
                size += len(chunk)
                if size > _MAX_FILE:
                    raise ServiceFailure("sent more than a paper can be")
                if len(head) >= _HEAD and not accepts(head):
                    break
            if not accepts(head):
                raise ServiceFailure("answered with something else than a paper")
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror or error}") from error
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _announced_pause(response: httpx.Response) -> float:
    """The seconds between requests that a service announces, as Crossref does: 5 in "1s"; 0 if it announces none."""
    limit = response.headers.get("X-Rate-Limit-Limit", "")
    interval = response.headers.get("X-Rate-Limit-Interval", "").removesuffix("s")
    if not (limit.isdecimal() and interval.isdecimal()) or int(limit) == 0:
        return 0.0
    return min(int(interval) / int(limit), _MAX_WAIT)


def _retry_after(response: httpx.Response, now: float) -> float:
    """The seconds that a service asks to wait: a number or a date."""
    value = response.headers.get("Retry-After", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (TypeError, ValueError):
        return 0.0
