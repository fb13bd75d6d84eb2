"""The user's Zotero library: `database` and `localapi` read it, `items` makes papers of items."""

from __future__ import annotations

from collections.abc import Sequence

from whycite.sources.items import SourceItem
from whycite.sources.zotero.database import find_zotero, read_database
from whycite.sources.zotero.items import ZoteroLibrary, choose_collections, source_items

__all__ = ["read_zotero"]


def read_zotero(place: str | None = None, collections: Sequence[str] = ()) -> tuple[list[SourceItem], str | None]:
    """The papers of a Zotero library, and how their names begin if these are all of them.

    `place` is a data folder or the address of Zotero's local interface, by default the user's folder.
    """
    library = _read(place)
    if collections:
        return source_items(choose_collections(library, collections)), None
    return source_items(library.items), library.origin


def _read(place: str | None) -> ZoteroLibrary:
    if place and place.startswith(("http://", "https://")):
        from whycite.sources.zotero.localapi import read_local_api  # its client takes a quarter of a second to load

        return read_local_api(place)
    return read_database(find_zotero(place))
