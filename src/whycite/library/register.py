"""The register of a library: a file beside the tables with what is known of papers apart from their text.

It has the notices about papers (`notices`) and the items of reference managers (`sourceitems`), works without any
document, and is opened without the store. Papers are named by the ids of their versions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.library.paths import REGISTER, mirrored_address, register_state

__all__ = ["change_register", "has_register", "read_register", "select_ids"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS notices (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL,
    kind TEXT NOT NULL, doi TEXT NOT NULL, date TEXT NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS notices_by_origin ON notices (origin);
CREATE TABLE IF NOT EXISTS papers (
    paper INTEGER NOT NULL, notice INTEGER NOT NULL, PRIMARY KEY (paper, notice)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    item TEXT PRIMARY KEY, state TEXT NOT NULL, document INTEGER NOT NULL, paper INTEGER NOT NULL, key TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS addresses (item TEXT PRIMARY KEY, address TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_by_paper ON items (paper);
CREATE INDEX IF NOT EXISTS items_by_document ON items (document);
"""
_CHUNK = 500  # ids in one query
_TIMEOUT = 30.0  # seconds to wait for another process that writes


def has_register(library: Path) -> bool:
    """Whether there is a register."""
    return bool(register_state(library))


@contextmanager
def read_register(library: Path, table: str) -> Iterator[sqlite3.Connection | None]:
    """The register opened for reading; None if there is none, or one that was written before it had this table."""
    if not has_register(library):
        yield None
        return
    address = f"{(library / REGISTER).absolute().as_uri()}?mode=ro"
    with _plain_errors(library), closing(sqlite3.connect(address, uri=True, timeout=_TIMEOUT)) as register:
        [[exists]] = register.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        yield register if exists else None


@contextmanager
def change_register(library: Path) -> Iterator[sqlite3.Connection]:
    """The register opened for one change, which happens as a whole or not at all, also if the process is killed."""
    if (published := mirrored_address(library)) is not None:
        raise UserError(f"{published}: can only be read here; change the library that it was published from")
    with _plain_errors(library):
        library.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(library / REGISTER, timeout=_TIMEOUT)) as register, register:
            register.executescript(_SCHEMA)
            register.execute("BEGIN IMMEDIATE")
            yield register


def select_ids(register: sqlite3.Connection, query: str, ids: Collection[int]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that has `{ids}` in place of a list of ids."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), _CHUNK):
        chunk = ordered[start : start + _CHUNK]
        yield from register.execute(query.format(ids=",".join("?" * len(chunk))), chunk)


@contextmanager
def _plain_errors(library: Path) -> Iterator[None]:
    """Turn errors of the file into messages for the user."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise UserError(
            f"{library / REGISTER}: cannot be used ({error}); delete it, then add your papers and import the list again"
        ) from error
