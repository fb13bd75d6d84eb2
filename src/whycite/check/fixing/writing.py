"""Writes what a plan says: all files or none, and none that changed meanwhile."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from whycite.check.fixing.model import Change, Plan
from whycite.errors import UserError
from whycite.files import replacing

__all__ = ["apply"]


def apply(plan: Plan) -> None:
    """Write the files of a plan; where one of them cannot be written, the others are put back as they were."""
    after = {change.path: change.after for change in plan.changes}
    _check(plan)
    try:
        with ExitStack() as files:
            for change in plan.changes:
                stream = files.enter_context(replacing(change.path))
                stream.write(after[change.path])
                Path(stream.name).chmod(change.path.stat().st_mode & 0o7777)
            _check(plan)  # once more: the last moment before they are replaced
    except BaseException:  # Ctrl-C between two files too
        for change in plan.changes:
            _put_back(change, after[change.path])
        raise


def _check(plan: Plan) -> None:
    for change in plan.changes:
        if _bytes(change) != change.before:
            raise UserError(f"{change.label}: has changed since it was checked; nothing is written: check it again")


def _bytes(change: Change) -> bytes:
    try:
        return change.path.read_bytes()
    except OSError as error:
        raise UserError(f"{change.label}: {error.strerror or error}; nothing is written") from error


def _put_back(change: Change, after: bytes) -> None:
    """Undo one file, if it is what was just written."""
    if change.path.is_file() and change.path.read_bytes() == after:
        mode = change.path.stat().st_mode & 0o7777
        with replacing(change.path) as stream:
            stream.write(change.before)
            Path(stream.name).chmod(mode)
