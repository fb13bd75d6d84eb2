"""The register of a library: a file beside the tables with what is known of papers apart from their text.

It has the notices about papers (`notices`) and the items of reference managers that the library took: their keys and
addresses, and the state in which they were taken. It works without any document, and is opened without the store.
Papers are named by the ids of their versions.

An item is recorded before its document is committed. It counts as taken only if the library has the document, so that
whatever a killed process did not finish is taken again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.library.paths import REGISTER, mirrored_address, register_state

__all__ = [
    "ItemNames",
    "TakenItem",
    "change_register",
    "drop_items",
    "forget_item_documents",
    "has_register",
    "item_names",
    "read_items",
    "read_register",
    "record_addresses",
    "record_items",
    "select_ids",
]

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


@dataclass(frozen=True, slots=True)
class TakenItem:
    """An item of a reference manager in the state in which it was taken."""

    item: str  # a name that no other item has
    state: str  # changes whenever the item or its file does
    document: int  # the id of its document; 0 if another one has its paper already
    paper: int  # the version of its paper
    key: str  # by which the user cites it; "" if unknown


@dataclass(frozen=True, slots=True)
class ItemNames:
    """What a reference manager calls a paper."""

    key: str = ""  # by which the user cites it
    address: str = ""  # by which the manager's plug-ins for word processors cite it


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


def read_items(library: Path, prefix: str = "") -> dict[str, TakenItem]:
    """The items whose names begin with a prefix."""
    with read_register(library, "items") as register:
        if register is None:
            return {}
        rows = register.execute(
            "SELECT item, state, document, paper, key FROM items WHERE substr(item, 1, ?) = ?", (len(prefix), prefix)
        )
        return {row[0]: TakenItem(*row) for row in rows}


def record_items(library: Path, items: Iterable[TakenItem]) -> None:
    """Record items in place of older states of them."""
    rows = [astuple(item) for item in items]
    if rows:
        with change_register(library) as register:
            register.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?)", rows)


def drop_items(library: Path, names: Collection[str]) -> None:
    """Forget items."""
    if names:
        with change_register(library) as register:
            for table in ("items", "addresses"):
                register.executemany(f"DELETE FROM {table} WHERE item = ?", [(name,) for name in sorted(names)])


def forget_item_documents(library: Path, documents: Collection[int]) -> None:
    """Forget the items of documents that are removed."""
    if documents and has_register(library):
        with change_register(library) as register:
            register.executemany("DELETE FROM items WHERE document = ?", [(document,) for document in documents])


def record_addresses(library: Path, addresses: Mapping[str, str]) -> None:
    """Record the addresses of items by name; nothing is written if all are known."""
    with read_register(library, "addresses") as register:
        recorded = dict(register.execute("SELECT item, address FROM addresses")) if register else {}
    if rows := sorted(addresses.items() - recorded.items()):
        with change_register(library) as register:
            register.executemany("INSERT OR REPLACE INTO addresses VALUES (?, ?)", rows)


def item_names(library: Path, papers: Collection[int]) -> dict[int, ItemNames]:
    """What the user's reference manager calls papers, by version; of several names, the first in the alphabet."""
    if not papers:
        return {}
    with read_register(library, "items") as register:
        if register is None:
            return {}
        [[has_addresses]] = register.execute("SELECT count(*) FROM sqlite_master WHERE name = 'addresses'")
        columns, tables = (
            ("min(address)", "items LEFT JOIN addresses USING (item)") if has_addresses else ("''", "items")
        )
        query = f"SELECT paper, min(nullif(key, '')), {columns} FROM {tables} WHERE paper IN ({{ids}}) GROUP BY paper"
        rows = select_ids(register, query, papers)
        return {paper: ItemNames(key or "", address or "") for paper, key, address in rows}


@contextmanager
def _plain_errors(library: Path) -> Iterator[None]:
    """Turn errors of the file into messages for the user."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise UserError(
            f"{library / REGISTER}: cannot be used ({error}); delete it, then add your papers and import the list again"
        ) from error
