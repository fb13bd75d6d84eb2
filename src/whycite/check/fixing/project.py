"""A draft's files as they are on disk now, and the draft read from them, with texts put in or without."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from whycite.check.fixing.encoding import Insertion, insert
from whycite.documents.containers import open_archive, unwrap
from whycite.documents.model import Document
from whycite.documents.registry import readers
from whycite.documents.sources import DiskFolder, Source
from whycite.errors import UserError

__all__ = ["Project"]


class Project:
    """The folder of a draft; what is read from it is kept, so that every reading sees the same bytes."""

    def __init__(self, document: Document, root: Path | None = None) -> None:
        path = Path(document.path)
        if "://" in document.path or not path.is_file():
            raise UserError(f"{document.path}: not a file on disk (an archive, standard input): it cannot be changed")
        root = _common(document) if root is None else root if root.is_dir() else root.parent
        self._name = Path(os.path.relpath(path, root)).as_posix()
        if self._name.startswith("../") or not document.path.endswith(self._name):
            raise UserError(f"{document.path}: lies outside {root}; nothing there is changed")
        self._root = root
        self._label = document.path.removesuffix(self._name)
        self._format = document.format
        self.contents: dict[str, bytes] = {}  # of every file that a reading opened, by its name
        source = Source(DiskFolder(root), self._name)
        if unwrap(source).name != self._name or open_archive(source) is not None:
            raise UserError(f"{document.path}: compressed; unpack it, then it can be changed")

    def read(self, insertions: Mapping[str, Sequence[Insertion]] | None = None) -> Document:
        """The draft as it reads with texts put into its files."""
        changed = {name: insert(self.contents[name], texts) for name, texts in (insertions or {}).items()}
        folder = _Folder(self._root, self._label, self.contents, changed)
        found = next(iter(readers()[self._format].read(Source(folder, self._name))), None)
        if found is None:
            raise UserError(f"{self._label}{self._name}: holds no document any more; check it again")
        return found

    def name(self, file: str) -> str | None:
        """The name of a file by what the document calls it; none where no reading opened it."""
        name = file.removeprefix(self._label) if file.startswith(self._label) else ""
        return name if name in self.contents else None

    def names(self) -> list[str]:
        """The names of all files of the folder."""
        return DiskFolder(self._root).names()

    def label(self, name: str) -> str:
        """What the document calls a file."""
        return self._label + name

    def path(self, name: str) -> Path:
        """Where a file lies, links followed; a link out of the folder is never read, so never followed."""
        return (self._root / name).resolve()


class _Folder(DiskFolder):
    """The folder on disk with some of its files changed."""

    def __init__(self, root: Path, label: str, kept: dict[str, bytes], changed: Mapping[str, bytes]) -> None:
        super().__init__(root, label)
        self._kept = kept
        self._changed = changed

    def open(self, name: str) -> BinaryIO:
        if name in self._changed:
            return io.BytesIO(self._changed[name])
        if name not in self._kept:
            with super().open(name) as stream:
                self._kept[name] = stream.read()
        return io.BytesIO(self._kept[name])


def _common(document: Document) -> Path:
    """The folder that holds all files of a draft."""
    files = {document.path, *(sentence.file for sentence in document.sentences)}
    return Path(os.path.commonpath([Path(file).parent.absolute() for file in files]))
