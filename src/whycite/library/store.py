"""The tables on disk, commits over all of them, and one writer at a time.

LanceDB makes changes to one table atomic. A change to a library touches several tables: it takes effect when a row in
the table `commits` names the versions that belong together. Readers open just these versions. Whatever a killed writer
left after the last commit is invisible to readers, and the next writer rolls it back.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from filelock import FileLock, Timeout
from lancedb.background_loop import LOOP

from whycite.errors import Busy, UserError
from whycite.library.checksums import forget_seal, verify_files
from whycite.library.paths import MIRROR, REGISTER, library_exists, library_state, mirrored_address
from whycite.library.records import Commit
from whycite.library.tables import COMMITS, SCHEMA, TABLES, table_schemas

__all__ = [
    "AsyncTable",
    "Commit",
    "Store",
    "Table",
    "commit_time",
    "create_store",
    "has_writer",
    "open_store",
    "plain_errors",
    "writing",
]


Table = Any  # lancedb.table.LanceTable, whose query builders are hardly typed
AsyncTable = Any  # lancedb.table.AsyncTable, for the same reason

# Messages of LanceDB's errors, of any class, for files that are damaged, missing or read-only.
_FAILURE_SIGNS = (
    "lance error", "lance file", "Lance file", "was not found", "future panicked", "os error", "Invalid input, ",
)  # fmt: skip
_FULL_DISK_SIGNS = ("No space left", "os error 28")
_READ_ONLY_SIGNS = ("Permission denied", "Read-only file system", "os error 13", "os error 30")
_INDEX_CACHE = 512 << 20  # bytes; with 384 MiB, the indices of a million spans were evicted constantly
_METADATA_CACHE = 64 << 20  # bytes; LanceDB's default of 1 GiB is more than whycite should use in all


class Store:
    """The tables of a library at one commit."""

    def __init__(self, path: Path, session: lancedb.Session, database: lancedb.DBConnection, commit: Commit) -> None:
        self.path = path
        self._session = session
        self.commit = commit
        self.database = database
        self._tables = {name: database.open_table(name) for name in commit.versions}

    def __getitem__(self, table: str) -> Table:
        return self._tables[table]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tables; a library of an older version may lack some."""
        return tuple(self._tables)

    def add_missing_tables(self) -> None:
        """Create the tables that a library of an older version lacks; the next commit makes them part of it."""
        for name in TABLES:
            if name not in self._tables:
                commits = self.database.open_table("commits")
                if name not in commits.schema.names:
                    commits.add_columns(COMMITS.field(name))
                schema = table_schemas(self.commit.dimensions)[name]
                self._tables[name] = self.database.create_table(name, schema=schema, mode="overwrite")

    def checkout_commit(self) -> None:
        """Set every table to its version at the commit."""
        for name, version in self.commit.versions.items():
            self[name].checkout(version)

    def commits(self) -> list[Commit]:
        """All commits, oldest first."""
        rows = self.database.open_table("commits").to_arrow().to_pylist()
        return sorted(map(_commit, rows), key=lambda commit: commit.number)

    def open_async(self, *names: str) -> list[AsyncTable]:
        """Tables at the commit, for several queries at once."""

        async def open_tables() -> list[AsyncTable]:
            database = await lancedb.connect_async(self.path, session=self._session)
            async_tables = await asyncio.gather(*map(database.open_table, names))
            await asyncio.gather(
                *(table.checkout(self.commit.versions[name]) for name, table in zip(names, async_tables, strict=True))
            )
            return async_tables

        tables: list[AsyncTable] = LOOP.run(open_tables())  # type: ignore[no-untyped-call]
        return tables

    def add_missing_columns(self) -> None:
        """Add the columns that tables of an older version lack; their rows have none of the values."""
        for name, schema in table_schemas(self.commit.dimensions).items():
            existing = self[name].schema.names
            if missing := [field for field in schema if field.name not in existing]:
                self[name].add_columns(missing)

    def roll_back(self) -> None:
        """Undo changes after the last commit, left by a killed writer."""
        changed_names = [name for name, version in self.commit.versions.items() if self[name].version != version]
        for name in changed_names:
            self[name].checkout(self.commit.versions[name])
            self[name].restore()
        if changed_names:
            self.save()

    def save(self) -> None:
        """Commit the tables as they are now."""
        versions = {name: self[name].version for name in self.names}
        if versions == dict(self.commit.versions):
            return
        previous = self.commit
        self.commit = Commit(
            previous.number + 1, SCHEMA, previous.encoder, previous.dimensions, commit_time(), versions
        )
        _write_commit(self.database.open_table("commits"), self.commit)


def create_store(path: Path, encoder: str, dimensions: int) -> None:
    """Create an empty library."""
    with plain_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        forget_seal(path)
        database = lancedb.connect(path)
        # Commits come last: without them an unfinished library counts as none, and is created again.
        versions = {
            name: database.create_table(name, schema=schema, mode="overwrite").version
            for name, schema in table_schemas(dimensions).items()
        }
        commits = database.create_table("commits", schema=COMMITS, mode="overwrite")
        _write_commit(commits, Commit(1, SCHEMA, encoder, dimensions, commit_time(), versions))


