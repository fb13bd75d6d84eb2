"""Edit the files of a draft: insert text into their bytes, show a diff, write all files or none."""

from __future__ import annotations

import codecs
import io
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from whycite.check.findings import Finding, Proposal
from whycite.documents.model import Document
from whycite.documents.reading import readers
from whycite.documents.sources import DiskFolder, Source, decode, open_archive, unwrap
from whycite.documents.word.odfediting import WRITTEN_FORMATS
from whycite.errors import UserError
from whycite.files import atomic_write

__all__ = [
    "DraftProject",
    "FileChange",
    "FixPlan",
    "Insertion",
    "Refusal",
    "apply",
    "can_hold",
    "diff",
    "hunks",
    "insert",
    "newline_at",
    "text_of",
]


_BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to insert at an offset of a file's decoded text."""

    offset: int
    text: str


def text_of(data: bytes) -> str:
    """The text of a file as readers decode it; one character per byte if not UTF-8 and without a byte order mark."""
    return decode(data)[0]


def insert(data: bytes, insertions: Sequence[Insertion]) -> bytes:
    """The bytes with the insertions; ValueError if the file's encoding lacks a letter.

    Insertions at the same offset keep their order.
    """
    text = text_of(data)
    skipped, codec = _codec(data)
    pieces, byte_offset, text_offset = [data[:skipped]], skipped, 0
    for insertion in sorted(insertions, key=lambda insertion: insertion.offset):
        gap = text[text_offset : insertion.offset]
        size = len(gap.encode(codec)) if codec else len(gap)
        pieces += [data[byte_offset : byte_offset + size], insertion.text.encode(codec or "ascii")]
        byte_offset, text_offset = byte_offset + size, insertion.offset
    return b"".join([*pieces, data[byte_offset:]])


def can_hold(data: bytes, text: str) -> bool:
    """Whether a file's encoding has all letters of a text."""
    return text.isascii() or _codec(data)[1] is not None


def newline_at(text: str, offset: int) -> str:
    """The line ending near an offset: that of the line before, or of the file's first line."""
    line_ends = [match[0] for match in _LINE_END.finditer(text, max(0, offset - 10_000), offset)]
    line_end = None if line_ends else _LINE_END.search(text)
    return line_ends[-1] if line_ends else line_end[0] if line_end else "\n"


def _codec(data: bytes) -> tuple[int, str | None]:
    """The length of the byte order mark, and the encoding; None if each byte is a character."""
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return len(mark), name
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return 0, None
    return 0, "utf-8"


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_CONTEXT_LINES = 3  # lines shown before and after what changes


def hunks(label: str, text: str, insertions: Sequence[Insertion]) -> str:
    """The diff of one file; empty without insertions."""
    if not insertions:
        return ""
    lines = list(_LINE.finditer(text))
    changed = _changed_lines(lines, len(text), insertions)
    rows = [f"--- {label}\n+++ {label}\n"]
    shift = 0
    for group in _groups(sorted(changed)):
        start, stop = max(0, group[0] - _CONTEXT_LINES), min(len(lines), group[-1] + _CONTEXT_LINES + 1)
        body: list[str] = []
        for number in range(start, max(stop, group[-1] + 1)):
            old = lines[number][0] if number < len(lines) else ""
            if number not in changed:
                body.append(_row(" ", old))
                continue
            body += [_row("-", old)] * bool(old)
            body += [_row("+", new[0]) for new in _LINE.finditer(changed[number])]
        removed = sum(row[0] in " -" for row in body)
        added = sum(row[0] in " +" for row in body)
        rows.append(f"@@ -{_range(start, removed)} +{_range(start + shift, added)} @@\n")
        rows += body
        shift += added - removed
    return "".join(rows)


def _changed_lines(lines: Sequence[re.Match[str]], length: int, insertions: Sequence[Insertion]) -> dict[int, str]:
    """The new text of each changed line by its number from 0; appended lines have the number after the last."""
    starts = [line.start() for line in lines]
    whole = not lines or lines[-1][0].endswith(("\n", "\r"))
    changed: dict[int, str] = {}
    # Backwards, also at the same offset, so that earlier offsets stay valid.
    for _, insertion in sorted(enumerate(insertions), key=lambda pair: (pair[1].offset, pair[0]), reverse=True):
        is_appended = insertion.offset == length and whole
        number = len(lines) if is_appended else max(0, bisect_right(starts, insertion.offset) - 1)
        old = changed.get(number, lines[number][0] if number < len(lines) else "")
        column = insertion.offset - (starts[number] if number < len(lines) else length)
        changed[number] = old[:column] + insertion.text + old[column:]
    return changed


