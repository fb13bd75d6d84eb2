"""Files that a browser sends are read by a process that may use only so much memory and time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from whycite.documents.limited import Worker
from whycite.documents.model import Document, Reference
from whycite.documents.plainform import from_plain, to_plain
from whycite.errors import UserError
from whycite.web.uploads import Upload, laid_out

__all__ = ["UPLOADED", "read_all", "read_draft", "read_folder", "read_kept"]

UPLOADED = "<upload>/"  # before the names of what was sent: never the path of a file of this machine
_SECONDS = 60.0  # without a sign of life
_MEMORY = 3 << 30  # bytes of address space
_TEX = (".tex", ".ltx", ".latex")
_OPTION = "; name one with --format"  # which a page does not have
_MOST = 16  # documents at a time
_MOST_BYTES = 1 << 20  # of their text


def read_draft(files: Sequence[Upload]) -> Document:
    """The one document that the files make together: a project, or a single file; it says whether there are others."""
    with laid_out(files) as folder:
        return _without(folder, read_folder(folder, others=True), "")


def read_folder(folder: Path, *, others: bool = False) -> Document:
    """The document in a folder of files that were sent, under the names that its files have there.

    With `others` its warnings name another one that is there and not read.
    """
    inside = [path for path in folder.rglob("*") if path.is_file()]
    path = inside[0] if len(inside) == 1 else folder
    try:
        return _asked(_DRAFTS, str(path), what="first" if others else "one", path=str(path))[0]
    except UserError as error:
        raise UserError(_plain(str(error), path, folder)) from error


def _plain(text: str, path: Path, folder: Path) -> str:
    """What went wrong, for somebody who knows the files by the names they were sent by and no command line."""
    named = text.removeprefix(f"{path}: ")  # the reader names the file mostly too
    text = named if named.startswith(str(folder)) else text
    return text.replace(f"{folder}/", "").replace(str(folder), "the files").replace(_OPTION, "")


def read_all(folder: Path) -> Iterator[Document]:
    """Every document in a folder of files that were sent; one that cannot be read says why in its warnings."""
    done = 0
    while True:
        found = _asked(_PAPERS, "the files", what="some", path=str(folder), after=done)
        yield from (_without(folder, document, UPLOADED) for document in found)
        done += len(found)
        if not found:
            return


def read_kept(file: str, path: str) -> Document:
    """The document of that path in a file of this machine: the file itself, or what it holds."""
    return _asked(_DRAFTS, path, what="kept", path=path, file=file)[0]


def _asked(worker: Worker, name: str, **question: Any) -> list[Document]:
    return [from_plain(plain) for plain in worker.run(json.dumps(question).encode(), name, _SECONDS)]


def _without(folder: Path, document: Document, instead: str) -> Document:
    """The document under the names its files were sent by."""

    def short(text: str) -> str:
        return text.replace(f"{folder}/", instead)

    return replace(
        document,
        path=short(document.path),
        sentences=tuple(replace(each, file=short(each.file)) for each in document.sentences),
        asides=tuple(replace(each, file=short(each.file)) for each in document.asides),
        warnings=tuple(text.replace(f"{folder}/", "") for text in document.warnings),
    )


# What the limited process does.

_begun: dict[str, tuple[int, Iterator[Document]]] = {}  # by folder: how many were given, and where it stands


def documents(data: bytes, alive: Callable[[], None]) -> list[dict[str, Any]]:
    """Read what a question names."""
    from whycite import structure
    from whycite.documents.reading import read
    from whycite.verify.papers import Held, open_held

    asked = json.loads(data)
    if asked["what"] == "one":
        found = [read(asked["path"])]
    elif asked["what"] == "first":
        found = [_first(asked["path"])]
    elif asked["what"] == "kept":
        found = [open_held(Held(asked["file"], asked["path"], Reference(id="")))]
    else:
        found = _some(asked["path"], asked["after"], alive)
    return [to_plain(structure.label(document)) for document in found]


def _first(path: str) -> Document:
    """The first document at a path, with a warning that names the next one."""
    from whycite.documents.reading import stream

    found = stream(path)
    first = next(found, None)
    if first is None:
        raise UserError(f"{path}: holds no document that whycite can read")
    other = None
    with suppress(UserError):  # what is wrong with those that follow matters to nobody here
        other = next(found, None)
    if other is None:
        return first
    return replace(first, warnings=(f"{other.path}: not read; only {first.path} was", *first.warnings))


def _some(folder: str, after: int, alive: Callable[[], None]) -> list[Document]:
    """The next documents of a folder; a process that took another's place begins anew and passes over the first."""
    given, source = _begun.pop(folder, (-1, iter(())))
    _begun.clear()
    if given != after:
        source = islice(_tolerant(folder, alive), after, None)
    found: list[Document] = []
    size = 0
    for document in source:
        found.append(document)
        size += sum(len(sentence.text) for sentence in document.sentences)
        if len(found) >= _MOST or size >= _MOST_BYTES:
            break
    _begun[folder] = after + len(found), source
    return found


def _tolerant(folder: str, alive: Callable[[], None]) -> Iterator[Document]:
    """The documents of a folder, as those of one on disk; and of what was sent but is none, that it is none."""
    from whycite.documents.reading import stream

    met: set[str] = set()
    try:
        for document in stream(folder):
            alive()
            met.add(document.path)
            yield document
    except UserError as error:
        yield _nothing(folder, str(error))
    names = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    if not any(name.lower().endswith(_TEX) for name in names):  # beside which lies what belongs to it
        for name in names:
            if not any(path.startswith(name) for path in met) and not _is_document(name):
                yield _nothing(name, f"{name}: not a format whycite can read")


def _is_document(path: str) -> bool:
    """Whether a file is of a kind that is read, if only as a part of something else."""
    from whycite.documents.containers import open_archive, unwrap
    from whycite.documents.registry import reader_for
    from whycite.documents.sources import DiskFolder, Source

    file = Path(path)
    try:
        source = unwrap(Source(DiskFolder(file.parent), file.name))
        return bool(source.head()) and (reader_for(source) is not None or open_archive(source) is not None)
    except UserError:
        return False


def _nothing(path: str, why: str) -> Document:
    return Document(path, "unknown", Reference(id=""), warnings=(why,))


_DRAFTS = Worker("whycite.web.reading:documents", _MEMORY)
_PAPERS = Worker("whycite.web.reading:documents", _MEMORY)  # another: adding many keeps nobody waiting
