"""Zotero's local interface: a running Zotero answers on this machine, if its settings allow it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from whycite.errors import UserError
from whycite.references.client import ServiceClient, ServiceFailure
from whycite.sources.zotero.database import USER_LIBRARY
from whycite.sources.zotero.items import ADDRESSES, Attachment, Creator, ZoteroItem, ZoteroLibrary

__all__ = ["read_local_api"]

_PAGE = 100  # items in one answer
_HINT = (
    "start Zotero, and allow other applications to communicate with it under Settings → Advanced, "
    "or name Zotero's folder instead"
)
_DRIVE = re.compile(r"\A/([A-Za-z]:)")  # file:///C:/Users
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def read_local_api(address: str) -> ZoteroLibrary:
    """All items of the user's library and of the groups, as a running Zotero tells them."""
    if urlsplit(address).hostname not in _LOOPBACK:
        raise UserError(f"{address}: not on this machine; Zotero's local interface is at http://127.0.0.1:23119")
    base = f"{address.rstrip('/').removesuffix('/api')}/api"
    with ServiceClient() as client:
        try:
            return _ApiReading(client, base).library()
        except ServiceFailure as failure:
            raise UserError(f"{address}: Zotero {failure}; {_HINT}") from failure


class _ApiReading:
    """The answers of Zotero, joined into items."""

    def __init__(self, client: ServiceClient, base: str) -> None:
        self._client, self._base = client, base

    def library(self) -> ZoteroLibrary:
        """The items of all libraries."""
        libraries = {"users/0": USER_LIBRARY}
        for group in self._pages("users/0/groups"):
            libraries[f"groups/{group['id']}"] = str(_data(group).get("name", group["id"]))
        items: list[ZoteroItem] = []
        collections: set[tuple[str, ...]] = {(name,) for name in libraries.values()}
        for prefix, name in libraries.items():
            paths = self._collections(prefix, name)
            collections.update(paths.values())
            items += self._items(prefix, name, paths)
        return ZoteroLibrary(f"{self._base}/", tuple(items), frozenset(collections))

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        start = 0
        while True:
            question = {"format": "json", "limit": str(_PAGE), "start": str(start), "v": "3"}
            answer = self._client.get("Zotero", f"{self._base}/{path}", question, 0.0).json()
            rows = [row for row in answer if isinstance(row, dict)] if isinstance(answer, list) else []
            yield from rows
            if len(rows) < _PAGE:
                return
            start += _PAGE

    def _collections(self, prefix: str, library: str) -> dict[str, tuple[str, ...]]:
        rows = {row["key"]: _data(row) for row in self._pages(f"{prefix}/collections")}
        paths: dict[str, tuple[str, ...]] = {}
        for key in rows:
            names: list[str] = []
            ancestor: object = key
            while isinstance(ancestor, str) and ancestor in rows and len(names) <= len(rows):
                names.append(str(rows[ancestor].get("name", "")))
                ancestor = rows[ancestor].get("parentCollection")
            paths[key] = (library, *reversed(names))
        return paths

    def _items(self, prefix: str, library: str, paths: Mapping[str, tuple[str, ...]]) -> Iterator[ZoteroItem]:
        rows = list(self._pages(f"{prefix}/items"))
        attachments: defaultdict[str, list[Attachment]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: str(_data(row).get("dateAdded", ""))):
            if _data(row).get("itemType") == "attachment" and (file := _file(row)):
                owner = str(_data(row).get("parentItem") or row["key"])
                attachments[owner].append(Attachment(file, file.with_name(".zotero-ft-cache")))
        for row in sorted(rows, key=lambda row: str(row["key"])):
            fields, key = _data(row), str(row["key"])
            kind = str(fields.get("itemType", ""))
            if kind in ("note", "annotation") or (kind == "attachment" and key not in attachments):
                continue
            members = {paths[collection] for collection in fields.get("collections") or () if collection in paths}
            yield ZoteroItem(
                f"{self._base}/{prefix}/items/{key}",
                kind,
                {name: value for name, value in fields.items() if isinstance(value, str)}
                if kind != "attachment"
                else {},
                tuple(_creators(fields)),
                tuple(attachments[key]),
                ((library,), *sorted(members)),
                address=_address(row, key),
            )


def _data(row: Mapping[str, Any]) -> Mapping[str, Any]:
    data = row.get("data")
    return data if isinstance(data, dict) else {}


def _address(row: Mapping[str, Any], key: str) -> str:
    """The address of an item; "" if Zotero does not say whose library it is in."""
    library = row.get("library")
    kind, number = (library.get("type"), library.get("id")) if isinstance(library, dict) else (None, None)
    return f"{ADDRESSES}/{kind}s/{number}/items/{key}" if kind in ("user", "group") and number else ""


def _creators(fields: Mapping[str, Any]) -> Iterator[Creator]:
    for creator in fields.get("creators") or ():
        if isinstance(creator, dict):
            family = creator.get("lastName") or creator.get("name") or ""
            yield Creator(str(creator.get("creatorType", "")), str(family), str(creator.get("firstName") or ""))


def _file(row: Mapping[str, Any]) -> Path | None:
    """The file of an attachment, which Zotero names by an address on this machine, or a linked file by its path."""
    links = row.get("links")
    enclosure = links.get("enclosure") if isinstance(links, dict) else None
    address = str(enclosure.get("href", "")) if isinstance(enclosure, dict) else ""
    if address.startswith("file:"):
        return Path(_DRIVE.sub(r"\1", unquote(urlsplit(address).path)))
    path = str(_data(row).get("path") or "")
    return Path(path) if Path(path).is_absolute() else None
