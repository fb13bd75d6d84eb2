"""Zotero's database: found, copied with what is not yet in it, never opened in place, and read in a few queries."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from whycite.errors import UserError
from whycite.sources.zotero.items import ADDRESSES, Attachment, Creator, ZoteroItem, ZoteroLibrary

__all__ = ["USER_LIBRARY", "ZoteroPlace", "find_zotero", "read_database"]

USER_LIBRARY = "My Library"  # as Zotero calls it
_BETTER_BIBTEX = ("better-bibtex.sqlite", "better-bibtex.migrated")
_SIDE_FILES = ("-wal", "-journal")  # changes that are not yet in the database, or not yet certain
_TRIES = 5  # a copy is taken again if Zotero wrote meanwhile
_PAUSE = 0.2  # seconds before the second try, and more before each later one
_TEXT = ".zotero-ft-cache"
_LINKED_FILE, _LINKED_ADDRESS = 2, 3  # of Zotero's link modes; in all others the file is in Zotero's storage
_NO_PAPERS = ("attachment", "note", "annotation")
DATABASE = "zotero.sqlite"
_SETTING = re.compile(r'^user_pref\("extensions\.zotero\.(\w+)", (".*"|true|false|-?\d+)\);\s*$', re.MULTILINE)
_HINT = "Zotero shows its folder under Settings → Advanced → Files and Folders; name it: whycite add --zotero FOLDER"

Rows = defaultdict[int, list[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class ZoteroPlace:
    """A Zotero data folder, and the folder that linked attachments are relative to, if one is set."""

    folder: Path
    linked: Path | None = None

    @property
    def database(self) -> Path:
        """The database."""
        return self.folder / DATABASE


def find_zotero(path: str | Path | None = None) -> ZoteroPlace:
    """The data folder at a path, or the user's own."""
    profiles = [_settings(file) for file in _profiles()]
    if path is not None:
        place = Path(path).expanduser()
        folder = place.parent if place.name == DATABASE else place
        if not (folder / DATABASE).is_file():
            raise UserError(f"{folder}: no Zotero library here (no {DATABASE}). {_HINT}")
        return ZoteroPlace(folder, _linked_folder(profiles, folder))
    folders = [Path(setting) for settings in profiles if (setting := _data_folder(settings))]
    folders.append(Path.home() / "Zotero")
    for folder in folders:
        if (folder / DATABASE).is_file():
            return ZoteroPlace(folder, _linked_folder(profiles, folder))
    raise UserError(f"no Zotero library found in {', '.join(map(str, dict.fromkeys(folders)))}. {_HINT}")


def _profiles() -> Iterator[Path]:
    """The settings files of Zotero's profiles, the one used last first."""
    home = Path.home()
    if sys.platform == "darwin":
        folders = [home / "Library" / "Application Support" / "Zotero" / "Profiles"]
    elif sys.platform == "win32":
        folders = [Path(os.environ.get("APPDATA", home / "AppData" / "Roaming")) / "Zotero" / "Zotero" / "Profiles"]
    else:
        folders = [home / ".zotero" / "zotero", home / ".var/app/org.zotero.Zotero/data/zotero/zotero"]
    files = [file for folder in folders for file in folder.glob("*/prefs.js")]
    yield from sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)


def _settings(file: Path) -> Mapping[str, object]:
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:  # another user's, or just replaced: the default folder is tried as well
        return {}
    settings: dict[str, object] = {}
    for name, value in _SETTING.findall(text):
        try:
            settings[name] = json.loads(value)
        except ValueError:
            continue  # an escape that JSON does not have
    return settings


def _data_folder(settings: Mapping[str, object]) -> str:
    folder = settings.get("dataDir")
    return folder if settings.get("useDataDir") and isinstance(folder, str) else ""


def _linked_folder(profiles: list[Mapping[str, object]], folder: Path) -> Path | None:
    """The base folder of linked attachments, of the profile that uses this data folder or of the last one."""
    ordered = sorted(profiles, key=lambda settings: _data_folder(settings) != str(folder))
    setting = next((settings.get("baseAttachmentPath") for settings in ordered), None)
    return Path(setting) if isinstance(setting, str) and setting else None


