"""Writing files atomically, and showing paths to people."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from whycite.errors import UserError

__all__ = ["atomic_write", "make_folder", "shorten_paths", "write_lines"]


def shorten_paths(text: str) -> str:
    """A path or a message in which paths below the current folder are relative to it."""
    folder = os.path.join(Path.cwd(), "")  # noqa: PTH118 - with the separator at its end
    return re.sub(rf"(?<![^\s'\"(]){re.escape(folder)}(?=[^\s/])", "", text)


def make_folder(path: Path) -> Path:
    """Create a folder unless it exists, and return it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be created: {error.strerror or error}") from error
    return path


@contextmanager
def atomic_write(path: Path | str) -> Iterator[IO[bytes]]:
    """A stream whose bytes replace the file at the end; if writing fails, the file is unchanged."""
    target = Path(path).resolve()  # keeps a symbolic link
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
        temporary.unlink(missing_ok=True)  # no longer there after the replacement


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which include their line ends, as UTF-8."""
    with atomic_write(path) as file:
        file.writelines(line.encode("utf-8") for line in lines)
