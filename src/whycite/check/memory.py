"""What a check found out before: kept in a file, so that only what has changed is looked at again."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from whycite.models.cache import cache_folder

__all__ = ["LIMIT", "Memory", "memory_key"]

LIMIT = 100_000_000  # bytes of the file
_FILE = "checks-1.sqlite"  # another number where its form changes
_SHARE = 10  # where the file is full, one in so many goes, the oldest
_PATIENCE = 30.0  # seconds to wait for other processes, each of which writes for much less
_LOG = logging.getLogger("whycite")
_Answer = TypeVar("_Answer")


def memory_key(*parts: Any) -> bytes:
    """A name for whatever is told apart by these parts, which JSON can hold."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


class Memory:
    """Values that JSON can hold, by key; several processes may share the file.

    A file that cannot be used is told of once and done without.
    """

    def __init__(self, file: Path | None = None, limit: int = LIMIT) -> None:
        self._file = file or cache_folder() / _FILE
        self._limit = limit
        self._usable = True

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The values of those keys that have one."""
        nothing: dict[bytes, Any] = {}
        unique_keys = set(keys)
        return self._run(lambda database: _read(database, unique_keys), nothing) if unique_keys else nothing

    def put(self, values: Mapping[bytes, Any]) -> None:
        """Keep values; where there is no room, the oldest go."""
        if values:
            self._run(lambda database: _write(database, values, self._limit), None)

    def _run(self, ask: Callable[[sqlite3.Connection], _Answer], otherwise: _Answer) -> _Answer:
        if self._usable:
            try:
                with closing(_open_database(self._file)) as database, database:
                    return ask(database)
            except (OSError, sqlite3.Error) as error:
                self._usable = False
                message = "%s: cannot be used (%s), so that every check begins anew; if that stays, delete it"
                _LOG.warning(message, self._file, error)
        return otherwise


def _open_database(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(file, timeout=_PATIENCE)
    try:
        database.execute(
            "CREATE TABLE IF NOT EXISTS known (age INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value TEXT NOT NULL)"
        )
    except sqlite3.Error:
        database.close()
        raise
    return database


def _read(database: sqlite3.Connection, keys: Iterable[bytes]) -> dict[bytes, Any]:
    values = {}
    for key in keys:
        row = database.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone()
        if row is not None:
            try:
                values[key] = json.loads(row[0])
            except ValueError:  # damaged: it is made again
                continue
    return values


def _write(database: sqlite3.Connection, values: Mapping[bytes, Any], limit: int) -> None:
    rows = [(key, json.dumps(value)) for key, value in values.items()]
    database.executemany("INSERT OR REPLACE INTO known (key, value) VALUES (?, ?)", rows)
    oldest = f"(SELECT min(age) + (max(age) - min(age)) / {_SHARE} FROM known)"
    while _used_bytes(database) > limit:
        if not database.execute(f"DELETE FROM known WHERE age <= {oldest}").rowcount:
            break


def _used_bytes(database: sqlite3.Connection) -> int:
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
