"""Drafts as an editor sees them: files on disk under the unsaved texts of open ones."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from whycite.check.findings import CheckedDraft
from whycite.check.settings import settings_for
from whycite.documents.latex import find_main
from whycite.documents.model import Document
from whycite.documents.reading import reader_for
from whycite.documents.sources import DiskFolder, Source
from whycite.errors import UserError
from whycite.service.engine import DraftOptions, Engine, OnJudged, Progress, no_progress, show_nothing

__all__ = ["Buffers", "buffer_bytes", "check_file", "main_file", "read_file"]

Buffers = Mapping[Path, str]
"""The texts of open files by absolute path."""

_PAPERS = 3  # per sentence, as on the command line
_TEX = (".tex", ".ltx", ".latex")
_MAX_PARENTS = 3  # folders above a part of a draft that are searched for its main file
_MAX_FILES = 2_000  # in such a folder; with more, it is a collection of projects and not one draft
_WHOLE_DOCUMENT = re.compile(r"^[^%\n]*\\(?:documentclass|documentstyle|begin\s*\{document\})", re.MULTILINE)
_ROOT_COMMENT = re.compile(r"^\s*%\s*!\s*TeX\s+root\s*=\s*(\S.*?)\s*$", re.MULTILINE | re.IGNORECASE)


def buffer_bytes(buffers: Buffers) -> dict[Path, bytes]:
    """Open files as they would be saved."""
    return {path: text.encode("utf-8", "replace") for path, text in buffers.items()}


def read_file(path: Path, buffers: Buffers | None = None) -> Document:
    """Read the draft whose main file is at an absolute path."""
    source = Source(_BufferFolder(path.parent, buffer_bytes(buffers or {})), path.name)
    if path not in (buffers or {}) and not path.is_file():
        raise UserError(f"{path}: no such file")
    reader = reader_for(source)
    document = next(iter(reader.read(source)), None) if reader else None
    if document is None:
        raise UserError(f"{path}: contains no document that whycite can read")
    return document


def check_file(
    engine: Engine,
    path: Path,
    *,
    buffers: Buffers | None = None,
    document: Document | None = None,
    n: int | None = None,
    progress: Progress = no_progress,
    on_judged: OnJudged = show_nothing,
) -> CheckedDraft:
    """Check a draft with the settings of its project; `document` is the draft if it was read before."""
    settings = settings_for(path)
    options = DraftOptions(
        n or settings.n or _PAPERS, settings.threshold, settings.thresholds, settings.sections, settings.ignore_rules
    )
    texts = {str(file): text for file, text in (buffers or {}).items()}
    return engine.check(document or read_file(path, buffers), texts, options, progress, on_judged)


def main_file(path: Path, text: str) -> Path:
    """The main file of the LaTeX draft that a file is part of; any other file is its own."""
    if not path.name.lower().endswith(_TEX):
        return path
    if (comment := _ROOT_COMMENT.search(text)) and (root := Path(os.path.normpath(path.parent / comment[1]))).is_file():
        return root
    if _WHOLE_DOCUMENT.search(text):
        return path
    for folder in path.parents[:_MAX_PARENTS]:
        disk = DiskFolder(folder)
        names = disk.names() if _is_small(folder) else []
        if len(names) > _MAX_FILES:
            break
        main = find_main(disk) if any(name.lower().endswith(_TEX) for name in names) else None
        if main is not None and main.name != path.name and _includes(folder / main.name, path):
            return folder / main.name
    return path


def _is_small(folder: Path) -> bool:
    """Whether a folder can be searched: not a root or a home folder."""
    return folder not in (Path(folder.anchor), Path.home())


def _includes(main: Path, part: Path) -> bool:
    """Whether a draft has text in a file."""
    try:
        document = read_file(main)
    except UserError:
        return False
    return any(sentence.file == str(part) for sentence in document.sentences)


class _BufferFolder(DiskFolder):
    """A folder on disk in which open files have their unsaved content."""

    def __init__(self, root: Path, contents: Mapping[Path, bytes]) -> None:
        super().__init__(root)
        self._unsaved = {name: data for path, data in contents.items() if (name := _name_below(root, path))}

    def __contains__(self, name: object) -> bool:
        return name in self._unsaved or super().__contains__(name)

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self._unsaved[name]) if name in self._unsaved else super().open(name)


def _name_below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
