"""Mends what is certain in the BibTeX files of a bibliography: corrected fields, a known DOI, entries that repeat.

Every change is read again before it counts: all other entries and fields must be as they were.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from whycite.documents.references.bibtex import BibtexEntry, locate_entries
from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.references.entries import Bibliography
from whycite.references.report import CheckedReference, ReferenceProblem, ReferenceReport

__all__ = ["BibliographyChange", "apply_changes", "diff_changes", "plan_changes"]

_ONLY_IF_CONFIRMED = {"missing-doi"}  # what a record adds is certain if the rest of the reference agrees with it
_FIELD_START = re.compile(r"\s*=\s*([{\"])")
_INDENT = re.compile(r"(\r?\n[ \t]*)[A-Za-z][\w-]*\s*=")
_CLOSING = {"{": "}", '"': '"'}
_CONTEXT = 3  # lines around a change in a diff
_WINDOWS = (12, 200)  # lines that are compared with each other at once: few if that is enough


@dataclass(frozen=True, slots=True)
class BibliographyChange:
    """A BibTeX file before and after it is mended."""

    path: str
    old_content: bytes
    new_content: bytes
    fixed: tuple[str, ...]  # what was mended, in words
    refused: tuple[str, ...] = ()  # what could not be, and why


def plan_changes(bibliography: Bibliography, report: ReferenceReport) -> list[BibliographyChange]:
    """The changes that mend a bibliography; nothing is written until they are applied."""
    changes = []
    for path, data in bibliography.contents.items():
        references = [reference for reference in report.references if reference.entry.file == path]
        change = _plan_file(path, data, references)
        if change.fixed or change.refused:
            changes.append(change)
    return changes


def _plan_file(path: str, data: bytes, references: Sequence[CheckedReference]) -> BibliographyChange:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return BibliographyChange(path, data, data, (), (f"{path}: not UTF-8, so nothing is changed in it",))
    draft = _MendedText(text)
    fixed: list[str] = []
    refused: list[str] = []
    repeated = _repeated_entries(references)
    for reference in sorted(references, key=_start):
        entry, source = reference.entry, reference.entry.source
        if source is None:
            continue
        if source.start in repeated:
            if draft.remove(source):
                fixed.append(f"{entry.place}: removed, since the same entry stands before")
            continue
        for problem in _certain_problems(reference):
            if draft.set_field(source, problem.field, problem.correction):
                fixed.append(f"{entry.place}: {problem.field} = {{{problem.correction}}}")
            else:
                refused.append(f"{entry.place}: {problem.field}: by hand, since the field is not in braces")
    content = draft.text()
    if content is None:
        return BibliographyChange(path, data, data, (), (f"{path}: by hand, since other entries would change with it",))
    return BibliographyChange(path, data, content.encode(), tuple(fixed), tuple(refused))


def _start(reference: CheckedReference) -> int:
    return reference.entry.source.start if reference.entry.source else 0


def _repeated_entries(references: Iterable[CheckedReference]) -> set[int]:
    """Where entries begin that say the same as an earlier one with their key."""
    originals: dict[str, BibtexEntry] = {}
    repeated = set()
    for reference in sorted(references, key=_start):
        if (source := reference.entry.source) is not None:
            original = originals.setdefault(source.key, source)
            if original is not source and (original.type, original.fields) == (source.type, source.fields):
                repeated.add(source.start)
    return repeated


def _certain_problems(reference: CheckedReference) -> list[ReferenceProblem]:
    return [
        problem
        for problem in reference.problems
        if problem.correction and (problem.rule not in _ONLY_IF_CONFIRMED or reference.verdict == "confirmed")
    ]


class _MendedText:
    """The text of a BibTeX file, and its entries as they are mended; all else stays as it is, line ends too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._mark = len(text) - len(text.removeprefix("\ufeff"))
        # Entries are located in a text without the mark, whose line ends are single characters.
        self._breaks = [match.start() - self._mark - i for i, match in enumerate(re.finditer("\r\n", text))]
        self._mended: dict[int, str] = {}  # by where the entry begins; "" if it is removed
        self._values: dict[int, dict[str, str]] = {}

    def _place(self, offset: int) -> int:
        return offset + self._mark + bisect_left(self._breaks, offset)

    def _entry(self, source: BibtexEntry) -> str:
        return self._mended.get(source.start, self._text[self._place(source.start) : self._place(source.end)])

    def remove(self, source: BibtexEntry) -> bool:
        """Leave an entry out; False if it is not clear where it ends."""
        if self._entry(source)[-1:] not in ("}", ")"):
            return False
        self._mended[source.start] = ""
        return True

    def set_field(self, source: BibtexEntry, name: str, value: str) -> bool:
        """Set a field of an entry; False if that would change anything else."""
        edited = _with_field(self._entry(source), name, value)
        if edited is None:
            return False
        self._mended[source.start] = edited
        self._values.setdefault(source.start, {})[name] = value
        return True

    def text(self) -> str | None:
        """The whole text; None if anything else in it would read differently."""
        located = locate_entries(self._text)
        pieces, end = [], 0
        for entry in located:
            mended = self._mended.get(entry.start)
            if mended is None:
                continue
            pieces += [self._text[end : self._place(entry.start)], mended]
            end = self._place(entry.end)
            if not mended:
                end += len(self._text[end:]) - len(self._text[end:].lstrip("\r\n"))
        edited = "".join([*pieces, self._text[end:]])
        expected = [
            (entry.type, entry.key, {**entry.fields, **self._values.get(entry.start, {})})
            for entry in located
            if self._mended.get(entry.start) != ""
        ]
        return edited if [(e.type, e.key, e.fields) for e in locate_entries(edited)] == expected else None


