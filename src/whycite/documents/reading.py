"""From a path to documents: files, projects, archives, folders and standard input, each with the right reader."""

from __future__ import annotations

import logging
import posixpath
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple, Protocol

from whycite.documents.builder import explain, unreadable
from whycite.documents.draftfolder import list_drafts
from whycite.documents.latex import find_main
from whycite.documents.model import Document
from whycite.documents.sources import DiskFolder, Folder, MemoryFolder, Source, decode, open_archive, unwrap
from whycite.documents.word import WordReader, text_of
from whycite.documents.word.opendocument import OpenDocumentReader, opendocument_text
from whycite.errors import UserError

__all__ = [
    "FORMAT_HINT",
    "FolderMember",
    "Reader",
    "Visit",
    "check_format",
    "list_members",
    "other_drafts",
    "papers_beside_drafts",
    "read",
    "reader_for",
    "readers",
    "source_text",
    "stream",
]


FORMAT_HINT = "; name it with --format"
_LOG = logging.getLogger("whycite")


class Reader(Protocol):
    """Reads one format; `sniff` recognises it by its first bytes if the suffix is ambiguous."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def sniff(self, head: bytes) -> bool: ...

    def read(self, source: Source) -> Iterator[Document]: ...


class Visit(Protocol):
    """Is told which file is being read; `begin` says whether to read it."""

    def begin(self, path: str) -> bool: ...

    def end(self, path: str) -> None: ...


class _VisitEverything:
    def begin(self, path: str) -> bool:
        return True

    def end(self, path: str) -> None:
        pass


_EVERYTHING = _VisitEverything()


class FolderMember(NamedTuple):
    """What is read together in a folder: a file, or the LaTeX project in a subfolder."""

    name: str
    is_project: bool
    alone: bool  # the only project, which may use files of the whole tree


@cache
def readers() -> Mapping[str, Reader]:
    """Every installed reader by format name; plain text comes last, because it accepts any text."""
    readers_by_name: dict[str, Reader] = {}
    for entry in sorted(entry_points(group="whycite.readers"), key=lambda entry: entry.name == "plain"):
        try:
            readers_by_name[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - a broken plug-in must not stop the other readers
            _LOG.warning("cannot load the reader '%s' (%s), skipping it: %s", entry.name, entry.value, error)
    return readers_by_name


def check_format(format: str | None) -> None:
    """Raise an error for a format that no reader has."""
    if format is not None and format not in readers():
        raise UserError(f"unknown format '{format}'; choose one of: {', '.join(sorted(readers()))}")


def reader_for(source: Source, format: str | None = None) -> Reader | None:
    """The reader for a file: by format if given, else by suffix, else by its first bytes; None if there is none."""
    if format is not None:
        check_format(format)
        return readers()[format]
    fitting = [r for r in readers().values() if source.name.lower().endswith(r.suffixes)]
    if len(fitting) == 1:
        return fitting[0]
    head = source.head()
    return next((reader for reader in fitting or readers().values() if reader.sniff(head)), None)


_TEX_SUFFIXES = (".tex", ".ltx", ".latex")
# Beginnings of names of files that lie beside papers but are not papers.
_NOT_PAPERS = (
    "readme", "license", "licence", "changelog", "contributing", "requirements", "code_of_conduct", "meta.json",
    "metadata_",
)  # fmt: skip
_BIBLIOGRAPHY_FORMATS = frozenset({"bibtex", "bbl", "ris", "csljson"})
_DRAFT_SUFFIXES = (".md", ".markdown", ".qmd", ".rmd", ".typ", ".docx", ".odt")
_MAIN_NAMES = ("main", "ms", "paper", "article", "manuscript", "thesis", "draft", "index")
_PAPER_SUFFIXES = (".xml", ".nxml", ".jsonl", ".md", ".qmd", ".rmd", ".typ", ".jsonl.gz", ".jsonl.zst", ".xml.gz")
_LIKELY_PAPERS = (".pdf", ".docx", ".docm", ".odt", ".nxml", ".zip", ".tar", ".tgz", ".tar.gz")  # not figures or data
_SHOWN_PAPERS = 3  # names in a warning
_MAX_DEPTH = 2  # nested archives; deeper ones are not opened
_PACKED_SUFFIXES = (".gz", ".zst", ".bz2", ".xz", ".tar", ".zip", ".tgz")


def read(path: str | Path, format: str | None = None) -> Document:
    """The document at a path; the first if there are several."""
    document = next(stream(path, format), None)
    if document is None:
        raise UserError(f"{path}: contains no document that whycite can read")
    return document


def list_members(path: str | Path, format: str | None = None) -> list[FolderMember] | None:
    """What `stream` reads in a folder, in its order; None if the path is not a folder."""
    return list(_members(DiskFolder(Path(path)), format)) if Path(path).is_dir() else None


def other_drafts(path: str | Path, document: Document) -> list[str]:
    """What a folder has besides a document of it that people may have written: LaTeX projects, and files of drafts."""
    if not Path(path).is_dir():
        return []
    folder = DiskFolder(Path(path))
    main = Path(document.path)
    return [
        member.name or "."
        for member in _members(folder, None)
        if (
            not main.is_relative_to(Path(path) / member.name)
            if member.is_project
            else member.name.lower().endswith(_DRAFT_SUFFIXES)
            and Path(path, member.name) != main
            and not posixpath.basename(member.name).lower().startswith(_NOT_PAPERS)
        )
    ]


def stream(
    path: str | Path,
    format: str | None = None,
    visit: Visit = _EVERYTHING,
    content: bytes | None = None,
    members: Iterable[FolderMember] | None = None,
) -> Iterator[Document]:
    """Every document at a path, one by one; "-" is standard input. `content` is what a pipe contains, if it was read.

    Of a folder, `members` are read, by default all. A file in it that cannot be read becomes a document without text
    whose warnings say why.
    """
    check_format(format)
    if str(path) == "":
        raise UserError("an empty path; give a file or folder, or . for this folder")
    if "://" in str(path):
        raise UserError(f"{path}: URLs are not read; download the file and give its path")
    try:
        yield from _read_path(path, format, visit, content, members)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except Exception as error:
        raise UserError(f"{path}: {explain(error)}") from error


def _read_path(
    path: str | Path, format: str | None, visit: Visit, content: bytes | None, members: Iterable[FolderMember] | None
) -> Iterator[Document]:
    if str(path) == "-":
        data = sys.stdin.buffer.read() if content is None else content
        yield from _read_file(Source(MemoryFolder({"stdin": data}, ""), "stdin"), format, visit)
        return
    path = Path(path)
    if path.is_dir():
        next(path.iterdir(), None)  # raises an error if the folder may not be listed
        yield from _read_folder(DiskFolder(path), format, visit, members=members)
    elif path.is_file():
        yield from _read_visited(_source_at(path), format, visit, str(path))
    elif content is not None or path.exists():  # a pipe
        data = path.read_bytes() if content is None else content
        yield from _read_file(Source(MemoryFolder({path.name: data}, str(path.parent)), path.name), format, visit)
    else:
        raise UserError(f"{path}: no such file or folder")


def _read_visited(source: Source, format: str | None, visit: Visit, path: str) -> Iterator[Document]:
    if visit.begin(path):
        yield from _read_file(source, format, visit)
        visit.end(path)


def source_text(path: str | Path) -> str | None:
    """The text of a file on disk, in which the offsets of sentences count; None if it cannot be read."""
    try:
        data = Path(path).read_bytes()
        if str(path).lower().endswith(OpenDocumentReader.suffixes):
            return opendocument_text(data, str(path))
        return text_of(data, str(path)) if str(path).lower().endswith(WordReader.suffixes) else decode(data)[0]
    except (OSError, UserError):
        return None


def _source_at(path: Path) -> Source:
    """The file a user names, with its folder; for a link, the folder of its target."""
    parent = path.parent
    if path.is_symlink():
        path = path.resolve()
        parent = parent if path.parent == parent.resolve() else path.parent
    return Source(DiskFolder(parent, "" if parent == Path() else str(parent)), path.name)


def _read_file(source: Source, format: str | None, visit: Visit, depth: int = 0) -> Iterator[Document]:
    if not source.head():
        raise UserError(f"{source.path}: the file is empty")
    source = unwrap(source)
    if (archive := open_archive(source)) is not None:
        if depth >= _MAX_DEPTH:
            raise UserError(f"{source.path}: archives nested this deep are not opened; unpack it first")
        has_documents = False
        for document in _read_folder(archive, format, visit, depth + 1):
            has_documents = True
            yield replace(document, warnings=(*document.warnings, *archive.warnings))
        if not has_documents:
            raise UserError(f"{source.path}: {_explain_empty(archive)}")
        return
    reader = reader_for(source, format)
    if reader is None:
        raise UserError(f"{source.path}: unknown file format{FORMAT_HINT}")
    yield from reader.read(source)


def _explain_empty(archive: Folder) -> str:
    return "the archive contains no document that whycite can read" + "".join(f"; {w}" for w in archive.warnings[:3])


def _read_folder(
    folder: Folder, format: str | None, visit: Visit, depth: int = 0, members: Iterable[FolderMember] | None = None
) -> Iterator[Document]:
    for member in _members(folder, format) if members is None else members:
        if member.is_project:
            read_member = partial(_read_project, folder, member.name, visit, alone=member.alone)
        else:
            read_member = partial(_read_member, Source(folder, member.name), format, visit, depth)
        yield from _read_tolerantly(read_member, folder.path(member.name), visit)


def _members(folder: Folder, format: str | None) -> Iterator[FolderMember]:
    """A folder with LaTeX files is one project; every other file is its own document."""
    names = folder.names()
    candidates = names if format in {None, "latex"} else []
    projects = {posixpath.dirname(name) for name in candidates if name.lower().endswith(_TEX_SUFFIXES)}
    outermost = {project for project in projects if not projects.intersection(_ancestors(project)) - {project}}
    listed_projects: set[str] = set()
    for name in list_drafts(folder, sorted(names, key=_sort_key)):
        project = next((ancestor for ancestor in _ancestors(name) if ancestor in projects), None)
        if project is not None and project not in listed_projects:
            listed_projects.add(project)
            yield FolderMember(project, is_project=True, alone=len(outermost) == 1)
        if project is None or _is_separate_paper(name, project):
            yield FolderMember(name, is_project=False, alone=False)


def _read_project(folder: Folder, name: str, visit: Visit, *, alone: bool) -> Iterator[Document]:
    """The LaTeX project in a folder; if it is the only one, it may use files of the whole tree."""
    main = find_main(folder.subfolder(name) if name else folder)
    if main is not None:
        source = Source(folder, posixpath.join(name, main.name)) if alone else main
        yield from _read_file(source, "latex", visit)


def papers_beside_drafts(path: str | Path, format: str | None = None) -> list[tuple[str, str]]:
    """Files in the folder of a LaTeX draft that may be papers of their own and are not read: the folder and a warning.

    What the draft mentions is a figure, and what has its name is made from it.
    """
    if str(path) == "-" or not Path(path).is_dir() or format not in {None, "latex"}:
        return []
    folder = DiskFolder(Path(path))
    every_name = sorted(folder.names())
    if not any(name.lower().endswith(_TEX_SUFFIXES) for name in every_name):
        return []
    members = list(_members(folder, format))
    projects = [member.name for member in members if member.is_project]
    read_names = {member.name for member in members if not member.is_project}
    warnings = []
    for project in projects:
        end = bisect_left(every_name, f"{project}0") if project else len(every_name)  # "0" comes after "/"
        names = every_name[bisect_left(every_name, f"{project}/") if project else 0 : end]
        likely = [name for name in names if name.lower().endswith(_LIKELY_PAPERS) and name not in read_names]
        if not likely:
            continue
        drafts = [name for name in names if name.lower().endswith(_TEX_SUFFIXES)]
        stems = {_stem(name) for name in drafts}
        content = b"".join(_content(Source(folder, name)) for name in drafts)
        papers = [
            name
            for name in likely
            if _stem(name) not in stems and _stem(name).encode("utf-8", "replace") not in content
        ]
        if papers:
            shown = ", ".join(posixpath.basename(name) for name in papers[:_SHOWN_PAPERS])
            further_papers = f" and {len(papers) - _SHOWN_PAPERS:,} more" if len(papers) > _SHOWN_PAPERS else ""
            warnings.append(
                (
                    folder.path(project).rstrip("/"),
                    f"not read, as they lie in the folder of a LaTeX draft: {shown}{further_papers}; "
                    "name them, or move papers to a folder of their own",
                )
            )
    return warnings


def _stem(name: str) -> str:
    return posixpath.basename(name).split(".")[0]


def _content(source: Source) -> bytes:
    try:
        return source.data()
    except UserError:  # said when the draft was read
        return b""


def _is_separate_paper(name: str, project: str) -> bool:
    """Whether a file in a project's folder is a separate paper, not a figure or output of the draft."""
    folder, file = posixpath.split(name)
    return folder == project and file.lower().endswith(_PAPER_SUFFIXES)


