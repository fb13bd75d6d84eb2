"""The tables on disk, commits over all of them, and one writer at a time.

LanceDB makes a change of one table atomic. A change of the library touches several: it counts once a row in the table
`commits` names the version of each table that belongs together. Readers open just these versions. What a killed writer
left behind the last commit no reader sees, and the next writer takes it back.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from filelock import FileLock, Timeout
from lancedb.background_loop import LOOP

from whycite.errors import Busy, UserError
from whycite.library.tables import COMMITS, SCHEMA, TABLES, table_schemas

__all__ = ["AsyncTable", "Commit", "Store", "Table", "create_store", "open_store", "plain_errors", "writing"]


Table = Any  # lancedb.table.LanceTable, whose query builders are hardly typed
AsyncTable = Any  # lancedb.table.AsyncTable, likewise

# What lancedb says, with errors of whatever class, when a file is damaged, gone or may not be written.
_FAILURE_SIGNS = ("lance error", "lance file", "Lance file", "was not found", "future panicked", "os error")
_CACHE = 512 << 20  # bytes of indices kept in memory: with 384 those of a million spans came and went all the time
_METADATA_CACHE = 64 << 20


@dataclass(frozen=True, slots=True)
class Commit:
    """A state of the whole library."""

    number: int
    schema: int
    encoder: str
    dimensions: int
    time: str
    versions: Mapping[str, int]


class Store:
    """The tables of a library at one commit."""

    def __init__(self, path: Path, session: lancedb.Session, database: lancedb.DBConnection, commit: Commit) -> None:
        self.path = path
        self._session = session
        self.commit = commit
        self.database = database
        self._tables = {name: database.open_table(name) for name in TABLES}

    def __getitem__(self, table: str) -> Table:
        return self._tables[table]

    def checkout_commit(self) -> None:
        """Show every table as it was at the commit."""
        for name, version in self.commit.versions.items():
            self[name].checkout(version)

    def commits(self) -> list[Commit]:
        """All commits there were, the last one last."""
        rows = self.database.open_table("commits").to_arrow().to_pylist()
        return sorted(map(_commit, rows), key=lambda commit: commit.number)

    def open_async(self, *names: str) -> list[AsyncTable]:
        """Tables as they were at the commit, for several questions at once."""

        async def open_tables() -> list[AsyncTable]:
            database = await lancedb.connect_async(self.path, session=self._session)
            async_tables = await asyncio.gather(*map(database.open_table, names))
            await asyncio.gather(
                *(table.checkout(self.commit.versions[name]) for name, table in zip(names, async_tables, strict=True))
            )
            return async_tables

        tables: list[AsyncTable] = LOOP.run(open_tables())  # type: ignore[no-untyped-call]
        return tables

    def roll_back(self) -> None:
        """Undo what stands behind the last commit: a writer was ended before it could commit."""
        changed_names = [name for name, version in self.commit.versions.items() if self[name].version != version]
        for name in changed_names:
            self[name].checkout(self.commit.versions[name])
            self[name].restore()
        if changed_names:
            self.save()

    def save(self) -> None:
        """Commit: from here on the library is what its tables are now."""
        versions = {name: self[name].version for name in TABLES}
        if versions == dict(self.commit.versions):
            return
        previous = self.commit
        self.commit = Commit(previous.number + 1, SCHEMA, previous.encoder, previous.dimensions, _now(), versions)
        _write_commit(self.database.open_table("commits"), self.commit)


def create_store(path: Path, encoder: str, dimensions: int) -> None:
    """Make an empty library where none is."""
    with plain_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        database = lancedb.connect(path)
        # In this order, so that what was begun and not finished has no commits and is begun again.
        versions = {
            name: database.create_table(name, schema=schema, mode="overwrite").version
            for name, schema in table_schemas(dimensions).items()
        }
        commits = database.create_table("commits", schema=COMMITS, mode="overwrite")
        _write_commit(commits, Commit(1, SCHEMA, encoder, dimensions, _now(), versions))


def open_store(path: Path) -> Store | None:
    """The store at the last commit, ready to be written; nothing where there is no library yet."""
    with plain_errors(path):
        if not path.is_dir():
            if path.exists():
                raise UserError(f"{path}: is a file, not a library")
            return None
        if not (path / "commits.lance").is_dir():
            strange = next((entry.name for entry in path.iterdir() if not _is_library_file(entry.name)), None)
            if strange is not None:
                raise UserError(f"{path}: is not a library (it holds {strange}); name another folder")
            return None
        session = lancedb.Session(index_cache_size_bytes=_CACHE, metadata_cache_size_bytes=_METADATA_CACHE)
        database = lancedb.connect(path, session=session)
        rows = _commits(path, database)
        if not rows:
            return None
        commit = _commit(max(rows, key=lambda row: row["commit"]))
        if commit.schema > SCHEMA:
            raise UserError(
                f"{path}: was written by a newer whycite (schema {commit.schema}, this one knows {SCHEMA}); "
                "update whycite to use it"
            )
        return Store(path, session, database, commit)


def _commit(row: Mapping[str, Any]) -> Commit:
    versions = {name: row[name] for name in TABLES}
    return Commit(row["commit"], row["schema"], row["encoder"], row["dimensions"], row["time"], versions)


def _commits(path: Path, database: lancedb.DBConnection) -> list[dict[str, Any]]:
    """The rows of the commits; none where a library was begun and not finished."""
    if not any((path / "commits.lance" / "_versions").glob("*.manifest")):
        existing = set(TABLES).intersection(database.list_tables().tables)
        if not any(database.open_table(name).count_rows() for name in existing):
            return []
    rows: list[dict[str, Any]] = database.open_table("commits").to_arrow().to_pylist()
    return rows


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Say in a sentence what the disk refused, or that the library is damaged."""
    try:
        yield
    except Exception as error:
        text = str(error)
        if not isinstance(error, OSError) and not any(sign in text for sign in _FAILURE_SIGNS):
            raise
        if "No space left" in text or "os error 28" in text:
            raise UserError(f"{path}: the disk is full; what was added before is safe") from error
        if any(sign in text for sign in ("Permission denied", "Read-only file system", "os error 13", "os error 30")):
            raise UserError(f"{path}: may not be written; choose another place with --library") from error
        if isinstance(error, OSError):
            raise UserError(f"{path}: {error.strerror or error}") from error
        raise UserError(
            f"{path}: cannot be used ({text.partition(', /')[0][:200]}); open it again, and if that does not help, "
            "put back a copy of the folder or add your papers to a new one"
        ) from error


def _write_commit(commits: Table, commit: Commit) -> None:
    row = {
        "commit": commit.number, "schema": commit.schema, "encoder": commit.encoder,
        "dimensions": commit.dimensions, "time": commit.time, **commit.versions,
    }  # fmt: skip
    commits.add(pa.Table.from_pylist([row], schema=COMMITS))


def _is_library_file(name: str) -> bool:
    return name.endswith(".lance") or name.startswith("writer.") or name.startswith(".")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


_LOCK, _HOLDER = "writer.lock", "writer.json"


@contextmanager
def writing(library: Path, command: str) -> Iterator[None]:
    """Hold the library for writing; the system lets go of it when the process ends, however it ends."""
    lock = FileLock(library / _LOCK, timeout=0)
    with plain_errors(library):
        try:
            lock.acquire()
        except Timeout:
            raise Busy(f"{library}: {_holder(library)} is writing to it; wait until it is done") from None
    try:
        holder = {"process": os.getpid(), "host": socket.gethostname(), "what": command, "since": _utc_time()}
        with plain_errors(library):
            (library / _HOLDER).write_text(json.dumps(holder), encoding="utf-8")
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


def _utc_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
