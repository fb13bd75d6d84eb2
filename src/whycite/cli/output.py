"""Where results go: standard output, or a file that appears once it is whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from whycite.errors import UserError

__all__ = ["writing"]


@contextmanager
def writing(path: str | None) -> Iterator[IO[bytes]]:
    """The stream to write to; a file is replaced in one step at the end, and left alone when that is not reached."""
    if path is None or path == "-":
        yield sys.stdout.buffer
        return
    target = Path(path).resolve()  # a link to the file stays a link
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(target)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)  # gone already once it has taken the file's place
