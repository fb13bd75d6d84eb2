"""The lines of a file or of standard input, given as soon as they are there."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from whycite.documents.sources import decode
from whycite.errors import UserError

__all__ = ["lines", "opened"]

_CHUNK = 1 << 16
_LONGEST = 16 << 20  # bytes of a line
_WAIT = 0.05  # seconds between two looks


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or with "-" of standard input."""
    if path == "-":
        # Unbuffered where it can be: a thread that waits in a buffer's lock keeps Python from ending.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return
    with _file(path) as file:
        yield file


def _file(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def lines(stream: IO[bytes], path: str) -> Iterator[tuple[int, str]]:
    """Every line that is not blank with its number, whatever its encoding and line end."""
    for number, line in enumerate(_whole(stream, path), 1):
        if text := decode(line)[0].strip():
            yield number, text


def _whole(stream: IO[bytes], path: str) -> Iterator[bytes]:
    begun: list[bytes] = []  # parts of a line whose end has not come yet
    size = number = 0
    for chunk in _chunks(stream):
        first, *rest = chunk.split(b"\n")
        begun.append(first)
        size += len(first)
        for part in rest:
            yield b"".join(begun)
            begun, size, number = [part], len(part), number + 1
        if size > _LONGEST:
            raise UserError(f"{path}:{number + 1}: the line is longer than {_LONGEST >> 20} MB; is it JSON Lines?")
    yield b"".join(begun)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes as they come, without a byte order mark, as UTF-8 if they are UTF-16."""
    first = _read(stream)
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        both = _after(first, stream)
        yield from (text.encode("utf-8", "replace") for text in codecs.iterdecode(both, "utf-16", "replace"))
    else:
        yield from _after(first.removeprefix(codecs.BOM_UTF8), stream)


def _after(first: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    yield first
    while chunk := _read(stream):
        yield chunk


def _read(stream: IO[bytes]) -> bytes:
    """The next bytes, of a stream that does not wait for them too: another program that has it may have set that."""
    while (chunk := stream.read(_CHUNK)) is None:
        time.sleep(_WAIT)
    return chunk
