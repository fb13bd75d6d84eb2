"""Items of reference managers that a library took: their citation keys, and the state in which they were taken.

An item is recorded before its document is committed. It counts as taken only if the library has the document, so that
whatever a killed process did not finish is taken again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

from whycite.library.register import change_register, has_register, read_register, select_ids

__all__ = ["TakenItem", "citation_keys", "drop_items", "forget_item_documents", "read_items", "record_items"]


@dataclass(frozen=True, slots=True)
class TakenItem:
    """An item of a reference manager in the state in which it was taken."""

    item: str  # a name that no other item has
    state: str  # changes whenever the item or its file does
    document: int  # the id of its document; 0 if another one has its paper already
    paper: int  # the version of its paper
    key: str  # by which the user cites it; "" if unknown


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
            register.executemany("DELETE FROM items WHERE item = ?", [(name,) for name in sorted(names)])


def forget_item_documents(library: Path, documents: Collection[int]) -> None:
    """Forget the items of documents that are removed."""
    if documents and has_register(library):
        with change_register(library) as register:
            register.executemany("DELETE FROM items WHERE document = ?", [(document,) for document in documents])


def citation_keys(library: Path, papers: Collection[int]) -> dict[int, str]:
    """The user's citation keys of papers, by version; of several for one version, the first in the alphabet."""
    if not papers:
        return {}
    with read_register(library, "items") as register:
        if register is None:
            return {}
        query = "SELECT paper, min(key) FROM items WHERE key != '' AND paper IN ({ids}) GROUP BY paper"
        return dict(select_ids(register, query, papers))
