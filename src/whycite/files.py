"""Files written in one step: the old content or the new, never half of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from whycite.errors import UserError

__all__ = ["atomic_write", "make_folder", "write_lines"]


def make_folder(path: Path) -> Path:
    """The folder at a path, made where it is absent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be made: {error.strerror or error}") from error
    return path


@contextmanager
def atomic_write(path: Path | str) -> Iterator[IO[bytes]]:
    """A stream whose bytes become the file at the end; where that is not reached, the file is left alone."""
    target = Path(path).resolve()  # a link to the file stays a link
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)  # gone already once it has taken the file's place


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which bring their own ends, as UTF-8."""
    with atomic_write(path) as file:
        file.writelines(line.encode("utf-8") for line in lines)
