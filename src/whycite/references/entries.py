"""The entries of a bibliography as they stand in its files, and the keys that a draft cites."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whycite.check.fix.edits import DraftProject, text_of
from whycite.documents.model import Document, Reference
from whycite.documents.reading import read
from whycite.documents.references.bibtex import BibtexEntry, inherit_fields, locate_entries, reference_of
from whycite.documents.references.reader import BIBLIOGRAPHY_FORMATS
from whycite.errors import UserError

__all__ = ["Bibliography", "Entry", "load_bibliography"]

_BIBTEX = (".bib", ".bibtex", ".biblatex")
_NEVER_CITED = {"xdata", "bibnote", "control"}
_EVERYTHING_CITED = re.compile(r"\\nocite\s*\{\s*\*\s*\}|nocite:[^\n]{0,200}@\*|\bfull:\s*true\b")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a bibliography; fields are TeX, with what it inherits, and empty where the file is not BibTeX."""

    reference: Reference
    file: str
    line: int | None = None
    type: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    source: BibtexEntry | None = None

    @property
    def key(self) -> str:
        """What the document calls it."""
        return self.reference.id

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The entries of a file or a draft; doubled keys occur as often as in the files."""

    document: Document
    entries: tuple[Entry, ...]
    contents: Mapping[str, bytes] = field(default_factory=dict)  # of its BibTeX files, by path
    cited_keys: tuple[str, ...] | None = None  # None for a bibliography without a draft
    used_keys: frozenset[str] = frozenset()  # keys that the draft mentions anywhere, also where nothing is read


def load_bibliography(path: str | Path) -> Bibliography:
    """Read the entries of a bibliography file, or of the bibliography of a draft."""
    document = read(path)
    if document.format in BIBLIOGRAPHY_FORMATS:
        contents = {document.path: Path(document.path).read_bytes()} if _is_bibtex_file(document) else {}
        return Bibliography(document, _entries(document, contents), contents)
    project = _project(document, Path(path))
    files = {} if project is None else {project.label(name): data for name, data in project.contents.items()}
    contents = {name: data for name, data in files.items() if name.lower().endswith(_BIBTEX)}
    entries = _entries(document, contents)
    sources = [text_of(data) for name, data in files.items() if name not in contents]
    cited = dict.fromkeys(key for sentence in document.sentences for key in sentence.cited_keys)
    return Bibliography(document, entries, contents, tuple(cited), _used_keys(entries, sources, frozenset(cited)))


def _is_bibtex_file(document: Document) -> bool:
    return document.format == "bibtex" and document.path.lower().endswith(_BIBTEX) and Path(document.path).is_file()


def _project(document: Document, path: Path) -> DraftProject | None:
    """The files of a draft; None if they are in an archive or not on disk."""
    try:
        project = DraftProject(document, path if path.is_dir() else None)
        project.read()
    except UserError:
        return None
    return project


def _entries(document: Document, contents: Mapping[str, bytes]) -> tuple[Entry, ...]:
    """The entries of BibTeX files as they stand there, then references that come from elsewhere."""
    entries: list[Entry] = []
    for file, data in contents.items():
        located = locate_entries(text_of(data))
        by_key = {entry.key: entry for entry in reversed(located)}
        for entry in located:
            if entry.type not in _NEVER_CITED:
                fields = inherit_fields(entry, by_key)
                entries.append(Entry(reference_of(entry, fields), file, entry.line, entry.type, fields, entry))
    keys = {entry.key for entry in entries}
    aliases = {alias.strip() for entry in entries for alias in entry.fields.get("ids", "").split(",")}
    return (
        *entries,
        *(
            Entry(reference, document.path)
            for reference in document.references
            if reference.id not in keys and reference.id not in aliases
        ),
    )


def _used_keys(entries: tuple[Entry, ...], sources: list[str], cited: frozenset[str]) -> frozenset[str]:
    """The keys of entries that the text of a draft contains: a macro may cite what the reader does not see."""
    keys = {entry.key for entry in entries}
    if any(map(_EVERYTHING_CITED.search, sources)):
        return frozenset(keys)
    words = {word for text in sources for word in re.split(r"[\s,;{}\[\]()<>@\"']+", text)}
    stripped = {word.rstrip(".:") for word in words}
    parents = {entry.fields[name].strip() for entry in entries for name in ("crossref", "xref") if name in entry.fields}
    aliased = {
        entry.key
        for entry in entries
        if any(alias.strip() in cited for alias in entry.fields.get("ids", "").split(","))
    }
    return frozenset(keys & (cited | words | stripped | parents | aliased))
