"""From a path to documents: a file, a project, an archive, a folder of papers, standard input."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from whycite.documents.containers import open_archive, unwrap
from whycite.documents.latex import find_main
from whycite.documents.markup.parts import mains_first
from whycite.documents.model import Document, Reference
from whycite.documents.registry import Reader, reader_for, readers
from whycite.documents.sources import DiskFolder, Folder, MemoryFolder, Source
from whycite.errors import UserError

__all__ = ["read", "stream"]

_TEX = (".tex", ".ltx", ".latex")
# Files that stand beside papers and are none.
_BESIDE = ("readme", "license", "licence", "changelog", "contributing", "requirements", "meta.json", "code_of_conduct")
_BIBLIOGRAPHIES = frozenset({"bibtex", "bbl", "ris", "csljson"})
_USUAL = ("main", "ms", "paper", "article", "manuscript", "thesis", "draft", "index")
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".tar", ".zip", ".tgz")


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path; of several, the first."""
    document = next(stream(path, format), None)
    if document is None:
        raise UserError(f"{path}: holds no document that whycite can read")
    return document


def stream(path: str | Path, format: str | None = None) -> Iterator[Document]:
    """Every document at a path, one after the other; "-" is standard input.

    A file of a folder that cannot be read becomes a document without text that says why in its warnings.
    """
    if str(path) == "-":
        yield from _file(Source(MemoryFolder({"stdin": sys.stdin.buffer.read()}, ""), "stdin"), format)
        return
    path = Path(path)
    if path.is_dir():
        yield from _folder(DiskFolder(path), format)
    elif path.exists():
        parent = path.parent
        folder = DiskFolder(parent, "" if parent == Path() else str(parent))
        yield from _file(Source(folder, path.name), format)
    else:
        raise UserError(f"{path}: no such file or folder")


def _file(source: Source, format: str | None) -> Iterator[Document]:
    if not source.head():
        raise UserError(f"{source.path}: the file is empty")
    source = unwrap(source)
    if (archive := open_archive(source)) is not None:
        found = False
        for document in _folder(archive, format):
            found = True
            yield replace(document, warnings=(*document.warnings, *archive.warnings))
        if not found:
            said = "".join(f"; {warning}" for warning in archive.warnings[:3])
            raise UserError(f"{source.path}: the archive holds no document that whycite can read{said}")
        return
    reader = reader_for(source, format)
    if reader is None:
        raise UserError(f"{source.path}: not a format whycite can read; name one with --format")
    yield from reader.read(source)


def _folder(folder: Folder, format: str | None) -> Iterator[Document]:
    """A folder with LaTeX files is one document, with all below it; every other file is for itself."""
    names = folder.names()
    wanted = names if format in {None, "latex"} else []
    projects = {posixpath.dirname(name) for name in wanted if name.lower().endswith(_TEX)}
    read: set[str] = set()
    for name in mains_first(folder, sorted(names, key=_standing)):
        project = next((above for above in _above(name) if above in projects), None)
        if project is None:
            if _is_document(Source(folder, name), format):
                yield from _tolerant(Source(folder, name), format)
        elif project not in read:
            read.add(project)
            main = find_main(folder.inside(project) if project else folder)
            yield from _tolerant(main, "latex") if main else ()


def _standing(name: str) -> tuple[str, int, str]:
    """Where a file stands among those of its folder: a draft under its usual name comes first."""
    folder, file = posixpath.split(name)
    stem = file.split(".")[0].lower()
    return folder, _USUAL.index(stem) if stem in _USUAL else len(_USUAL), file


def _above(name: str) -> list[str]:
    """The folders a file lies in, the outermost first."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _is_document(source: Source, format: str | None) -> bool:
    name = posixpath.basename(source.name).lower()
    if format is not None or name.endswith(_PACKED):
        return True
    if name.startswith(_BESIDE):
        return False
    suffix = posixpath.splitext(name)[1]
    if not suffix or not any(suffix in reader.suffixes for reader in _readers()):
        return False
    reader = reader_for(source)
    return reader is not None and reader.name not in _BIBLIOGRAPHIES


def _readers() -> list[Reader]:
    return list(readers().values())


def _tolerant(source: Source, format: str | None) -> Iterator[Document]:
    try:
        yield from _file(source, format)
    except UserError as error:
        yield Document(source.path, format or "unknown", Reference(id=""), warnings=(str(error),))
