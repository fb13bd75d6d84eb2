"""Where bytes come from: a file in a folder that cannot be left, on disk or inside an archive."""

from __future__ import annotations

import codecs
import io
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from whycite.errors import UserError

__all__ = ["DiskFolder", "Folder", "MemoryFolder", "Source", "decode"]

MAX_FILE = 256 << 20  # no paper or bibliography is larger; a stream of records may be
_HEAD = 1 << 16


class Folder(Protocol):
    """A tree of files by relative POSIX path, with nothing above it."""

    label: str

    def names(self) -> list[str]: ...

    def __contains__(self, name: object) -> bool: ...

    def open(self, name: str) -> BinaryIO: ...


class DiskFolder:
    """A folder on disk; links that lead out of it are as good as missing."""

    def __init__(self, root: Path, label: str | None = None) -> None:
        self.root = root.resolve()
        self.label = str(root) if label is None else label

    def names(self) -> list[str]:
        return sorted(self._walk())

    def _walk(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in files:
                relative = Path(folder, name).relative_to(self.root).as_posix()
                if not name.startswith(".") and relative in self:
                    yield relative

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or "\0" in name:
            return False
        try:
            path = (self.root / name).resolve()
            return path.is_relative_to(self.root) and path.is_file()
        except OSError:  # a name too long, a loop of links: not a file we can read
            return False

    def open(self, name: str) -> BinaryIO:
        if name not in self:
            raise UserError(f"{self.label}/{name}: no such file in this folder")
        try:
            return (self.root / name).open("rb")
        except OSError as error:
            raise UserError(f"{self.label}/{name}: {error.strerror or error}") from error


class MemoryFolder:
    """The files of an unpacked archive."""

    def __init__(self, files: dict[str, bytes], label: str) -> None:
        self._files = files
        self.label = label

    def names(self) -> list[str]:
        return sorted(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self._files[name])


@dataclass(frozen=True)
class Source:
    """One file of a folder; `path` is how messages and documents name it."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        return posixpath.join(self.folder.label, self.name) if self.folder.label else self.name

    def open(self) -> BinaryIO:
        """The bytes as a stream."""
        return self.folder.open(self.name)

    def head(self) -> bytes:
        """The first bytes, enough to tell the format."""
        with self.open() as stream:
            return stream.read(_HEAD)

    def data(self) -> bytes:
        """All bytes; a file too large to be a paper is refused."""
        with self.open() as stream:
            data = stream.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise UserError(f"{self.path}: larger than {MAX_FILE >> 20} MB, too large for one document")
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
    if declared and (encoding := _known(declared)):
        return data.decode(encoding, "replace"), None
    # Windows-1252 with its five unassigned bytes read as Latin-1: every file can be read, Western text rightly.
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
