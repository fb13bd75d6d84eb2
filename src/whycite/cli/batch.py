"""Batches: lines of a file or of standard input, the claims in them, and answers in their order."""

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
_MAX_LINE_BYTES = 16 << 20  # bytes of a line
_WAIT = 0.05  # seconds between two looks


@contextmanager
def open_input(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or with "-" of standard input."""
    if path == "-":
        # Unbuffered where it can be: a thread that waits in a buffer's lock keeps Python from ending.
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
    """Every line that is not blank with its number, whatever its encoding and line end."""
    for number, line in enumerate(_split_lines(stream, path), 1):
        if text := decode(line)[0].strip():
            yield number, text


def _split_lines(stream: IO[bytes], path: str) -> Iterator[bytes]:
    parts: list[bytes] = []  # parts of a line whose end has not come yet
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
                f"{path}:{number + 1}: the line is longer than {_MAX_LINE_BYTES >> 20} MB; is it JSON Lines?"
            )
    yield b"".join(parts)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes as they come, without a byte order mark, as UTF-8 if they are UTF-16."""
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
    """The next bytes, of a stream that does not wait for them too: another program that has it may have set that."""
    while (chunk := stream.read(_CHUNK_BYTES)) is None:
        time.sleep(_WAIT)
    return chunk


T = TypeVar("T")
R = TypeVar("R")

_MAX_PENDING = 4  # things a thread may have waiting


class _StreamEnd:
    """No more things come, because of an error or not."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def map_in_order(tasks: Iterable[T], work: Callable[[T], R], threads: int) -> Iterator[R]:
    """The results in the order of the things; those before a thing that fails come before its error.

    Things are waited for apart from results: who writes one and waits for its answer before the next gets it.
    """
    events: SimpleQueue[T | Future[R] | _StreamEnd] = SimpleQueue()
    room = Semaphore(threads * _MAX_PENDING)
    pool = ThreadPoolExecutor(threads)
    # A daemon: a wait for standard input cannot be ended, and must not keep the program from ending.
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
    except Exception as error:  # noqa: BLE001 - whoever waits for more would wait forever
        events.put(_StreamEnd(error))


_MAX_CLAIM_LENGTH = 10_000  # characters of a claim
_EXPECTED = 'expected a JSON object such as {"id": "1", "text": "the claim"}'


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A claim of a batch, under the name its answer is given."""

    id: str | int | float
    claim: Claim


def make_claim(text: str, **context: Any) -> Claim:
    """The claim with what is known around it, if it can be answered."""
    from whycite.cite.recommendations import Claim

    text = " ".join(text.split())
    if len(text) > _MAX_CLAIM_LENGTH:
        raise UserError(
            f"the claim has {len(text):,} characters; give a sentence or a few, {_MAX_CLAIM_LENGTH:,} at most"
        )
    return Claim(text, **context)


def section_type(name: str | None) -> str | None:
    """The section type that a user names, by itself or by a heading that means it."""
    from whycite import structure

    return None if name is None else structure.parse_section_type(name)


def parse_claim(line: str, place: str, context: Mapping[str, Any]) -> BatchClaim:
    """The claim in a line of a batch; what the line does not say of the draft is taken from `around`."""
    from whycite import structure

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    for key in ("id", "text"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    fields = {key: _valid_field(record, key, place) for key in _FIELD_TYPES if record.get(key) is not None}
    claim_context = dict(context) | {key: fields[key] for key in ("title", "paragraph") if key in fields}
    if "section" in fields:  # a heading that means no type says nothing
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
    "id": ("a name or a number", lambda value: type(value) in (str, int, float) and value != ""),
    "text": ("a string", _is_text),
    "title": ("a string", _is_text),
    "section": ("a string", _is_text),
    "paragraph": ("a string", _is_text),
    "cited": ("a list of keys", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "year": ("a whole number", lambda value: type(value) is int),
}