def read_database(place: ZoteroPlace) -> ZoteroLibrary:
    """All items of the user's library and of the groups, except those in the bin and in feeds."""
    with copied_database(place.database) as database:
        return _DatabaseReading(place, database, _better_bibtex_keys(place.folder)).library()


@contextmanager
def copied_database(file: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a database, so that a program that has locked it is not disturbed."""
    with tempfile.TemporaryDirectory(prefix="whycite-") as folder:
        copy = Path(folder) / file.name
        _copy(file, copy)
        try:
            with closing(sqlite3.connect(copy)) as database:
                yield database
        except sqlite3.Error as error:
            raise UserError(f"{file}: cannot be read as a database of Zotero 5 or later ({error})") from error


def _copy(file: Path, copy: Path) -> None:
    for attempt in range(_TRIES):
        old_states = _file_states(file)
        for suffix in ("", *_SIDE_FILES):
            source, target = file.with_name(file.name + suffix), copy.with_name(copy.name + suffix)
            target.unlink(missing_ok=True)
            try:
                shutil.copyfile(source, target)
            except FileNotFoundError:
                if not suffix:
                    raise UserError(f"{file}: no such file") from None
            except OSError as error:
                raise UserError(f"{source}: cannot be copied: {error.strerror or error}") from error
        if _file_states(file) == old_states:
            return
        time.sleep(_PAUSE * (attempt + 1))
    raise UserError(f"{file}: Zotero is writing to it; try again in a moment")


def _file_states(file: Path) -> list[tuple[int, int] | None]:
    states: list[tuple[int, int] | None] = []
    for suffix in ("", *_SIDE_FILES):
        try:
            state = file.with_name(file.name + suffix).stat()
        except OSError:
            states.append(None)
        else:
            states.append((state.st_mtime_ns, state.st_size))
    return states


def _better_bibtex_keys(folder: Path) -> dict[tuple[int, str], str]:
    """The keys of the extension Better BibTeX, by library and item: a table, or in older versions JSON in one."""
    for name in _BETTER_BIBTEX:
        if (folder / name).is_file():
            with copied_database(folder / name) as database:
                tables = {table for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if "citationkey" in tables:
                    rows = database.execute("SELECT libraryID, itemKey, citationKey FROM citationkey")
                    return {(library, item): key for library, item, key in rows}
                if "better-bibtex" in tables:
                    rows = database.execute("SELECT data FROM `better-bibtex` WHERE name = 'better-bibtex.citekey'")
                    return {
                        (row["libraryID"], row["itemKey"]): row["citekey"]
                        for (text,) in rows
                        for row in json.loads(text).get("data", ())
                    }
    return {}


class _DatabaseReading:
    """The tables of a database, joined into items."""

    def __init__(self, place: ZoteroPlace, database: sqlite3.Connection, keys: Mapping[tuple[int, str], str]) -> None:
        self._place, self._database, self._keys = place, database, keys
        self._tables = {table for (table,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._groups: dict[int, str] = dict(self._rows("SELECT libraryID, name FROM groups"))
        self._libraries = self._library_names()
        self._addresses = self._read_addresses()
        self._collection_paths = self._read_collections()

    def library(self) -> ZoteroLibrary:
        """The items, by library and key."""
        fields = self._by_item(
            "SELECT itemID, fieldName, value FROM itemData JOIN fields USING (fieldID) "
            "JOIN itemDataValues USING (valueID)"
        )
        creators = self._by_item(
            "SELECT itemID, creatorType, lastName, firstName FROM itemCreators JOIN creators USING (creatorID) "
            "JOIN creatorTypes USING (creatorTypeID) ORDER BY itemID, orderIndex"
        )
        attachments = self._read_attachments()
        members = self._by_item("SELECT itemID, collectionID FROM collectionItems")
        retracted = (
            {item for (item,) in self._rows("SELECT itemID FROM retractedItems WHERE data IS NOT NULL")}
            if "retractedItems" in self._tables
            else set()
        )
        items = [
            ZoteroItem(
                self._name(library, key),
                kind,
                # The title of a file without an item is its name.
                {} if kind in _NO_PAPERS else {name: str(value) for name, value in fields[item]},
                tuple(Creator(role, family or "", given or "") for role, family, given in creators[item]),
                tuple(attachments.get(item, ())),
                self._paths(library, [int(collection) for (collection,) in members[item]]),
                self._keys.get((library, key), ""),
                item in retracted,
                f"{self._addresses[library]}/items/{key}" if library in self._addresses else "",
            )
            for item, library, key, kind in self._rows(
                "SELECT itemID, libraryID, key, typeName FROM items JOIN itemTypes USING (itemTypeID) "
                "WHERE itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY libraryID, key"
            )
            if library in self._libraries and (kind not in _NO_PAPERS or item in attachments)
        ]
        collections = {*self._collection_paths.values(), *((name,) for name in self._libraries.values())}
        return ZoteroLibrary(f"{self._place.database}/", tuple(items), frozenset(collections))

    def _rows(self, query: str) -> sqlite3.Cursor:
        return self._database.execute(query)

    def _by_item(self, query: str) -> Rows:
        rows: Rows = defaultdict(list)
        for item, *values in self._rows(query):
            rows[item].append(tuple(values))
        return rows

    def _library_names(self) -> dict[int, str]:
        """The libraries by name, without feeds."""
        libraries = self._rows("SELECT libraryID FROM libraries WHERE type IN ('user', 'group', 'publications')")
        return {id: self._groups.get(id, USER_LIBRARY) for (id,) in libraries}

    def _read_addresses(self) -> dict[int, str]:
        """The addresses of libraries: a user who never signed in has a key instead of a number."""
        addresses = {
            library: f"{ADDRESSES}/groups/{group}"
            for library, group in self._rows("SELECT libraryID, groupID FROM groups")
        }
        account: dict[str, str] = (
            dict(self._rows("SELECT key, value FROM settings WHERE setting = 'account'"))
            if "settings" in self._tables
            else {}
        )
        user = account.get("userID") or (f"local/{key}" if (key := account.get("localUserKey")) else "")
        if user:
            addresses |= dict.fromkeys(self._libraries.keys() - addresses.keys(), f"{ADDRESSES}/users/{user}")
        return addresses

    def _name(self, library: int, key: str) -> str:
        place = f"{self._place.database}/groups/{library}" if library in self._groups else self._place.database
        return f"{place}/{key}"

    def _read_collections(self) -> dict[int, tuple[str, ...]]:
        deleted = "deletedCollections" in self._tables
        condition = "WHERE collectionID NOT IN (SELECT collectionID FROM deletedCollections)" if deleted else ""
        rows = {
            id: (name, parent, library)
            for id, name, parent, library in self._rows(
                f"SELECT collectionID, collectionName, parentCollectionID, libraryID FROM collections {condition}"
            )
            if library in self._libraries
        }
        paths: dict[int, tuple[str, ...]] = {}
        for id, (_, _, library) in rows.items():
            names: list[str] = []
            ancestor, seen = id, set()
            while ancestor in rows and ancestor not in seen:
                seen.add(ancestor)
                names.append(rows[ancestor][0])
                ancestor = rows[ancestor][1]
            paths[id] = (self._libraries[library], *reversed(names))
        return paths

    def _paths(self, library: int, collections: list[int]) -> tuple[tuple[str, ...], ...]:
        """The collections of an item, and its library."""
        paths = {self._collection_paths[id] for id in collections if id in self._collection_paths}
        return ((self._libraries[library],), *sorted(paths))

    def _read_attachments(self) -> dict[int, list[Attachment]]:
        """The files of each item, those that were added first in front; a file without an item is its own."""
        attachments: defaultdict[int, list[Attachment]] = defaultdict(list)
        rows = self._rows(
            "SELECT itemID, parentItemID, items.key, linkMode, path FROM itemAttachments JOIN items USING (itemID) "
            "WHERE itemID NOT IN (SELECT itemID FROM deletedItems) AND path IS NOT NULL ORDER BY dateAdded, itemID"
        )
        for item, parent, key, mode, path in rows:
            if mode != _LINKED_ADDRESS and (file := self._file(key, mode, path)):
                attachments[parent or item].append(Attachment(file, self._place.folder / "storage" / key / _TEXT))
        return dict(attachments)

    def _file(self, key: str, mode: int, path: str) -> Path | None:
        if path.startswith("storage:"):
            return self._place.folder / "storage" / key / path.removeprefix("storage:")
        if path.startswith("attachments:"):
            return self._place.linked / path.removeprefix("attachments:") if self._place.linked else None
        return Path(path) if mode == _LINKED_FILE else None
