"""Batches: read JSON Lines from a file or standard input, parse claims, and answer in order."""

from __future__ import annotations

import codecs
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import IO, TYPE_CHECKING, Any, TypeVar

from whycite.documents.sources import decode
from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.cite.recommendations import Claim

__all__ = ["BatchClaim", "make_claim", "map_in_order", "open_input", "parse_claim", "read_lines", "section_type"]


_CHUNK_BYTES = 1 << 16
_MAX_LINE_BYTES = 16 << 20  # longest line accepted
_WAIT = 0.05  # seconds between reads of a stream that does not block


@contextmanager
def open_input(path: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, or standard input for "-"."""
    if path == "-":
        # Unbuffered if possible: Python cannot exit while a thread holds the lock of a buffer.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return
    with _open_file(path) as file:
        yield file


def _open_file(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def read_lines(stream: IO[bytes], path: str) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank, whatever its encoding and line end."""
    for number, line in enumerate(_split_lines(stream, path), 1):
        if text := decode(line)[0].strip():
            yield number, text


def _split_lines(stream: IO[bytes], path: str) -> Iterator[bytes]:
    parts: list[bytes] = []  # of the line being read
    size = number = 0
    for chunk in _chunks(stream):
        head, *rest = chunk.split(b"\n")
        parts.append(head)
        size += len(head)
        for part in rest:
            yield b"".join(parts)
            parts, size, number = [part], len(part), number + 1
        if size > _MAX_LINE_BYTES:
            raise UserError(
                f"{path}:{number + 1}: line is longer than {_MAX_LINE_BYTES >> 20} MB; is this a JSON Lines file?"
            )
    yield b"".join(parts)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes as they arrive, without a byte order mark; UTF-16 is converted to UTF-8."""
    head = _read_chunk(stream)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        chunks = _prepend(head, stream)
        yield from (text.encode("utf-8", "replace") for text in codecs.iterdecode(chunks, "utf-16", "replace"))
    else:
        yield from _prepend(head.removeprefix(codecs.BOM_UTF8), stream)


def _prepend(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    yield head
    while chunk := _read_chunk(stream):
        yield chunk


def _read_chunk(stream: IO[bytes]) -> bytes:
    """The next bytes; polls a stream that another program has made non-blocking."""
    while (chunk := stream.read(_CHUNK_BYTES)) is None:
        time.sleep(_WAIT)
    return chunk


T = TypeVar("T")
R = TypeVar("R")

_MAX_PENDING = 4  # tasks waiting per thread


class _StreamEnd:
    """The end of the input, with the error that ended it, if any."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def map_in_order(tasks: Iterable[T], work: Callable[[T], R], threads: int) -> Iterator[R]:
    """Yield results in the order of the tasks; if a task fails, the results before it come first.

    A result is yielded as soon as it is ready, even if the next task has not arrived yet.
    """
    events: SimpleQueue[T | Future[R] | _StreamEnd] = SimpleQueue()
    room = Semaphore(threads * _MAX_PENDING)
    pool = ThreadPoolExecutor(threads)
    # A daemon, because a blocking read of standard input cannot be cancelled and would keep Python from exiting.
    Thread(target=_feed, args=(tasks, events, room), daemon=True).start()
    pending: deque[Future[R]] = deque()
    end: _StreamEnd | None = None
    try:
        while end is None or pending:
            event = events.get()
            if isinstance(event, _StreamEnd):
                end = event
            elif not isinstance(event, Future):
                pending.append(pool.submit(work, event))
                pending[-1].add_done_callback(events.put)
            while pending and pending[0].done():
                room.release()
                yield pending.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if end.error is not None:
        raise end.error


def _feed(tasks: Iterable[T], events: SimpleQueue[T | Future[R] | _StreamEnd], room: Semaphore) -> None:
    try:
        for task in tasks:
            room.acquire()
            events.put(task)
        events.put(_StreamEnd())
    except Exception as error:  # noqa: BLE001 - passed on, or the consumer would wait forever
        events.put(_StreamEnd(error))


_MAX_CLAIM_LENGTH = 10_000  # characters
_EXPECTED = 'expected a JSON object such as {"id": "1", "text": "the claim"}'


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A claim of a batch, with the id under which it is answered."""

    id: str | int | float
    claim: Claim


def make_claim(text: str, **context: Any) -> Claim:
    """Make a claim with its context; raises a UserError if it is too long."""
    from whycite.cite.recommendations import Claim

    text = " ".join(text.split())
    if len(text) > _MAX_CLAIM_LENGTH:
        raise UserError(f"claim is too long: {len(text):,} characters, but at most {_MAX_CLAIM_LENGTH:,} are allowed")
    return Claim(text, **context)


def section_type(name: str | None) -> str | None:
    """The section type for a type or heading that the user typed."""
    from whycite import structure

    return None if name is None else structure.parse_section_type(name)


def parse_claim(line: str, place: str, context: Mapping[str, Any]) -> BatchClaim:
    """Parse a line of a batch; `context` provides what the line does not say about the draft."""
    from whycite import structure

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: invalid JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    for key in ("id", "text"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    fields = {key: _valid_field(record, key, place) for key in _FIELD_TYPES if record.get(key) is not None}
    claim_context = dict(context) | {key: fields[key] for key in ("title", "paragraph") if key in fields}
    if "section" in fields:  # may be a heading without a type
        claim_context["section_type"] = structure.section_type(fields["section"])
    if "cited" in fields:
        claim_context["cited"] = tuple(fields["cited"])
    if "year" in fields:
        claim_context["year"] = min(fields["year"], context.get("year") or fields["year"])
    try:
        return BatchClaim(fields["id"], make_claim(fields["text"], **claim_context))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error


def _valid_field(record: dict[str, Any], key: str, place: str) -> Any:
    kind, is_valid = _FIELD_TYPES[key]
    if not is_valid(record[key]):
        raise UserError(f'{place}: "{key}" must be {kind}, not {json.dumps(record[key])[:40]}')
    return record[key]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_FIELD_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("a string or a number", lambda value: type(value) in (str, int, float) and value != ""),
    "text": ("a string", _is_text),
    "title": ("a string", _is_text),
    "section": ("a string", _is_text),
    "paragraph": ("a string", _is_text),
    "cited": ("a list of keys", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "year": ("a whole number", lambda value: type(value) is int),
}
