"""The tables on disk, and commits over all of them.

LanceDB makes a change of one table atomic. A change of the library touches several: it counts once a row in the table
`commits` names the version of each table that belongs together. Readers open just these versions. What a killed writer
left behind the last commit no reader sees, and the next writer takes it back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.background_loop import LOOP

from whycite.errors import UserError
from whycite.library.schema import COMMITS, SCHEMA, TABLES, tables

__all__ = ["AsyncTable", "Commit", "Store", "Table", "create", "open_store", "plain_errors"]

Table = Any  # lancedb.table.LanceTable, whose query builders are hardly typed
AsyncTable = Any  # lancedb.table.AsyncTable, likewise

# What lancedb says, with errors of whatever class, when a file is damaged, gone or may not be written.
_REFUSED = ("lance error", "lance file", "Lance file", "was not found", "future panicked", "os error")
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

    def settle(self) -> None:
        """Show every table as it was at the commit."""
        for name, version in self.commit.versions.items():
            self[name].checkout(version)

    def commits(self) -> list[Commit]:
        """All commits there were, the last one last."""
        rows = self.database.open_table("commits").to_arrow().to_pylist()
        return sorted(map(_commit, rows), key=lambda commit: commit.number)

    def asynchronous(self, *names: str) -> list[AsyncTable]:
        """Tables as they were at the commit, for several questions at once."""

        async def opened() -> list[AsyncTable]:
            database = await lancedb.connect_async(self.path, session=self._session)
            found = await asyncio.gather(*map(database.open_table, names))
            await asyncio.gather(
                *(table.checkout(self.commit.versions[name]) for name, table in zip(names, found, strict=True))
            )
            return found

        tables: list[AsyncTable] = LOOP.run(opened())  # type: ignore[no-untyped-call]
        return tables

    def take_back(self) -> None:
        """Undo what stands behind the last commit: a writer was ended before it could commit."""
        behind = [name for name, version in self.commit.versions.items() if self[name].version != version]
        for name in behind:
            self[name].checkout(self.commit.versions[name])
            self[name].restore()
        if behind:
            self.save()

    def save(self) -> None:
        """Commit: from here on the library is what its tables are now."""
        versions = {name: self[name].version for name in TABLES}
        if versions == dict(self.commit.versions):
            return
        last = self.commit
        self.commit = Commit(last.number + 1, SCHEMA, last.encoder, last.dimensions, _now(), versions)
        _write(self.database.open_table("commits"), self.commit)


def create(path: Path, encoder: str, dimensions: int) -> None:
    """Make an empty library where none is."""
    with plain_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        database = lancedb.connect(path)
        # In this order, so that what was begun and not finished has no commits and is begun again.
        versions = {
            name: database.create_table(name, schema=schema, mode="overwrite").version
            for name, schema in tables(dimensions).items()
        }
        commits = database.create_table("commits", schema=COMMITS, mode="overwrite")
        _write(commits, Commit(1, SCHEMA, encoder, dimensions, _now(), versions))


def open_store(path: Path) -> Store | None:
    """The store at the last commit, ready to be written; nothing where there is no library yet."""
    with plain_errors(path):
        if not path.is_dir():
            if path.exists():
                raise UserError(f"{path}: is a file, not a library")
            return None
        if not (path / "commits.lance").is_dir():
            strange = next((entry.name for entry in path.iterdir() if not _ours(entry.name)), None)
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
        made = set(TABLES).intersection(database.list_tables().tables)
        if not any(database.open_table(name).count_rows() for name in made):
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
        if not isinstance(error, OSError) and not any(sign in text for sign in _REFUSED):
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


def _write(commits: Table, commit: Commit) -> None:
    row = {
        "commit": commit.number, "schema": commit.schema, "encoder": commit.encoder,
        "dimensions": commit.dimensions, "time": commit.time, **commit.versions,
    }  # fmt: skip
    commits.add(pa.Table.from_pylist([row], schema=COMMITS))


def _ours(name: str) -> bool:
    return name.endswith(".lance") or name.startswith("writer.") or name.startswith(".")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
