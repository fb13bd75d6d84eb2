"""Check that all files of a library are what was written, and mend what can be made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from whycite.errors import UserError
from whycite.library.checksums import damaged_files, forget_seal, missing_files, read_seal, seal
from whycite.library.maintenance import index, prune
from whycite.library.paths import REGISTER, default_path
from whycite.library.readingcopy import copy_folder, find_damage, write_copy
from whycite.library.store import Store, has_writer, open_store, plain_errors, writing

__all__ = ["Damage", "DamageKind", "Inspection", "inspect"]

DamageKind = Literal["table", "index", "copy", "checksums", "register"]


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not what was written."""

    file: str  # its path in the library
    kind: DamageKind
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a check of a library found."""

    path: str
    files: int  # files of the tables with a checksum; 0 if a library of an older version has none
    state: str | None  # a checksum of all files of the tables; None if it is not known
    damage: tuple[Damage, ...]

    @property
    def is_sound(self) -> bool:
        """Whether all is as it was written, or was mended."""
        return all(damage.repaired for damage in self.damage)


def inspect(path: Path | str | None, *, repair: bool = False) -> Inspection:
    """Read all files of a library and compare them with their checksums.

    `repair` makes anew what follows from the tables: indices, the reading copy and the list of checksums.
    """
    place = Path(path).expanduser() if path is not None else default_path()
    with plain_errors(place):
        damage = _find_table_damage(place)
        if any(found.kind == "table" for found in damage):  # it may not even open
            return Inspection(str(place), _sealed_files(place), None, tuple(damage))
        store = _open(place)
        damage += _find_other_damage(store)
        if repair:
            with writing(place, "library check --repair"):
                store = _open(place)
                damage = _repair(store, damage)
        return Inspection(str(place), _sealed_files(place), _state(store), tuple(damage))


def _sealed_files(place: Path) -> int:
    try:
        sealed = read_seal(place)
    except UserError:  # in the report already
        return 0
    return len(sealed.files) if sealed else 0


def _state(store: Store) -> str | None:
    try:
        sealed = read_seal(store.path)
    except UserError:  # in the report already
        return None
    return sealed.state if sealed is not None and sealed.commit == store.commit.number else None


def _open(place: Path) -> Store:
    store = open_store(place, verify=False)
    if store is None:
        raise UserError(f"{place}: no library here yet; create one with: whycite add FOLDER")
    return store


def _find_table_damage(place: Path) -> list[Damage]:
    try:
        files = damaged_files(place)
        if not has_writer(place):  # which may drop what is no longer needed
            files += missing_files(place)
    except UserError:
        return [Damage("checksums.json", "checksums")]
    return [Damage(file, "index" if "_indices" in Path(file).parts else "table") for file in files]


def _find_other_damage(store: Store) -> list[Damage]:
    damage = []
    home = copy_folder(store.path, store.commit)
    for file in find_damage(store.path, store.commit):
        place = home / file if (home / file).exists() else home.parent / file
        damage.append(Damage(place.relative_to(store.path).as_posix(), "copy"))
    if _is_register_damaged(store.path / REGISTER):
        damage.append(Damage(REGISTER, "register"))
    return damage


def _is_register_damaged(register: Path) -> bool:
    if not register.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{register.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("PRAGMA integrity_check").fetchone() != ("ok",))
    except sqlite3.DatabaseError:
        return True


def _repair(store: Store, damage: list[Damage]) -> list[Damage]:
    """Make anew what can be."""
    kinds = {found.kind for found in damage}
    store.roll_back()
    broken = [found.file for found in damage if found.kind == "index"]
    for name in {Path(file).parts[0].removesuffix(".lance") for file in broken}:
        for entry in store[name].list_indices():
            store[name].drop_index(entry.name)
    if broken:
        index(store)
        store.save()
        prune(store, everything=True)
        for file in broken:  # of versions that some reader may still have open
            (store.path / file).unlink(missing_ok=True)
    if kinds & {"index", "copy"}:
        write_copy(store, anew=True)
    if "checksums" in kinds:
        forget_seal(store.path)
    seal(store.path, store.commit)
    return [replace(found, repaired=found.kind != "register") for found in damage]
