"""Items of reference managers that a library took: their keys and addresses, and the state in which they were taken.

An item is recorded before its document is committed. It counts as taken only if the library has the document, so that
whatever a killed process did not finish is taken again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from whycite.library.register import change_register, has_register, read_register, select_ids

__all__ = [
    "ItemNames",
    "TakenItem",
    "drop_items",
    "forget_item_documents",
    "item_names",
    "read_items",
    "record_addresses",
    "record_items",
]


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
        known = dict(register.execute("SELECT item, address FROM addresses")) if register else {}
    if rows := sorted(addresses.items() - known.items()):
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
