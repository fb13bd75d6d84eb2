"""Where results go: standard output, or a file that appears once it is whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from whycite.files import replacing

__all__ = ["writing"]


@contextmanager
def writing(path: str | None) -> Iterator[IO[bytes]]:
    """The stream to write to; a file is replaced in one step at the end, and left alone when that is not reached."""
    if path is None or path == "-":
        yield sys.stdout.buffer
        return
    with replacing(path) as file:
        yield file
