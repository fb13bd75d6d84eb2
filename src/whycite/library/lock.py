"""One writer at a time, who says who it is."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from whycite.errors import Busy
from whycite.library.store import plain_errors

__all__ = ["writing"]

_LOCK, _HOLDER = "writer.lock", "writer.json"


@contextmanager
def writing(library: Path, what: str) -> Iterator[None]:
    """Hold the library for writing; the system lets go of it when the process ends, however it ends."""
    lock = FileLock(library / _LOCK, timeout=0)
    with plain_errors(library):
        try:
            lock.acquire()
        except Timeout:
            raise Busy(f"{library}: {_holder(library)} is writing to it; wait until it is done") from None
    try:
        me = {"process": os.getpid(), "host": socket.gethostname(), "what": what, "since": _now()}
        with plain_errors(library):
            (library / _HOLDER).write_text(json.dumps(me), encoding="utf-8")
        yield
    finally:
        (library / _HOLDER).unlink(missing_ok=True)
        lock.release()


def _holder(library: Path) -> str:
    try:
        holder = json.loads((library / _HOLDER).read_text(encoding="utf-8"))
        return f"process {holder['process']} on {holder['host']} (whycite {holder['what']}, since {holder['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it has the lock, but has not said yet who it is


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
