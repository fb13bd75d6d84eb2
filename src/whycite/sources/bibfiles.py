"""Bibliographies whose entries name their files in a field `file`, as JabRef, Mendeley and Zotero write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from whycite.documents.references.bibtex import inherit_fields, read_entries, reference_of
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.sources.taking import SourceItem

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
        SourceItem(
            f"{file.resolve()}/{entry.key}",
            reference_of(entry, inherit_fields(entry, by_key)),
            entry.key,
            tuple(_existing(file_paths(entry.fields.get("file", "")), folders)),
        )
        for entry in by_key.values()
        if entry.fields.keys() & {"title", "author", "file"}
    ]
    return items if any(item.files for item in items) else []


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


def _existing(paths: list[str], folders: list[Path]) -> Iterator[Path]:
    """The files that exist and can be read, PDFs first; Mendeley leaves out the slash in front of a path."""
    readable = [path for path in paths if path.lower().endswith(_READABLE)]
    for path in sorted(readable, key=lambda path: not path.lower().endswith(".pdf")):
        plain = path if _DRIVE.match(path) else path.replace("\\", "/")
        candidates = [*(folder / plain for folder in folders), Path("/") / plain]
        try:
            existing = next((candidate for candidate in candidates if candidate.is_file()), None)
        except (OSError, ValueError):  # a name too long, or with a character that no file name can have
            existing = None
        if existing is not None:
            yield existing
