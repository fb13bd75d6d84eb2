"""The full texts of cited papers: which file of a folder, or document of a library, belongs to a reference."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite import documents
from whycite.documents.identity import group_references, normalise_title, tells_paper
from whycite.documents.model import Document, Reference
from whycite.documents.reading import readers
from whycite.documents.references.reader import BIBLIOGRAPHY_FORMATS
from whycite.documents.sources import DiskFolder
from whycite.errors import UserError
from whycite.files import atomic_write, make_folder
from whycite.library.paths import UPLOADED, file_of, original_path
from whycite.models.cache import cache_folder

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["FullText", "match_references", "open_full_text", "texts_in_folder", "texts_in_library"]

_LOG = logging.getLogger("whycite")
_FIELDS = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid")
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".tgz")
_MIN_TITLE_WORDS = 4  # a shorter title identifies no paper without author and year
_MAX_YEARS_APART = 5  # of a preprint and its printed version; papers further apart only share a title
_CACHE_VERSION = 1  # of the cached records; increase it when they change


@dataclass(frozen=True, slots=True)
class FullText:
    """The full text of a paper: its file, its path in that file, and its own metadata."""

    file: str
    path: str
    paper: Reference
    problem: str = ""  # why it could not be read


def texts_in_folder(folder: Path | str, progress: Callable[[int], None] | None = None) -> list[FullText]:
    """The papers in a folder; their metadata are cached until a file changes."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    name = blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    cache_path = cache_folder() / "papers" / f"{name}.json"
    cached_files = _load_cache(cache_path)
    current_files: dict[str, Any] = {}
    full_texts: list[FullText] = []
    for number, path in enumerate(_files(folder), 1):
        try:
            state = path.stat()
        except FileNotFoundError:  # deleted since the folder was listed
            continue
        mark = [_CACHE_VERSION, state.st_mtime_ns, state.st_size]
        cached_entry = cached_files.get(str(path), {})
        entry: dict[str, Any] = (
            cached_entry if cached_entry.get("mark") == mark else {"mark": mark, "papers": _papers_of_file(path)}
        )
        current_files[str(path)] = entry
        full_texts += (_full_text(path, fields) for fields in entry["papers"])
        if progress:
            progress(number)
    if current_files != cached_files:
        _save_cache(cache_path, current_files)
    return full_texts


def texts_in_library(library: Library) -> list[FullText]:
    """The documents of a library; those whose files are gone have a problem."""
    full_texts = []
    for entry in library.documents():
        kind, _, name = entry.key.partition(":")
        identifiers: dict[str, Any] = {kind: name} if kind in ("doi", "arxiv", "pmid") else {}
        path = original_path(library.path, entry.path)
        file = file_of(path) or ""
        problem = "" if file else f"{entry.path.removeprefix(UPLOADED)}: the file no longer exists"
        full_texts.append(
            FullText(file, path, Reference("", title=entry.title, year=entry.year, **identifiers), problem)
        )
    return full_texts


def match_references(references: Sequence[Reference], full_texts: Sequence[FullText]) -> list[FullText | None]:
    """The full text for each reference, by identifier, by title, author and year, or by title alone."""
    numbers = group_references([*(full_text.paper for full_text in full_texts), *references])
    by_number: dict[int, FullText] = {}
    by_title: dict[str, list[FullText]] = {}
    for full_text, number in zip(full_texts, numbers, strict=False):
        by_number.setdefault(number, full_text)
        title = normalise_title(full_text.paper.title)
        if title.count(" ") + 1 >= _MIN_TITLE_WORDS:
            by_title.setdefault(title, []).append(full_text)
    numbered_references = zip(references, numbers[len(full_texts) :], strict=True)
    return [by_number.get(number) or _match_title(reference, by_title) for reference, number in numbered_references]


def _match_title(reference: Reference, by_title: dict[str, list[FullText]]) -> FullText | None:
    """The only paper with the reference's title; a different DOI or year rules a paper out."""
    title = normalise_title(reference.title)
    same = by_title.get(title, [])
    if not title and reference.text:
        printed = normalise_title(reference.text)
        same = [
            full_text
            for name, texts in by_title.items()
            if tells_paper(name) and name in printed
            for full_text in texts
        ]
    fitting = [full_text for full_text in same if not _differ(reference, full_text.paper)]
    return fitting[0] if len(fitting) == 1 else None


def _differ(reference: Reference, paper: Reference) -> bool:
    if reference.year and paper.year and abs(reference.year - paper.year) > _MAX_YEARS_APART:
        return True
    return bool(
        reference.doi
        and paper.doi
        and reference.doi.lower() != paper.doi.lower()
        and not (reference.arxiv or paper.arxiv)
    )


def open_full_text(full_text: FullText) -> Document:
    """Read a full text."""
    if full_text.problem:
        raise UserError(full_text.problem)
    for document in documents.stream(full_text.file):
        if document.path == full_text.path or full_text.file == full_text.path:
            return document
    raise UserError(f"{full_text.path}: no longer in {full_text.file}")


def _files(folder: Path) -> Iterator[Path]:
    suffixes = tuple(
        suffix for name, reader in readers().items() if name not in BIBLIOGRAPHY_FORMATS for suffix in reader.suffixes
    )
    for name in DiskFolder(folder).names():
        if name.lower().endswith((*suffixes, *_PACKED)):
            yield folder / name


def _papers_of_file(path: Path) -> list[dict[str, Any]]:
    """The metadata of the documents in a file, or why it cannot be read."""
    try:
        return [
            {
                "path": document.path,
                "problem": "" if document.sentences else _problem(document),
                **_paper_fields(document.paper),
            }
            for document in documents.stream(path)
        ]
    except UserError as error:
        return [{"path": str(path), "problem": str(error)}]


def _problem(document: Document) -> str:
    return document.warnings[0] if document.warnings else f"{document.path}: contains no readable text"


def _paper_fields(paper: Reference) -> dict[str, Any]:
    return {name: value for name, value in asdict(paper).items() if name in _FIELDS and value}


def _full_text(path: Path, fields: dict[str, Any]) -> FullText:
    reference_fields = {name: fields[name] for name in _FIELDS if name in fields}
    reference_fields["authors"] = tuple(reference_fields.get("authors", ()))
    return FullText(str(path), str(fields["path"]), Reference("", **reference_fields), str(fields.get("problem", "")))


def _load_cache(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # no cache yet, or a damaged one
    return content if isinstance(content, dict) else {}


def _save_cache(path: Path, content: dict[str, Any]) -> None:
    try:
        make_folder(path.parent)
        with atomic_write(path) as file:
            file.write(json.dumps(content).encode())
    except UserError as error:
        _LOG.warning("%s; the papers will be read again next time", error)
