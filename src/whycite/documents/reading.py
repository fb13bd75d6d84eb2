"""From a path to documents: a file, a project, an archive, a folder of papers, standard input."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from whycite.documents.containers import open_archive, unwrap
from whycite.documents.latex import find_main
from whycite.documents.markup.parts import mains_first
from whycite.documents.model import Document, Reference
from whycite.documents.registry import check_format, reader_for, readers
from whycite.documents.sources import DiskFolder, Folder, MemoryFolder, Source
from whycite.errors import UserError

__all__ = ["read", "stream"]

_TEX = (".tex", ".ltx", ".latex")
# Files that stand beside papers and are none.
_BESIDE = (
    "readme", "license", "licence", "changelog", "contributing", "requirements", "code_of_conduct", "meta.json",
    "metadata_",
)  # fmt: skip
_BIBLIOGRAPHIES = frozenset({"bibtex", "bbl", "ris", "csljson"})
_USUAL = ("main", "ms", "paper", "article", "manuscript", "thesis", "draft", "index")
_PAPERS = (".xml", ".nxml", ".jsonl", ".md", ".qmd", ".rmd", ".typ", ".jsonl.gz", ".jsonl.zst", ".xml.gz")
_DEEPEST = 2  # archives in archives
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
    check_format(format)
    if str(path) == "-":
        yield from _file(Source(MemoryFolder({"stdin": sys.stdin.buffer.read()}, ""), "stdin"), format)
        return
    if "://" in str(path):
        raise UserError(f"{path}: whycite fetches nothing; download it and name the file")
    path = Path(path)
    try:
        if path.is_dir():
            next(path.iterdir(), None)  # a folder that may not be listed says so here
            yield from _folder(DiskFolder(path), format)
        elif path.is_file():
            yield from _file(_named(path), format)
        elif path.exists():  # a pipe
            yield from _file(Source(MemoryFolder({path.name: path.read_bytes()}, str(path.parent)), path.name), format)
        else:
            raise UserError(f"{path}: no such file or folder")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _named(path: Path) -> Source:
    """The file a user names, with its folder; behind a link, with the folder of what it points at."""
    parent = path.parent
    if path.is_symlink():
        path = path.resolve()
        parent = parent if path.parent == parent.resolve() else path.parent
    return Source(DiskFolder(parent, "" if parent == Path() else str(parent)), path.name)


def _file(source: Source, format: str | None, depth: int = 0) -> Iterator[Document]:
    if not source.head():
        raise UserError(f"{source.path}: the file is empty")
    source = unwrap(source)
    if (archive := open_archive(source)) is not None:
        if depth >= _DEEPEST:
            raise UserError(f"{source.path}: archives in archives in archives are not opened; unpack it first")
        found = False
        for document in _folder(archive, format, depth + 1):
            found = True
            yield replace(document, warnings=(*document.warnings, *archive.warnings))
        if not found:
            raise UserError(f"{source.path}: {_nothing_in(archive)}")
        return
    reader = reader_for(source, format)
    if reader is None:
        raise UserError(f"{source.path}: not a format whycite can read; name one with --format")
    yield from reader.read(source)


def _nothing_in(archive: Folder) -> str:
    if "word/document.xml" in archive or "content.xml" in archive:
        return "word processor files are not read; save it as PDF, Markdown or plain text"
    return "the archive holds no document that whycite can read" + "".join(f"; {w}" for w in archive.warnings[:3])


def _folder(folder: Folder, format: str | None, depth: int = 0) -> Iterator[Document]:
    """A folder with LaTeX files is one document, with what belongs to it; every other file is for itself."""
    names = folder.names()
    wanted = names if format in {None, "latex"} else []
    projects = {posixpath.dirname(name) for name in wanted if name.lower().endswith(_TEX)}
    read: set[str] = set()
    for name in mains_first(folder, sorted(names, key=_standing)):
        project = next((above for above in _above(name) if above in projects), None)
        if project is not None and project not in read:
            read.add(project)
            reading = partial(_project, folder, project, alone=len(projects) == 1)
            yield from _tolerant(reading, folder.path(project))
        if project is None or _stands_beside(name, project):
            yield from _tolerant(partial(_member, Source(folder, name), format, depth), folder.path(name))


def _project(folder: Folder, name: str, *, alone: bool) -> Iterator[Document]:
    """The LaTeX project in a folder; the only one of a folder may use all of it."""
    main = find_main(folder.inside(name) if name else folder)
    if main is not None:
        source = Source(folder, posixpath.join(name, main.name)) if alone else main
        yield from _file(source, "latex")


def _stands_beside(name: str, project: str) -> bool:
    """Whether a file directly in a project's folder is a paper of its own, not a figure or the draft's own output."""
    folder, file = posixpath.split(name)
    return folder == project and file.lower().endswith(_PAPERS)


def _member(source: Source, format: str | None, depth: int) -> Iterator[Document]:
    if _is_document(source, format):
        yield from _file(source, format, depth)


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
    if name.startswith(_BESIDE):
        return False
    if name.endswith(_PACKED):
        return True
    if format is not None:
        return name.endswith(readers()[format].suffixes)
    suffix = posixpath.splitext(name)[1]
    if not suffix or not any(suffix in reader.suffixes for reader in readers().values()):
        return False
    reader = reader_for(source)
    return reader is not None and reader.name not in _BIBLIOGRAPHIES


def _tolerant(read: Callable[[], Iterator[Document]], path: str) -> Iterator[Document]:
    """What can be read; what cannot be becomes a document that says why."""
    try:
        yield from read()
    except UserError as error:
        yield Document(path, "unknown", Reference(id=""), warnings=(str(error),))
