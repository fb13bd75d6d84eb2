"""Files that a browser sends: safe names, and read by a process that may use only so much memory and time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whycite.documents.limited import Worker
from whycite.documents.model import Document
from whycite.documents.plainform import from_plain, to_plain
from whycite.errors import UserError

__all__ = ["Upload", "read_all", "read_draft", "safe_name"]

_SECONDS = 60.0  # without a sign of life
_MEMORY = 3 << 30  # bytes of address space
_LONGEST = 200  # characters of a name
_ODD = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")
_HEAD = 8  # bytes that say how long the list of names is


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent."""

    name: str
    data: bytes


def safe_name(name: str) -> str:
    """A relative path that leads nowhere else: no way up, no drive, no odd signs."""
    parts = [_ODD.sub("_", part).strip() for part in name.replace("\\", "/").split("/")]
    kept = [part[-_LONGEST:] for part in parts if part.strip(". ")]
    return "/".join(kept[-8:]) or "file"


def read_all(files: Sequence[Upload]) -> list[Document]:
    """Every document in the files, each file for itself; one that cannot be read says why in its warnings."""
    return [document for file in files for document in _read([file], whole=False)]


def read_draft(files: Sequence[Upload]) -> Document:
    """The one document that the files make together: a project, or a single file."""
    found = _read(files, whole=True)
    if not found:
        raise UserError("there is nothing in these files that whycite can read")
    return found[0]


def _read(files: Sequence[Upload], whole: bool) -> list[Document]:
    names = [safe_name(file.name) for file in files]
    head = json.dumps({"whole": whole, "files": list(zip(names, (len(file.data) for file in files), strict=True))})
    data = b"".join([len(head.encode()).to_bytes(_HEAD, "big"), head.encode(), *(file.data for file in files)])
    return [from_plain(plain) for plain in _WORKER.run(data, names[0], _SECONDS)]


def documents(data: bytes, alive: Callable[[], None]) -> list[dict[str, Any]]:
    """What the limited process does: the documents in the files that `_read` packed."""
    from whycite import structure
    from whycite.documents.reading import read_memory

    begin = _HEAD + int.from_bytes(data[:_HEAD], "big")
    head = json.loads(data[_HEAD:begin])
    files: dict[str, bytes] = {}
    for name, length in head["files"]:
        files[name] = data[begin : begin + length]
        begin += length
    found = []
    try:
        for document in read_memory(files):
            alive()
            found.append(to_plain(structure.label(document)))
            if head["whole"]:
                break
    except UserError as error:
        if head["whole"]:
            raise
        found.append(to_plain(_unread(next(iter(files)), str(error))))
    return found


def _unread(name: str, reason: str) -> Document:
    from whycite.documents.model import Reference

    return Document(name, "unknown", Reference(id=""), warnings=(reason,))


_WORKER = Worker("whycite.web.uploads:documents", _MEMORY)