def _groups(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Runs of numbers whose context lines overlap."""
    group: list[int] = []
    for number in numbers:
        if group and number - group[-1] > 2 * _CONTEXT_LINES:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _row(sign: str, line: str) -> str:
    if line.endswith(("\n", "\r")):
        return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line[:-1]}\n"
    return f"{sign}{line}\n\\ No newline at end of file\n"


def _range(start: int, count: int) -> str:
    return f"{start + bool(count)},{count}"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file and its insertions."""

    path: Path  # with links resolved
    label: str  # its name in messages
    old_content: bytes
    insertions: tuple[Insertion, ...]

    @property
    def new_content(self) -> bytes:
        """The content after the change."""
        return insert(self.old_content, self.insertions)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding that is not fixed, and why."""

    finding: Finding
    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True)
class FixPlan:
    """The changes a fix makes to a draft; nothing is written until it is applied."""

    draft: str
    changes: tuple[FileChange, ...] = ()
    fixed: tuple[tuple[Finding, Proposal], ...] = ()
    refused: tuple[Refusal, ...] = ()
    separate_changes: tuple[tuple[FileChange, ...], ...] = ()  # for each of `fixed`, what it alone would change

    def diff(self) -> str:
        """The changes as a unified diff."""
        return diff(self.changes)


def diff(changes: Iterable[FileChange]) -> str:
    """Changes as a unified diff."""
    return "".join(hunks(change.label, text_of(change.old_content), change.insertions) for change in changes)


class DraftProject:
    """The folder of a draft; contents are kept, so that every reading sees the same bytes.

    `unsaved` has the contents of files that are open in an editor, by absolute path.
    """

    def __init__(
        self, document: Document, root: Path | None = None, unsaved: Mapping[Path, bytes] = MappingProxyType({})
    ) -> None:
        path = Path(document.path)
        if document.format in WRITTEN_FORMATS:
            raise UserError(f"{document.path}: cannot be changed here; use whycite check --fix on .docx and .odt files")
        if "://" in document.path or not path.is_file():
            raise UserError(f"{document.path}: cannot be changed, since it is not a file on disk")
        root = _common_folder(document) if root is None else root if root.is_dir() else root.parent
        self._name = Path(os.path.relpath(path, root)).as_posix()
        if self._name.startswith("../") or not document.path.endswith(self._name):
            raise UserError(f"{document.path}: cannot be changed, since it is outside {root}")
        self._root = root
        self._label = document.path.removesuffix(self._name)
        self._format = document.format
        self._unsaved = {
            Path(os.path.relpath(file, root)).as_posix(): data
            for file, data in unsaved.items()
            if file.is_relative_to(root.absolute())
        }
        self.contents: dict[str, bytes] = {}  # of every file read so far, by name
        source = Source(DiskFolder(root), self._name)
        if unwrap(source).name != self._name or open_archive(source) is not None:
            raise UserError(f"{document.path}: cannot be changed, since it is compressed; unpack it first")

    def read(self, insertions: Mapping[str, Sequence[Insertion]] | None = None) -> Document:
        """Read the draft with insertions in its files."""
        changed = {name: insert(self.contents[name], texts) for name, texts in (insertions or {}).items()}
        folder = _EditedFolder(self._root, self._label, self.contents, changed, self._unsaved)
        document = next(iter(readers()[self._format].read(Source(folder, self._name))), None)
        if document is None:
            raise UserError(f"{self._label}{self._name}: no longer contains a document; check it again")
        return document

    def name(self, file: str) -> str | None:
        """The name of a file by its label; None if it was not read."""
        name = file.removeprefix(self._label) if file.startswith(self._label) else ""
        return name if name in self.contents else None

    def names(self) -> list[str]:
        """The names of all files in the folder."""
        return DiskFolder(self._root).names()

    def label(self, name: str) -> str:
        """The label of a file in the document."""
        return self._label + name

    def path(self, name: str) -> Path:
        """The path of a file with links resolved; links out of the folder are never read, so never written."""
        return (self._root / name).resolve()


class _EditedFolder(DiskFolder):
    """The folder on disk with some files changed, and others as they are in an editor."""

    def __init__(
        self,
        root: Path,
        label: str,
        contents: dict[str, bytes],
        changed: Mapping[str, bytes],
        unsaved: Mapping[str, bytes],
    ) -> None:
        super().__init__(root, label)
        self._contents = contents
        self._changed = changed
        self._unsaved = unsaved

    def open(self, name: str) -> BinaryIO:
        if name in self._changed:
            return io.BytesIO(self._changed[name])
        if name not in self._contents and name in self._unsaved:
            self._contents[name] = self._unsaved[name]
        elif name not in self._contents:
            with super().open(name) as stream:
                self._contents[name] = stream.read()
        return io.BytesIO(self._contents[name])


def _common_folder(document: Document) -> Path:
    """The folder that contains all files of a draft."""
    files = {document.path, *(sentence.file for sentence in document.sentences)}
    return Path(os.path.commonpath([Path(file).parent.absolute() for file in files]))


def apply(plan: FixPlan) -> None:
    """Write the files of a plan; if one cannot be written, the others are restored."""
    new_contents = {change.path: change.new_content for change in plan.changes}
    _check_unchanged(plan)
    try:
        with ExitStack() as files:
            for change in plan.changes:
                stream = files.enter_context(atomic_write(change.path))
                stream.write(new_contents[change.path])
                Path(stream.name).chmod(change.path.stat().st_mode & 0o7777)
            _check_unchanged(plan)  # again, at the last moment before they are replaced
    except BaseException:  # also Ctrl-C between two files
        for change in plan.changes:
            _restore(change, new_contents[change.path])
        raise


def _check_unchanged(plan: FixPlan) -> None:
    for change in plan.changes:
        if _current_bytes(change) != change.old_content:
            raise UserError(f"{change.label}: changed since it was checked; nothing was written, check it again")


def _current_bytes(change: FileChange) -> bytes:
    try:
        return change.path.read_bytes()
    except OSError as error:
        raise UserError(f"{change.label}: {error.strerror or error}; nothing was written") from error


def _restore(change: FileChange, new_content: bytes) -> None:
    """Restore a file if it has just been written."""
    if change.path.is_file() and change.path.read_bytes() == new_content:
        mode = change.path.stat().st_mode & 0o7777
        with atomic_write(change.path) as stream:
            stream.write(change.old_content)
            Path(stream.name).chmod(mode)
