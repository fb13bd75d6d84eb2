"""Files written in one step: the old content or the new, never half of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from whycite.errors import UserError

__all__ = ["make_folder", "write_lines"]


def make_folder(path: Path) -> Path:
    """The folder at a path, made where it is absent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be made: {error.strerror or error}") from error
    return path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which bring their own ends, as UTF-8."""
    path = path.resolve()  # a link to the file stays a link
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(FileNotFoundError):  # gone once it has taken the file's place
            temporary.unlink()
