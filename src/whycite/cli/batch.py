"""Batches: read lines from a file or standard input, and answer them in order."""

from __future__ import annotations

import codecs
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import IO, Any, TypeVar

from whycite.documents.sources import decode
from whycite.errors import UserError

__all__ = ["map_in_order", "open_input", "parse_object", "read_lines"]


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


def parse_object(line: str, place: str, expected: str) -> dict[str, Any]:
    """The object on a line; an error that says what was expected if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: invalid JSON; {expected}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {expected}")
    return record


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