def _with_field(text: str, name: str, value: str) -> str | None:
    """The text of an entry with a field set; None if that would change anything else."""
    entry = _only_entry(text)
    if entry is None or (name == "doi" and any(sign in value for sign in "{}\\%#")):
        return None
    if name in entry.fields:
        span = _value_span(text, name)
        edited = text[: span[0]] + value + text[span[1] :] if span else None
    else:
        edited = _with_new_field(text, name, value)
    changed = _only_entry(edited) if edited is not None else None
    expected = (entry.type, entry.key, {**entry.fields, name: value})
    return edited if changed and (changed.type, changed.key, changed.fields) == expected else None


def _only_entry(text: str) -> BibtexEntry | None:
    entries = locate_entries(text)
    return entries[0] if len(entries) == 1 else None


def _value_span(text: str, name: str) -> tuple[int, int] | None:
    """Where the value of a field is, inside its braces or quotes."""
    depth = 0
    for position, sign in enumerate(text):
        if sign in "{}" and text[position - 1] != "\\":
            depth += 1 if sign == "{" else -1
        starts = depth == 1 and text[position : position + len(name)].lower() == name
        if starts and not text[position - 1].isalnum():
            field = _FIELD_START.match(text, position + len(name))
            if field:
                end = _closing(text, field.end(), len(text), _CLOSING[field[1]])
                return (field.end(), end) if end is not None else None
    return None


def _closing(text: str, position: int, end: int, closing: str) -> int | None:
    depth = 0
    for place in range(position, end):
        sign = text[place]
        if text[place - 1] == "\\":
            continue
        if sign == closing and depth == 0:
            return place
        depth += {"{": 1, "}": -1}.get(sign, 0)
    return None


def _with_new_field(text: str, name: str, value: str) -> str | None:
    body = text[:-1].rstrip()
    if text[-1] not in "})" or "%" in body.rpartition("\n")[2]:
        return None
    indent = _INDENT.search(body)
    comma = "" if body.endswith(",") else ","
    field = f"{indent[1]}{name} = {{{value}}}" if indent else f" {name} = {{{value}}}"
    trailing = "," if body.endswith(",") else ""
    return body + comma + field + trailing + text[len(body) :]


def diff_changes(changes: Iterable[BibliographyChange], labels: Mapping[str, str] | None = None) -> str:
    """Changes as a unified diff."""
    lines: list[str] = []
    for change in changes:
        label = (labels or {}).get(change.path, change.path)
        old, new = (
            data.decode("utf-8", "replace").splitlines(keepends=True)
            for data in (change.old_content, change.new_content)
        )
        if old != new:
            lines += [f"--- {label}\n", f"+++ {label}\n", *_hunks(old, new)]
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines that differ, with three lines of context."""
    groups: list[list[_LineChange]] = []
    for change in _line_changes(old, new):
        if groups and change.start - groups[-1][-1].end <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        start, end = max(0, group[0].start - _CONTEXT), min(len(old), group[-1].end + _CONTEXT)
        new_start = group[0].new_start - (group[0].start - start)
        new_end = group[-1].new_end + (end - group[-1].end)
        yield f"@@ -{start + 1},{end - start} +{new_start + 1},{new_end - new_start} @@\n"
        for change in group:
            yield from (f" {line}" for line in old[start : change.start])
            yield from (f"-{line}" for line in old[change.start : change.end])
            yield from (f"+{line}" for line in new[change.new_start : change.new_end])
            start = change.end
        yield from (f" {line}" for line in old[start:end])


class _LineChange(NamedTuple):
    """Lines of a file, and those that take their place."""

    start: int
    end: int
    new_start: int
    new_end: int


def _line_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_LineChange]:
    """Where lines differ, looked for in windows: comparing all lines of a large file with all others takes minutes."""
    start = new_start = 0
    while start < len(old) or new_start < len(new):
        if start < len(old) and new_start < len(new) and old[start] == new[new_start]:
            start, new_start = start + 1, new_start + 1
            continue
        for size in _WINDOWS:
            window, new_window = old[start : start + size], new[new_start : new_start + size]
            match = SequenceMatcher(None, window, new_window, autojunk=False).get_matching_blocks()[0]
            if match.size >= _CONTEXT:
                break
        yield _LineChange(start, start + match.a, new_start, new_start + match.b)
        start, new_start = start + match.a + match.size, new_start + match.b + match.size


def apply_changes(changes: Iterable[BibliographyChange]) -> None:
    """Write the files; one that was changed meanwhile is an error, and nothing is written."""
    to_write = [change for change in changes if change.new_content != change.old_content]
    for change in to_write:
        if Path(change.path).read_bytes() != change.old_content:
            raise UserError(f"{change.path}: changed since it was checked; nothing was written, check it again")
    for change in to_write:
        mode = Path(change.path).stat().st_mode & 0o7777
        with atomic_write(change.path) as stream:
            stream.write(change.new_content)
            Path(stream.name).chmod(mode)