def open_store(path: Path, verify: bool = True) -> Store | None:
    """The store at the last commit, ready to be written; None if there is no library yet.

    With `verify`, an error is raised if a file of the tables is not what was written.
    """
    with plain_errors(path):
        if not path.is_dir():
            if path.exists():
                raise UserError(f"{path}: not a library but a file")
            return None
        if not library_exists(path):
            foreign = next((entry.name for entry in path.iterdir() if not _is_library_file(entry.name)), None)
            if foreign is not None:
                raise UserError(f"{path}: not a library (it contains {foreign}); choose another folder")
            return None
        _refuse_links(path)
        if verify:
            verify_files(path)
        session = lancedb.Session(index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE)
        database = lancedb.connect(path, session=session)
        rows = _commits(path, database)
        if not rows:
            return None
        commit = _commit(max(rows, key=lambda row: row["commit"]))
        if commit.schema > SCHEMA:
            raise UserError(
                f"{path}: written by a newer version of whycite (schema {commit.schema}, this version supports "
                f"{SCHEMA}); update whycite"
            )
        return Store(path, session, database, commit)


def _refuse_links(library: Path) -> None:
    """Raise an error if a file of a library is a link: it could lead to any file of the user."""
    for folder, folder_names, file_names in os.walk(library):
        for name in (*folder_names, *file_names):
            place = Path(folder, name)
            if place.is_symlink():
                raise UserError(f"{place}: a link, which a library does not have; put the file itself in its place")


def _commit(row: Mapping[str, Any]) -> Commit:
    versions = {name: row[name] for name in TABLES if row.get(name) is not None}
    return Commit(row["commit"], row["schema"], row["encoder"], row["dimensions"], row["time"], versions)


def _commits(path: Path, database: lancedb.DBConnection) -> list[dict[str, Any]]:
    """The rows of the commits; none if the creation of the library was interrupted."""
    if not any(name.endswith(".manifest") for name, _ in library_state(path)):
        existing = set(TABLES).intersection(database.list_tables().tables)
        if not any(database.open_table(name).count_rows() for name in existing):
            return []
    rows: list[dict[str, Any]] = database.open_table("commits").to_arrow().to_pylist()
    return rows


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of the disk and of damaged files into messages for the user."""
    try:
        yield
    except Exception as error:
        text = str(error)
        if not isinstance(error, OSError) and not any(sign in text for sign in _FAILURE_SIGNS):
            raise
        if any(sign in text for sign in _FULL_DISK_SIGNS):
            raise UserError(f"{path}: the disk is full; everything added so far is safe") from error
        if any(sign in text for sign in _READ_ONLY_SIGNS):
            raise UserError(f"{path}: not writable; choose another folder with --library") from error
        if isinstance(error, OSError):
            raise UserError(f"{path}: {error.strerror or error}") from error
        reason = text.partition(", /")[0][:200]  # shortened, and without places in LanceDB's source
        raise UserError(
            f"{path}: cannot be read ({reason}); try again, and if it still fails, "
            "restore the folder from a backup or add your papers to a new library"
        ) from error


def _write_commit(commits: Table, commit: Commit) -> None:
    row = {
        "commit": commit.number, "schema": commit.schema, "encoder": commit.encoder,
        "dimensions": commit.dimensions, "time": commit.time, **commit.versions,
    }  # fmt: skip
    commits.add(pa.Table.from_pylist([row], schema=commits.schema))  # an older library has fewer columns


def _is_library_file(name: str) -> bool:
    return name.endswith(".lance") or name.startswith(("writer.", ".", "checksums.", REGISTER, MIRROR))


def commit_time() -> str:
    """The current time in the format of commits."""
    return datetime.now(UTC).isoformat(timespec="seconds")


_LOCK, _HOLDER = "writer.lock", "writer.json"


@contextmanager
def writing(library: Path, command: str) -> Iterator[None]:
    """Lock the library for writing; the system releases the lock when the process ends, however it ends."""
    if (address := mirrored_address(library)) is not None:
        raise UserError(
            f"{address}: can only be read here; change the library that it was published from, and publish that again"
        )
    lock = FileLock(library / _LOCK, timeout=0)
    with plain_errors(library):
        try:
            lock.acquire()
        except Timeout:
            raise Busy(f"{library}: in use by {_holder(library)}; try again when it is done") from None
    try:
        holder = {"process": os.getpid(), "host": socket.gethostname(), "what": command, "since": _utc_time()}
        with plain_errors(library):
            (library / _HOLDER).write_text(json.dumps(holder), encoding="utf-8")
        yield
    finally:
        (library / _HOLDER).unlink(missing_ok=True)
        lock.release()


def has_writer(library: Path) -> bool:
    """Whether somebody is writing to the library."""
    return (library / _HOLDER).exists()


def _holder(library: Path) -> str:
    try:
        holder = json.loads((library / _HOLDER).read_text(encoding="utf-8"))
        return f"`whycite {holder['what']}` (process {holder['process']} on {holder['host']}, since {holder['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it has the lock, but has not written its name yet


def _utc_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
