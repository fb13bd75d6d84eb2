"""Files that a browser sends: safe names, and read by a process that may use only so much memory and time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from whycite.documents.containers import open_archive, unwrap
from whycite.documents.limited import Worker
from whycite.documents.model import Document, Reference
from whycite.documents.plainform import from_plain, to_plain
from whycite.documents.sources import MemoryFolder, Source
from whycite.errors import UserError

__all__ = ["Upload", "read_all", "read_draft", "read_folder", "safe_name", "unpacked"]

_SECONDS = 60.0  # without a sign of life
_MEMORY = 3 << 30  # bytes of address space
_LONGEST = 200  # characters of a name
_ODD = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent."""

    name: str
    data: bytes


def safe_name(name: str) -> str:
    """A relative path that leads nowhere else: no way up, no drive, no odd signs."""
    parts = [_ODD.sub("_", part).strip() for part in name.replace("\\", "/").split("/")]
    kept = [part[-_LONGEST:].strip() for part in parts if part.strip(". ")]
    return "/".join(kept[-8:]) or "file"


def read_all(file: Upload) -> list[Document]:
    """Every document in a file; one that cannot be read says why in its warnings."""
    with _laid_out([file]) as folder:
        found = _WORKER.run(json.dumps({"path": str(folder / file.name), "all": True}).encode(), file.name, _SECONDS)
        return [_without(folder, from_plain(plain)) for plain in found]


def read_draft(files: Sequence[Upload]) -> Document:
    """The one document that the files make together: a project, or a single file."""
    with unpacked(files) as folder:
        return _without(folder, read_folder(folder))


def read_folder(folder: Path) -> Document:
    """The document in a folder that `unpacked` made, under the names that its files have there."""
    inside = [path for path in folder.rglob("*") if path.is_file()]
    path = inside[0] if len(inside) == 1 else folder
    try:
        found = _WORKER.run(json.dumps({"path": str(path), "all": False}).encode(), "the draft", _SECONDS)
    except UserError as error:
        raise UserError(str(error).replace(f"{folder}/", "")) from error
    return from_plain(found[0])


@contextmanager
def unpacked(files: Sequence[Upload]) -> Iterator[Path]:
    """A folder with the files for as long as they are needed; an archive sent alone with what it holds."""
    if len(files) == 1:
        archive = open_archive(unwrap(Source(MemoryFolder({files[0].name: files[0].data}, ""), files[0].name)))
        if archive is not None:
            inside = [Upload(safe_name(name), archive.open(name).read()) for name in archive.names()]
            files = inside or files
    with _laid_out(files) as folder:
        yield folder


@contextmanager
def _laid_out(files: Sequence[Upload]) -> Iterator[Path]:
    with TemporaryDirectory(prefix="whycite-") as made:
        folder = Path(made).resolve()
        for file in files:
            path = folder / safe_name(file.name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.data)
            except OSError as error:  # two names that cannot both be: a file and a folder
                raise UserError(f"{file.name}: cannot be laid out beside the other files") from error
        yield folder


def _without(folder: Path, document: Document) -> Document:
    """The document under the names its files were sent by."""

    def short(text: str) -> str:
        return text.replace(f"{folder}/", "")

    return replace(
        document,
        path=short(document.path),
        sentences=tuple(replace(each, file=short(each.file)) for each in document.sentences),
        asides=tuple(replace(each, file=short(each.file)) for each in document.asides),
        warnings=tuple(map(short, document.warnings)),
    )


def documents(data: bytes, alive: Callable[[], None]) -> list[dict[str, Any]]:
    """What the limited process does: read what lies at a path."""
    from whycite import structure
    from whycite.documents.reading import read, stream

    asked = json.loads(data)
    if not asked["all"]:
        return [to_plain(structure.label(read(asked["path"])))]
    found = []
    try:
        for document in stream(asked["path"]):
            alive()
            found.append(to_plain(structure.label(document)))
    except UserError as error:
        found.append(to_plain(Document(asked["path"], "unknown", Reference(id=""), warnings=(str(error),))))
    return found


_WORKER = Worker("whycite.web.uploads:documents", _MEMORY)
