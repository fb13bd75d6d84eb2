"""Makes a Zotero data folder: the database by the schema of Zotero 7, storage, and the database of Better BibTeX.

python -m tests.sources.zoterofolder FOLDER [ITEMS]
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import count, product
from pathlib import Path

# The tables that hold papers, with all of their columns, as Zotero creates them.
SCHEMA = """
CREATE TABLE version (schema TEXT PRIMARY KEY, version INT NOT NULL);
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL,
    filesEditable INT NOT NULL, version INT NOT NULL DEFAULT 0, storageVersion INT NOT NULL DEFAULT 0,
    lastSync INT NOT NULL DEFAULT 0, archived INT NOT NULL DEFAULT 0);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL,
    description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL,
    dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
    charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT,
    lastProcessedModificationTime INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT,
    UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
    orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex),
    UNIQUE (itemID, orderIndex));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
    parentCollectionID INT DEFAULT NULL, clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0,
    UNIQUE (libraryID, key));
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0,
    PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE deletedCollections (collectionID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE settings (setting TEXT, key TEXT, value, PRIMARY KEY (setting, key));
CREATE TABLE retractedItems (itemID INTEGER PRIMARY KEY, data TEXT, flag INT DEFAULT 0);
"""
TYPES = {
    "note": 1, "book": 2, "bookSection": 3, "journalArticle": 4, "thesis": 7, "attachment": 14, "report": 15,
    "conferencePaper": 33, "annotation": 37, "preprint": 39,
}  # fmt: skip
FIELDS = {
    "url": 1, "volume": 4, "issue": 5, "place": 7, "publisher": 8, "pages": 10, "ISBN": 11, "publicationTitle": 12,
    "ISSN": 13, "date": 14, "extra": 22, "DOI": 26, "accessDate": 27, "thesisType": 69, "university": 89,
    "abstractNote": 90, "title": 110, "proceedingsTitle": 114, "bookTitle": 115, "repository": 126, "archiveID": 127,
    "citationKey": 128,
}  # fmt: skip
CREATORS = {"author": 8, "editor": 10}
KEYS = ("".join(letters) for letters in product("23456789ABCDEFGHIJKLMNPQRSTUVWXYZ", repeat=8))
USER, GROUP = 1, 2


class ZoteroFolder:
    """A Zotero data folder that tests fill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.database = sqlite3.connect(folder / "zotero.sqlite")
        self.database.execute("PRAGMA journal_mode = wal")
        self.database.executescript(SCHEMA)
        insert = self.database.executemany
        insert("INSERT INTO version VALUES (?, ?)", [("userdata", 123), ("globalSchema", 36)])
        insert("INSERT INTO settings VALUES ('account', ?, ?)", [("localUserKey", "gVY292am")])
        insert("INSERT INTO itemTypes VALUES (?, ?, NULL, 1)", [(id, name) for name, id in TYPES.items()])
        insert("INSERT INTO fields VALUES (?, ?, NULL)", [(id, name) for name, id in FIELDS.items()])
        insert("INSERT INTO creatorTypes VALUES (?, ?)", [(id, name) for name, id in CREATORS.items()])
        insert(
            "INSERT INTO libraries (libraryID, type, editable, filesEditable) VALUES (?, ?, 1, 1)",
            [(USER, "user"), (GROUP, "group"), (3, "feed")],
        )
        self.database.execute("INSERT INTO groups VALUES (4711, ?, 'Sleep lab', '', 1)", (GROUP,))
        self.database.commit()
        self._ids = count(1)

    def item(
        self,
        kind: str = "journalArticle",
        authors: Sequence[str | tuple[str, str]] = (),
        library: int = USER,
        key: str = "",
        **fields: str,
    ) -> int:
        """Adds an item; an author is "Family, Given", or an organisation."""
        item, key = next(self._ids), key or next(KEYS)
        self.database.execute(
            "INSERT INTO items (itemID, itemTypeID, libraryID, key, dateAdded) VALUES (?, ?, ?, ?, ?)",
            (item, TYPES[kind], library, key, f"2024-01-01 00:00:{item % 60:02}"),
        )
        for name, value in fields.items():
            self.set(item, name, value)
        for position, author in enumerate(authors):
            role, name = author if isinstance(author, tuple) else ("author", author)
            family, _, given = name.partition(", ")
            self.database.execute(
                "INSERT OR IGNORE INTO creators VALUES (NULL, ?, ?, ?)", (given, family, int(not given))
            )
            [[creator]] = self.database.execute(
                "SELECT creatorID FROM creators WHERE lastName = ? AND firstName = ?", (family, given)
            )
            self.database.execute(
                "INSERT INTO itemCreators VALUES (?, ?, ?, ?)", (item, creator, CREATORS[role], position)
            )
        self.database.commit()
        return item

    def set(self, item: int, field: str, value: str) -> None:
        """Sets a field of an item."""
        self.database.execute("INSERT OR IGNORE INTO itemDataValues VALUES (NULL, ?)", (value,))
        self.database.execute(
            "INSERT OR REPLACE INTO itemData SELECT ?, ?, valueID FROM itemDataValues WHERE value = ?",
            (item, FIELDS[field], value),
        )
        self.database.commit()

    def key(self, item: int) -> str:
        """The key of an item."""
        [[key]] = self.database.execute("SELECT key FROM items WHERE itemID = ?", (item,))
        return str(key)

    def attach(
        self,
        parent: int | None,
        data: bytes | None,
        name: str = "paper.pdf",
        text: str = "",
        path: str = "",
        library: int = USER,
    ) -> int:
        """Attaches a file, in the storage unless a path is given, with the text that Zotero found in it."""
        item = self.item("attachment", library=library, title=name)
        mode = 2 if path else 1
        self.database.execute(
            "INSERT INTO itemAttachments (itemID, parentItemID, linkMode, contentType, path) VALUES (?, ?, ?, ?, ?)",
            (item, parent, mode, "application/pdf", path or f"storage:{name}"),
        )
        self.database.commit()
        storage = self.folder / "storage" / self.key(item)
        storage.mkdir(parents=True, exist_ok=True)
        if data is not None:
            (storage / name).write_bytes(data)
        if text:
            (storage / ".zotero-ft-cache").write_text(text, "utf-8")
        return item

    def collection(self, name: str, items: Sequence[int], parent: int | None = None, library: int = USER) -> int:
        """Adds a collection."""
        cursor = self.database.execute(
            "INSERT INTO collections (collectionName, parentCollectionID, libraryID, key) VALUES (?, ?, ?, ?)",
            (name, parent, library, next(KEYS)),
        )
        collection = int(cursor.lastrowid or 0)
        rows = [(collection, item) for item in items]
        self.database.executemany("INSERT INTO collectionItems VALUES (?, ?, 0)", rows)
        self.database.commit()
        return collection

    def trash(self, item: int) -> None:
        """Moves an item to the bin."""
        self.database.execute("INSERT INTO deletedItems (itemID) VALUES (?)", (item,))
        self.database.commit()

    def sign_in(self, user: int) -> None:
        """Marks the library as that of an account."""
        self.database.execute("INSERT OR REPLACE INTO settings VALUES ('account', 'userID', ?)", (user,))
        self.database.commit()

    def retract(self, item: int) -> None:
        """Marks an item as Zotero does when Retraction Watch has it."""
        self.database.execute("INSERT INTO retractedItems VALUES (?, ?, 0)", (item, json.dumps({"urls": []})))
        self.database.commit()

    def better_bibtex(self, keys: Mapping[int, str], library: int = USER, *, old: bool = False) -> None:
        """Writes the database of Better BibTeX, or that of its versions before 2023."""
        rows = [(item, self.key(item), library, key, 0) for item, key in keys.items()]
        file = self.folder / "better-bibtex.sqlite"
        file.unlink(missing_ok=True)
        with closing(sqlite3.connect(file)) as database:
            if old:
                records = [{"libraryID": row[2], "itemKey": row[1], "citekey": row[3]} for row in rows]
                database.execute("CREATE TABLE `better-bibtex` (name TEXT PRIMARY KEY NOT NULL, data TEXT NOT NULL)")
                database.execute(
                    "INSERT INTO `better-bibtex` VALUES ('better-bibtex.citekey', ?)", (json.dumps({"data": records}),)
                )
            else:
                database.execute(
                    "CREATE TABLE citationkey (itemID NOT NULL PRIMARY KEY, itemKey NOT NULL, libraryID NOT NULL, "
                    "citationKey NOT NULL, pinned, UNIQUE (libraryID, itemKey))"
                )
                database.executemany("INSERT INTO citationkey VALUES (?, ?, ?, ?, ?)", rows)
            database.commit()

    def fill(self, number: int) -> None:
        """Adds many items at once: papers with a title, an abstract, authors and a DOI."""
        self.database.executemany(
            "INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES (?, ?, ?, ?)",
            ((id, TYPES["journalArticle"], USER, next(KEYS)) for id in range(1000, 1000 + number)),
        )
        values: list[tuple[int, int, str]] = []
        for id in range(1000, 1000 + number):
            values.append((id, FIELDS["title"], f"On the sleep of bees in colony number {id}"))
            values.append((id, FIELDS["DOI"], f"10.5555/colony.{id}"))
            values.append((id, FIELDS["date"], f"{1990 + id % 30}-00-00 {1990 + id % 30}"))
            values.append((id, FIELDS["extra"], f"Citation Key: colony{id}"))
        self.database.executemany(
            "INSERT OR IGNORE INTO itemDataValues VALUES (NULL, ?)", ((row[2],) for row in values)
        )
        self.database.executemany(
            "INSERT INTO itemData SELECT ?, ?, valueID FROM itemDataValues WHERE value = ?", values
        )
        self.database.commit()

    def close(self) -> None:
        """Ends the work on the database."""
        self.database.close()


if __name__ == "__main__":
    made = ZoteroFolder(Path(sys.argv[1]))
    made.fill(int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    made.close()
