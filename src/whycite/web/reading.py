"""Files that a browser sends are read by a process that may use only so much memory and time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from whycite.documents.jsondocument import from_plain, to_plain
from whycite.documents.model import Document, Reference
from whycite.documents.sandbox import Worker
from whycite.errors import UserError
from whycite.web.uploads import Upload, upload_folder

__all__ = ["PAPERS_WORKER", "UPLOADED", "read_all", "read_draft", "read_folder", "read_stored"]

UPLOADED = "<upload>/"  # before the names of what was sent: never the path of a file of this machine
_SECONDS = 60.0  # without a sign of life
_MEMORY = 3 << 30  # bytes of address space
_TEX = (".tex", ".ltx", ".latex")
_OPTION = "; name one with --format"  # which a page does not have
_MAX_DOCUMENTS = 16  # documents at a time
_MAX_TEXT_SIZE = 1 << 20  # of their text


def read_draft(files: Sequence[Upload]) -> Document:
    """The one document that the files make together: a project, or a single file; it says whether there are others."""
    with upload_folder(files) as folder:
        return _with_sent_names(folder, read_folder(folder, warn_of_others=True), "")


def read_folder(folder: Path, *, warn_of_others: bool = False) -> Document:
    """The document in a folder of files that were sent, under the names that its files have there.

    With `others` its warnings name another one that is there and not read.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    path = files[0] if len(files) == 1 else folder
    try:
        return _read_limited(_DRAFTS, str(path), what="first" if warn_of_others else "one", path=str(path))[0]
    except UserError as error:
        raise UserError(_plain_message(str(error), path, folder)) from error


def _plain_message(text: str, path: Path, folder: Path) -> str:
    """What went wrong, for somebody who knows the files by the names they were sent by and no command line."""
    message = text.removeprefix(f"{path}: ")  # the reader names the file mostly too
    text = message if message.startswith(str(folder)) else text
    return text.replace(f"{folder}/", "").replace(str(folder), "the files").replace(_OPTION, "")


def read_all(folder: Path) -> Iterator[Document]:
    """Every document in a folder of files that were sent; one that cannot be read says why in its warnings."""
    read_count = 0
    while True:
        batch = _read_limited(PAPERS_WORKER, "the files", what="some", path=str(folder), after=read_count)
        yield from (_with_sent_names(folder, document, UPLOADED) for document in batch)
        read_count += len(batch)
        if not batch:
            return


def read_stored(file: str, path: str) -> Document:
    """The document of that path in a file of this machine: the file itself, or what it holds."""
    return _read_limited(_DRAFTS, path, what="kept", path=path, file=file)[0]


def _read_limited(worker: Worker, name: str, **question: Any) -> list[Document]:
    return [from_plain(plain) for plain in worker.run(json.dumps(question).encode(), name, _SECONDS)]


def _with_sent_names(folder: Path, document: Document, prefix: str) -> Document:
    """The document under the names its files were sent by."""

    def short(text: str) -> str:
        return text.replace(f"{folder}/", prefix)

    return replace(
        document,
        path=short(document.path),
        sentences=tuple(replace(sentence, file=short(sentence.file)) for sentence in document.sentences),
        asides=tuple(replace(sentence, file=short(sentence.file)) for sentence in document.asides),
        warnings=tuple(text.replace(f"{folder}/", "") for text in document.warnings),
    )


# What the limited process does.

_open_streams: dict[str, tuple[int, Iterator[Document]]] = {}  # by folder: how many were given, and where it stands


def documents(data: bytes, alive: Callable[[], None]) -> list[dict[str, Any]]:
    """Read what a question names."""
    from whycite import structure
    from whycite.documents.reading import read
    from whycite.verify.fulltexts import FullText, open_full_text

    question = json.loads(data)
    if question["what"] == "one":
        batch = [read(question["path"])]
    elif question["what"] == "first":
        batch = [_read_first(question["path"])]
    elif question["what"] == "kept":
        batch = [open_full_text(FullText(question["file"], question["path"], Reference(id="")))]
    else:
        batch = _read_batch(question["path"], question["after"], alive)
    return [to_plain(structure.label(document)) for document in batch]


def _read_first(path: str) -> Document:
    """The first document at a path, with a warning that names the next one."""
    from whycite.documents.reading import stream

    candidates = stream(path)
    document = next(candidates, None)
    if document is None:
        raise UserError(f"{path}: holds no document that whycite can read")
    next_document = None
    with suppress(UserError):  # what is wrong with those that follow matters to nobody here
        next_document = next(candidates, None)
    if next_document is None:
        return document
    return replace(document, warnings=(f"{next_document.path}: not read; only {document.path} was", *document.warnings))


def _read_batch(folder: str, start: int, alive: Callable[[], None]) -> list[Document]:
    """The next documents of a folder; a process that took another's place begins anew and passes over the first."""
    position, source = _open_streams.pop(folder, (-1, iter(())))
    _open_streams.clear()
    if position != start:
        source = islice(_stream_folder(folder, alive), start, None)
    batch: list[Document] = []
    size = 0
    for document in source:
        batch.append(document)
        size += sum(len(sentence.text) for sentence in document.sentences)
        if len(batch) >= _MAX_DOCUMENTS or size >= _MAX_TEXT_SIZE:
            break
    _open_streams[folder] = start + len(batch), source
    return batch


def _stream_folder(folder: str, alive: Callable[[], None]) -> Iterator[Document]:
    """The documents of a folder, as those of one on disk; and of what was sent but is none, that it is none."""
    from whycite.documents.reading import stream

    seen_paths: set[str] = set()
    try:
        for document in stream(folder):
            alive()
            seen_paths.add(document.path)
            yield document
    except UserError as error:
        yield _unreadable_document(folder, str(error))
    names = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    if not any(name.lower().endswith(_TEX) for name in names):  # beside which lies what belongs to it
        for name in names:
            if not any(path.startswith(name) for path in seen_paths) and not _is_document(name):
                yield _unreadable_document(name, f"{name}: not a format whycite can read")


def _is_document(path: str) -> bool:
    """Whether a file is of a kind that is read, if only as a part of something else."""
    from whycite.documents.reading import reader_for
    from whycite.documents.sources import DiskFolder, Source, open_archive, unwrap

    file = Path(path)
    try:
        source = unwrap(Source(DiskFolder(file.parent), file.name))
        return bool(source.head()) and (reader_for(source) is not None or open_archive(source) is not None)
    except UserError:
        return False


def _unreadable_document(path: str, why: str) -> Document:
    return Document(path, "unknown", Reference(id=""), warnings=(why,))


_DRAFTS = Worker("whycite.web.reading:documents", _MEMORY)
PAPERS_WORKER = Worker("whycite.web.reading:documents", _MEMORY)  # another: adding many keeps nobody waiting
