"""Reading uploaded files in a process with limited memory and time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from whycite.documents.jsondocument import from_plain, to_plain
from whycite.documents.model import Document, Reference
from whycite.documents.sandbox import Worker
from whycite.errors import UserError
from whycite.library.paths import ORIGINALS, UPLOADED, file_of, library_exists, original_path
from whycite.web.guard import Problem
from whycite.web.uploads import Upload, upload_folder

if TYPE_CHECKING:
    from whycite.library import Library
    from whycite.service.loading import CurrentLibrary

__all__ = [
    "BIBLIOGRAPHIES",
    "PAPERS_WORKER",
    "drop_original",
    "keep_originals",
    "library_file",
    "read_all",
    "read_draft",
    "read_folder",
    "read_stored",
]

_SECONDS = 60.0  # without progress
_MEMORY = 3 << 30  # bytes of address space
_TEX = (".tex", ".ltx", ".latex")
BIBLIOGRAPHIES = (".bib", ".ris", ".bbl")  # of use only beside a draft or a paper
_NO_TEXTS = "a bibliography, which has no texts; send the papers themselves, or the draft that it belongs to"
_MAX_DOCUMENTS = 16  # per batch
_MAX_TEXT_SIZE = 1 << 20  # characters per batch


def read_draft(files: Sequence[Upload]) -> Document:
    """Read uploaded files as one document, a project or a single file; a warning names any other document."""
    with upload_folder(files) as folder:
        return _with_sent_names(folder, read_folder(folder, warn_of_others=True), "")


def read_folder(folder: Path, *, warn_of_others: bool = False) -> Document:
    """Read the document in a folder of uploaded files.

    With `warn_of_others`, a warning names another document that was not read.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    path = files[0] if len(files) == 1 else folder
    try:
        return _read_limited(_DRAFTS, str(path), what="first" if warn_of_others else "one", path=str(path))[0]
    except UserError as error:
        raise UserError(_plain_message(str(error), path, folder)) from error


def _plain_message(text: str, path: Path, folder: Path) -> str:
    """An error message with the names of the uploaded files and without hints for the command line."""
    from whycite.documents.reading import FORMAT_HINT  # the web pages have no such option

    message = text.removeprefix(f"{path}: ")  # most messages name the file themselves
    text = message if message.startswith(str(folder)) else text
    return text.replace(f"{folder}/", "").replace(str(folder), "the files").replace(FORMAT_HINT, "")


def read_all(folder: Path) -> Iterator[Document]:
    """Every document in a folder of uploaded files; the warnings of an unreadable one say why."""
    read_count = 0
    while True:
        batch = _read_limited(PAPERS_WORKER, "the files", what="some", path=str(folder), after=read_count)
        yield from (_with_sent_names(folder, document, UPLOADED) for document in batch)
        read_count += len(batch)
        if not batch:
            return


def read_stored(file: str, path: str) -> Document:
    """The document with that path in a file on this machine, which may be an archive."""
    return _read_limited(_DRAFTS, path, what="kept", path=path, file=file)[0]


def library_file(current: CurrentLibrary, id: str) -> tuple[str, str]:
    """The file of a document of the library, if it still exists, and the path of the document."""
    path = current.answer_once(_paths).get(id) if library_exists(current.path) else None
    if path is None:
        raise Problem(404, "The library has no such document.")
    path = original_path(current.path, path)
    file = file_of(path)
    if file is None:
        raise UserError(
            "the file of this document is gone, and the library does not store full texts; open the file itself"
        )
    return file, path


def keep_originals(library: Path, upload: Path, paths: Iterable[str]) -> None:
    """Keep the uploaded files that documents with these paths were read from."""
    names = {path.removeprefix(UPLOADED) for path in paths if path.startswith(UPLOADED)}
    projects = {str(PurePosixPath(name).parent) for name in names if name.lower().endswith(_TEX)}
    for file in sorted(path for path in upload.rglob("*") if path.is_file()):
        name = file.relative_to(upload).as_posix()
        is_read = any(document == name or document.startswith((f"{name}/", f"{name}:")) for document in names)
        if is_read or file.suffix.lower() == ".bib" or str(PurePosixPath(name).parent) in projects:
            target = library / ORIGINALS / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                copyfile(file, target)
            except OSError as error:
                raise UserError(f"{name}: cannot be kept ({error.strerror or error})") from error


def drop_original(library: Path, path: str) -> None:
    """Delete the uploaded file of a document that was removed."""
    original = original_path(library, path)
    if original != path:
        Path(original).unlink(missing_ok=True)


def _paths(library: Library) -> dict[str, str]:
    return {str(entry.id): entry.path for entry in library.documents()}


def _read_limited(worker: Worker, name: str, **question: Any) -> list[Document]:
    return [from_plain(plain) for plain in worker.run(json.dumps(question).encode(), name, _SECONDS)]


def _with_sent_names(folder: Path, document: Document, prefix: str) -> Document:
    """The document with the names of the uploaded files."""

    def short(text: str) -> str:
        return text.replace(f"{folder}/", prefix)

    return replace(
        document,
        path=short(document.path),
        sentences=tuple(replace(sentence, file=short(sentence.file)) for sentence in document.sentences),
        asides=tuple(replace(sentence, file=short(sentence.file)) for sentence in document.asides),
        warnings=tuple(text.replace(f"{folder}/", "") for text in document.warnings),
    )


# The code below runs in the limited process.

_open_streams: dict[str, tuple[int, Iterator[Document]]] = {}  # by folder: how many were read, and the rest


def documents(data: bytes, alive: Callable[[], None]) -> list[dict[str, Any]]:
    """Read the documents that a question asks for."""
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
    """The first document at a path; a warning names the next one."""
    from whycite.documents.reading import stream

    candidates = stream(path)
    document = next(candidates, None)
    if document is None:
        raise UserError(f"{path}: contains no document that whycite can read")
    next_document = None
    with suppress(UserError):  # errors in later documents do not matter here
        next_document = next(candidates, None)
    if next_document is None:
        return document
    return replace(
        document, warnings=(f"{next_document.path}: not read; only {document.path} was read", *document.warnings)
    )


def _read_batch(folder: str, start: int, alive: Callable[[], None]) -> list[Document]:
    """The next documents of a folder; a restarted process skips those that were already read."""
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
    """The documents of a folder, followed by a warning for every file in an unknown format."""
    from whycite.documents.reading import FORMAT_HINT, stream  # the web pages have no such option

    seen_paths: set[str] = set()
    try:
        for document in stream(folder):
            alive()
            seen_paths.add(document.path)
            yield document
    except UserError as error:
        yield _unreadable_document(folder, str(error).replace(FORMAT_HINT, ""))
    names = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    if not seen_paths:  # else a bibliography belongs to what was read
        for name in names:
            if name.lower().endswith(BIBLIOGRAPHIES):
                yield _unreadable_document(name, f"{name}: {_NO_TEXTS}")
    if not any(name.lower().endswith(_TEX) for name in names):  # a LaTeX project has other files, which belong to it
        for name in names:
            if not any(path.startswith(name) for path in seen_paths) and not _is_document(name):
                yield _unreadable_document(name, f"{name}: not a format that whycite can read")


def _is_document(path: str) -> bool:
    """Whether a file is in a known format, even if it is only part of another document."""
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
PAPERS_WORKER = Worker("whycite.web.reading:documents", _MEMORY)  # so that uploads do not block drafts
