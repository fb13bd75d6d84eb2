"""Bibliographies whose entries name their files in a field `file`, as JabRef, Mendeley and Zotero write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from whycite.documents.model import Reference
from whycite.documents.references.bibtex import BibtexEntry, inherit_fields, read_entries, reference_of
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.sources.items import SourceItem
from whycite.text.accents import untex

__all__ = ["bibliography_items", "file_paths"]

_SUFFIXES = (".bib", ".bibtex", ".biblatex")
_READABLE = (".pdf", ".xml", ".nxml", ".tex", ".md", ".txt")
_SPLIT = re.compile(r"(?:[^;\\]|\\.)+", re.DOTALL)  # files, at semicolons that are not escaped
_PARTS = re.compile(r"((?:[^:\\]|\\.)*)(?::|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:;\\_&%#{} ])")
_TEX_BACKSLASH = re.compile(r"\$\\backslash\$|\\textbackslash(?:\{\}|\b)")
_DRIVE = re.compile(r"\A[A-Za-z]:?[\\/]")
_DIRECTORY = re.compile(r"jabref-meta:\s*fileDirectory[^:]{0,200}:((?:[^;\\]|\\.){1,1000});", re.IGNORECASE)


def bibliography_items(path: Path | str) -> list[SourceItem]:
    """The entries of a BibTeX file with their files; none if it is no such file or no entry has a file that exists."""
    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES or not file.is_file():
        return []
    try:
        text, _ = decode(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    entries, _ = read_entries(text, str(file))
    folders = [file.resolve().parent, *(file.parent / _unescape(path) for path in _DIRECTORY.findall(text))]
    by_key = {entry.key: entry for entry in entries}
    items = [
        _item(entry, reference_of(entry, inherit_fields(entry, by_key)), file, folders)
        for entry in by_key.values()
        if entry.fields.keys() & {"title", "author", "file"}
    ]
    return items if any(item.files for item in items) else []


def _item(entry: BibtexEntry, reference: Reference, file: Path, folders: Sequence[Path]) -> SourceItem:
    existing = {path: _existing(path, folders) for path in _readable_paths(entry.fields.get("file", ""))}
    return SourceItem(
        f"{file.resolve()}/{entry.key}",
        reference,
        entry.key,
        tuple(place for place in existing.values() if place),
        tuple(
            f"{file}: '{entry.key}' names {path}, which was not found" for path, place in existing.items() if not place
        ),
    )


def file_paths(value: str) -> list[str]:
    """The paths that a field `file` names: "description:path:type", or paths alone, with semicolons between files."""
    value = _TEX_BACKSLASH.sub(lambda _: "\\\\", value)
    return [path for written in _SPLIT.findall(value) if (path := _path(written.strip()))]


def _path(written: str) -> str:
    parts = _PARTS.findall(written)[:-1] or [written]
    if len(parts) >= 3:
        return _unescape(":".join(parts[1:-1])).strip()
    return _unescape(written).strip()


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _readable_paths(value: str) -> list[str]:
    """The paths of files that can be read, PDFs first."""
    readable = [path for path in file_paths(value) if path.lower().endswith(_READABLE)]
    return sorted(readable, key=lambda path: not path.lower().endswith(".pdf"))


def _existing(path: str, folders: Sequence[Path]) -> Path | None:
    """The file at a path; Mendeley leaves out the slash in front of it, and writes accents as TeX."""
    for written in dict.fromkeys((path, untex(path))):
        plain = written if _DRIVE.match(written) else written.replace("\\", "/")
        for place in (*(folder / plain for folder in folders), Path("/") / plain):
            try:
                if place.is_file():
                    return place
            except (OSError, ValueError):  # a name too long, or with a character that no file name can have
                continue
    return None
