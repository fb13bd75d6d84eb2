"""The entries of a bibliography as they stand in its files, and the keys that a draft cites."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from whycite.check.fix.edits import DraftProject, text_of
from whycite.documents.model import Document, Reference
from whycite.documents.reading import read, stream
from whycite.documents.references.bibtex import BibtexEntry, inherit_fields, locate_entries, reference_of
from whycite.documents.references.hayagriva import parse as parse_yaml
from whycite.documents.references.reader import BIBLIOGRAPHY_FORMATS
from whycite.documents.sources import MemoryFolder, Source, unwrap
from whycite.errors import UserError

__all__ = ["Bibliography", "Entry", "load_bibliography"]

_BIBTEX = (".bib", ".bibtex", ".biblatex")
_TYPST = (".yml", ".yaml")
_OTHER_BIBLIOGRAPHIES = (*_TYPST, ".json", ".ris")
# Where a draft defines a key, which does not cite it.
_DEFINITION = re.compile(
    r"\\bibitem\s{0,9}(?:\[[^\]]{0,300}\]\s{0,9})?\{[^{}]{0,200}\}|^[ \t]{0,9}-?[ \t]{0,9}id[ \t]{0,9}:[^\n]{0,300}",
    re.MULTILINE,
)
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


class FirstCitation(NamedTuple):
    """Where a draft cites a key."""

    file: str
    line: int | None  # None if the file has no lines


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The entries of a file or a draft; doubled keys occur as often as in the files."""

    document: Document
    entries: tuple[Entry, ...]
    contents: Mapping[str, bytes] = field(default_factory=dict)  # of its BibTeX files on disk, by path
    citations: Mapping[str, FirstCitation] | None = (
        None  # of each key the first; None for a bibliography without a draft
    )
    used_keys: frozenset[str] = frozenset()  # keys that the draft mentions anywhere, also where nothing is read
    warnings: tuple[str, ...] = ()  # about what could not be checked


def load_bibliography(path: str | Path) -> Bibliography:
    """Read the entries of a bibliography file, or of the bibliography of a draft; "-" is standard input."""
    if str(path).lower().endswith(_TYPST):
        return _load_typst_file(Path(path))
    piped = sys.stdin.buffer.read() if str(path) == "-" else None  # readable once, but needed twice
    try:
        document = next(stream(path, content=piped), None) if piped is not None else read(path)
    except UserError as error:
        raise _with_bibliographies(error, Path(path)) from None
    if document is None:
        raise UserError("stdin: contains no document that whycite can read")
    if document.format in BIBLIOGRAPHY_FORMATS:
        return _load_file(document, piped)
    project = _project(document, Path(path))
    files = {} if project is None else {project.label(name): data for name, data in project.contents.items()}
    contents = {name: data for name, data in files.items() if name.lower().endswith(_BIBTEX)}
    entries = _entries(document, contents)
    texts = {
        name: text_of(data)
        for name, data in files.items()
        if name not in contents and not name.lower().endswith(_OTHER_BIBLIOGRAPHIES)
    }
    citations = _first_citations(document, texts)
    used = _used_keys(entries, texts.values(), frozenset(citations))
    is_packed = project is None and bool(document.references) and str(path) != "-" and not Path(document.path).is_file()
    warning = f"{document.path}: in an archive, so the fields of its entries are not checked; unpack it first"
    return Bibliography(document, entries, contents, citations, used, (warning,) * is_packed)


def _load_typst_file(path: Path) -> Bibliography:
    """The entries of a bibliography in YAML."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    references, warnings = parse_yaml(text_of(data), str(path))
    references = [reference for reference in references if reference.title]  # settings are YAML, too
    document = Document(str(path), "hayagriva", Reference(""), references=tuple(references), warnings=tuple(warnings))
    return Bibliography(document, _entries(document, {}))


def _load_file(document: Document, piped: bytes | None) -> Bibliography:
    """The entries of a bibliography file; only one on disk that is not compressed can be mended."""
    if document.format != "bibtex":
        return Bibliography(document, _entries(document, {}))
    data = Path(document.path).read_bytes() if piped is None else piped
    unpacked = unwrap(Source(MemoryFolder({document.path: data}, ""), document.path)).data()
    contents = {document.path: unpacked}
    return Bibliography(document, _entries(document, contents), contents if piped is None and unpacked == data else {})


def _with_bibliographies(error: UserError, path: Path) -> UserError:
    """The error, or one that names the bibliographies of a folder that has no draft."""
    files = sorted(file for file in path.iterdir() if file.name.lower().endswith(_BIBTEX)) if path.is_dir() else []
    if not files:
        return error
    return UserError(f"{path}: contains no draft; to check a bibliography, name the file, such as {files[0]}")


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


def _first_citations(document: Document, texts: Mapping[str, str]) -> dict[str, FirstCitation]:
    """Where each key is cited first, in the order of the draft."""
    places: dict[str, FirstCitation] = {}
    for sentence in document.sentences:
        for citation in (*sentence.citations, *sentence.note_citations):
            for key in citation.keys:
                if key not in places:
                    text = texts.get(sentence.file)
                    line = None if text is None else text.count("\n", 0, citation.start) + 1
                    places[key] = FirstCitation(sentence.file, line)
    return places


def _used_keys(entries: tuple[Entry, ...], sources: Collection[str], cited: frozenset[str]) -> frozenset[str]:
    """The keys of entries that the text of a draft contains: a macro may cite what the reader does not see."""
    keys = {entry.key for entry in entries}
    in_lower_case = {key.lower() for key in cited}
    if any(map(_EVERYTHING_CITED.search, sources)):
        return frozenset(keys)
    words = {word for text in sources for word in re.split(r"[\s,;{}\[\]()<>@\"']+", _DEFINITION.sub(" ", text))}
    stripped = {word.rstrip(".:") for word in words}
    parents = {
        key.strip()
        for entry in entries
        for name in ("crossref", "xref", "entryset", "related")
        for key in entry.fields.get(name, "").split(",")
    }
    aliased = {
        entry.key
        for entry in entries
        if any(alias.strip() in cited for alias in entry.fields.get("ids", "").split(","))
    }
    # Another spelling of a key is reported where it is cited.
    spelled = {key for key in keys if key.lower() in in_lower_case}
    return frozenset(keys & (cited | words | stripped | parents | aliased | spelled))
