"""Where bytes come from: a file in a folder that cannot be left, on disk or inside an archive."""

from __future__ import annotations

import codecs
import io
import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from whycite.errors import UserError

__all__ = ["DiskFolder", "Folder", "MemoryFolder", "Source", "decode"]

MAX_FILE = 64 << 20  # no text of one document is larger; a stream of records may be
_HEAD = 1 << 16


class Folder(Protocol):
    """A tree of files by relative POSIX path, with nothing above it."""

    warnings: list[str]

    def names(self) -> list[str]: ...

    def __contains__(self, name: object) -> bool: ...

    def open(self, name: str) -> BinaryIO: ...

    def path(self, name: str) -> str:
        """How messages and documents call a file of it."""

    def inside(self, name: str) -> Folder:
        """The folder of that name in it, as a folder of its own."""


class DiskFolder:
    """A folder on disk; links that lead out of it are as good as missing, hidden files are not listed."""

    def __init__(self, root: Path, label: str | None = None) -> None:
        self.root = root.resolve()
        self.label = str(root) if label is None else label
        self.warnings: list[str] = []

    def names(self) -> list[str]:
        found: list[str] = []
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(self.root / folder))
            except OSError as error:
                self.warnings.append(f"{self.path(folder)}: {error.strerror or error}")
                continue
            for entry in entries:
                name = posixpath.join(folder, entry.name)
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                elif entry.is_file(follow_symlinks=False) or name in self:
                    found.append(name)
        return sorted(found)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or "\0" in name:
            return False
        try:
            path = (self.root / name).resolve()
            return path.is_relative_to(self.root) and path.is_file()
        except (OSError, RuntimeError):  # a name too long, a loop of links: no file we can read
            return False

    def open(self, name: str) -> BinaryIO:
        if name not in self:
            raise UserError(f"{self.path(name)}: no such file")
        try:
            return (self.root / name).open("rb")
        except OSError as error:
            raise UserError(f"{self.path(name)}: {error.strerror or error}") from error

    def path(self, name: str) -> str:
        return posixpath.join(self.label, name)

    def inside(self, name: str) -> DiskFolder:
        return DiskFolder(self.root / name, self.path(name))


class MemoryFolder:
    """Files held in memory: an unpacked archive, standard input."""

    def __init__(self, files: Mapping[str, bytes], label: str) -> None:
        self._files = files
        self.label = label
        self.warnings: list[str] = []

    def names(self) -> list[str]:
        return sorted(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self._files[name])

    def path(self, name: str) -> str:
        return posixpath.join(self.label, name)

    def inside(self, name: str) -> MemoryFolder:
        files = {path[len(name) + 1 :]: data for path, data in self._files.items() if path.startswith(name + "/")}
        return MemoryFolder(files, self.path(name))


@dataclass(frozen=True)
class Source:
    """One file of a folder."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        """How messages and documents call it."""
        return self.folder.path(self.name)

    def open(self) -> BinaryIO:
        """The bytes as a stream."""
        return self.folder.open(self.name)

    def head(self) -> bytes:
        """The first bytes, enough to tell the format."""
        with self.open() as stream:
            return stream.read(_HEAD)

    def data(self, limit: int = MAX_FILE) -> bytes:
        """All bytes; a file larger than a document can be is refused."""
        with self.open() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise UserError(f"{self.path}: larger than {limit >> 20} MB, too large for one document")
        return data

    def sibling(self, name: str) -> Source | None:
        """Another file of the folder by its path from the folder's root, or None where there is none."""
        name = posixpath.normpath(name.replace("\\", "/"))
        if name.startswith(("/", "../")) or name not in self.folder:
            return None
        return Source(self.folder, name)


def decode(data: bytes, declared: str | None = None) -> tuple[str, str | None]:
    """The text of a file and, where its encoding had to be guessed, a warning. Line ends stay as they are."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace"), None
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    if declared and (known := _known(declared)):
        return data.decode(known, "replace"), None
    # Windows-1252 with its five unassigned bytes read as Latin-1: any file can be read, Western text rightly.
    text = data.decode("cp1252", "whycite-latin1")
    return text, "not UTF-8 and no encoding declared; read as Windows-1252"


_BOMS = [
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_ALIASES = {"ansinew": "cp1252", "applemac": "mac_roman", "latin9": "iso8859-15", "utf8x": "utf-8"}


def _known(name: str) -> str | None:
    name = _ALIASES.get(name.lower(), name)
    if not re.fullmatch(r"[\w-]{1,30}", name):
        return None
    try:
        info = codecs.lookup(name)
    except LookupError:
        return None
    return info.name if info._is_text_encoding else None


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("whycite-latin1", _as_latin1)
