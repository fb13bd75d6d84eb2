"""Items of reference managers in the register of a library."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from whycite.errors import UserError
from whycite.library.notices import registered_papers
from whycite.library.paths import REGISTER
from whycite.library.register import (
    ItemNames,
    TakenItem,
    drop_items,
    forget_item_documents,
    item_names,
    read_items,
    record_addresses,
    record_items,
)

BEES = TakenItem("a/bees", "1", document=10, paper=100, key="bees")
WASPS = TakenItem("b/wasps", "1", document=11, paper=100, key="aWasps")
MOTHS = TakenItem("b/moths", "1", document=11, paper=102, key="")


def test_items_are_recorded_and_forgotten(tmp_path: Path) -> None:
    assert not read_items(tmp_path)
    assert not item_names(tmp_path, [100])
    record_items(tmp_path, [BEES, WASPS, MOTHS])
    assert read_items(tmp_path) == {"a/bees": BEES, "b/wasps": WASPS, "b/moths": MOTHS}
    assert read_items(tmp_path, "b/") == {"b/wasps": WASPS, "b/moths": MOTHS}
    assert item_names(tmp_path, range(2000)) == {100: ItemNames("aWasps"), 102: ItemNames()}
    record_addresses(tmp_path, {"b/moths": "http://zotero.org/users/1/items/MOTHS"})
    assert item_names(tmp_path, [102]) == {102: ItemNames("", "http://zotero.org/users/1/items/MOTHS")}
    forget_item_documents(tmp_path, [11])
    assert item_names(tmp_path, [100, 102]) == {100: ItemNames("bees")}
    drop_items(tmp_path, ["a/bees"])
    assert read_items(tmp_path) == {}


def test_a_register_of_an_earlier_version(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / REGISTER)) as register:
        register.execute("CREATE TABLE notices (id INTEGER PRIMARY KEY)")
        register.execute("CREATE TABLE papers (paper INTEGER NOT NULL, notice INTEGER NOT NULL)")
        register.execute("INSERT INTO papers VALUES (7, 1)")
        register.commit()
    assert not read_items(tmp_path)
    assert not item_names(tmp_path, [7])
    assert registered_papers(tmp_path) == {7}
    with closing(sqlite3.connect(tmp_path / REGISTER)) as register:  # of a version without addresses
        register.execute("CREATE TABLE items (item, state, document, paper, key)")
        register.execute("INSERT INTO items VALUES ('a/bees', '1', 10, 7, 'bees')")
        register.commit()
    assert item_names(tmp_path, [7]) == {7: ItemNames("bees")}


def test_a_damaged_register(tmp_path: Path) -> None:
    (tmp_path / REGISTER).write_bytes(b"not a database" * 100)
    with pytest.raises(UserError, match=r"notices\.sqlite: cannot be used"):
        read_items(tmp_path)
