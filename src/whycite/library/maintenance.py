"""Removing documents from a library, and packing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.library.copying import copy
from whycite.library.encoding import encoder_of
from whycite.library.indexing import index, prune
from whycite.library.library import Library
from whycite.library.lock import writing
from whycite.library.model import Entry
from whycite.library.paths import absolute
from whycite.library.place import default_path
from whycite.library.removing import forget
from whycite.library.rows import storable
from whycite.library.store import Store, open_store, plain_errors

__all__ = ["compact", "remove"]


def remove(path: Path | str | None, selectors: Sequence[str], *, encoder: Encoder | None = None) -> list[Entry]:
    """Take documents out, named by key, path or id; all of them or, where one is not there, none."""
    place = Path(path).expanduser() if path is not None else default_path()
    entries = list(Library.open(place).documents())
    chosen: dict[int, Entry] = {}
    for selector in selectors:
        names = {storable(selector), storable(absolute(selector))} - {""}  # which all documents without key have
        found = [entry for entry in entries if names & {entry.key, entry.path, str(entry.id)}]
        if not found:
            raise UserError(f"{place}: no document '{selector}'; see them with: whycite library list")
        chosen |= {entry.id: entry for entry in found}
    with writing(place, "library remove"), plain_errors(place):
        store = _store(place)
        forget(store, sorted(chosen), encoder or encoder_of(store.commit.encoder, place))
        store.save()
        prune(store)
        copy(store)
    return list(chosen.values())


def compact(path: Path | str | None) -> tuple[int, int]:
    """Pack the tables, bring the indices up to date, drop old versions; bytes before and after."""
    place = Path(path).expanduser() if path is not None else default_path()
    before = Library.open(place).info().bytes
    with writing(place, "library compact"), plain_errors(place):
        store = _store(place)
        index(store, everything=True)
        store.save()
        prune(store, everything=True)
        copy(store, anew=True)
    return before, Library.open(place).info().bytes


def _store(place: Path) -> Store:
    store = open_store(place)
    if store is None:
        raise UserError(f"{place}: no library here any more")
    store.take_back()
    return store