def _read_member(source: Source, format: str | None, visit: Visit, depth: int) -> Iterator[Document]:
    if _is_document(source, format):
        yield from _read_file(source, format, visit, depth)


def _sort_key(name: str) -> tuple[str, int, str]:
    """Sorts the files of a folder: drafts with a usual name come first."""
    folder, file = posixpath.split(name)
    stem = file.split(".")[0].lower()
    return folder, _MAIN_NAMES.index(stem) if stem in _MAIN_NAMES else len(_MAIN_NAMES), file


def _ancestors(name: str) -> list[str]:
    """The folders a file lies in, outermost first."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _is_document(source: Source, format: str | None) -> bool:
    name = posixpath.basename(source.name).lower()
    if name.startswith(_NOT_PAPERS):
        return False
    if name.endswith(_PACKED_SUFFIXES):
        return True
    if format is not None:
        return name.endswith(readers()[format].suffixes)
    suffix = posixpath.splitext(name)[1]
    if not suffix or not any(suffix in reader.suffixes for reader in readers().values()):
        return False
    reader = reader_for(source)
    return reader is not None and reader.name not in _BIBLIOGRAPHY_FORMATS


def _read_tolerantly(read: Callable[[], Iterator[Document]], path: str, visit: Visit) -> Iterator[Document]:
    """The documents; an error becomes a document whose warning says why."""
    if not visit.begin(path):
        return
    try:
        yield from read()
    except MemoryError:  # other documents may have used it up
        raise
    except Exception as error:  # noqa: BLE001 - whatever a reader raises, the other files can be read
        yield unreadable(path, error)
    visit.end(path)
