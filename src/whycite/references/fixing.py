"""Mends what is certain in the BibTeX files of a bibliography: corrected fields, a known DOI, entries that repeat.

Every change is read again before it counts: all other entries and fields must be as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from whycite.documents.references.bibtex import BibtexEntry, locate_entries
from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.references.entries import Bibliography, Entry
from whycite.references.report import CheckedReference, ReferenceReport

__all__ = ["BibliographyChange", "apply_changes", "diff_changes", "plan_changes"]

_ONLY_IF_CONFIRMED = {"missing-doi"}  # what a record adds is certain if the rest of the reference agrees with it
_FIELD_START = re.compile(r"\s*=\s*([{\"])")
_INDENT = re.compile(r"\n([ \t]*)[A-Za-z][\w-]*\s*=")
_CLOSING = {"{": "}", '"': '"'}


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
    line_end = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    if "\r" in plain or plain.startswith("\ufeff") or plain.replace("\n", line_end) != text:
        return BibliographyChange(path, data, data, (), (f"{path}: mixed line ends, so nothing is changed in it",))
    fixed: list[str] = []
    refused: list[str] = []
    # From the end, so that the places of earlier entries stay valid.
    for reference in sorted(references, key=_start, reverse=True):
        for description, edited in _edits(plain, reference):
            if edited is None:
                refused.append(f"{reference.entry.place}: {description}: by hand, since the field is not in braces")
            else:
                plain = edited
                fixed.append(f"{reference.entry.place}: {description}")
    content = plain.replace("\n", line_end).encode()
    return BibliographyChange(path, data, content, tuple(reversed(fixed)), tuple(reversed(refused)))


def _start(reference: CheckedReference) -> int:
    return reference.entry.source.start if reference.entry.source else 0


def _edits(text: str, reference: CheckedReference) -> Iterable[tuple[str, str | None]]:
    """What is mended in an entry, and the whole text after each; None if that is not possible."""
    entry, source = reference.entry, reference.entry.source
    if source is None:
        return
    if any(problem.rule == "doubled-key" and not problem.field for problem in reference.problems):
        if repeats := _without_entry(text, entry):
            yield "removed, since the same entry stands before", repeats
        return
    for problem in reference.problems:
        if not problem.correction or (problem.rule in _ONLY_IF_CONFIRMED and reference.verdict != "confirmed"):
            continue
        edited = _with_field(text, source, problem.field, problem.correction)
        yield f"{problem.field} = {{{problem.correction}}}", edited
        text = edited if edited is not None else text


def _without_entry(text: str, entry: Entry) -> str | None:
    """The text without an entry, if an earlier one is the same; the blank lines around it become one."""
    source = entry.source
    entries = locate_entries(text)
    earlier = next((same for same in entries if same.key == entry.key), None)
    if source is None or earlier is None or earlier.start == source.start:
        return None
    if (earlier.type, earlier.fields) != (source.type, source.fields):
        return None
    before, after = text[: source.start].rstrip("\n"), text[source.end :].lstrip("\n")
    edited = f"{before}\n\n{after}" if after else f"{before}\n"
    old, new = ([(located.key, located.fields) for located in locate_entries(whole)] for whole in (text, edited))
    old.remove((source.key, source.fields))
    return edited if sorted(old, key=repr) == sorted(new, key=repr) else None


def _with_field(text: str, source: BibtexEntry, name: str, value: str) -> str | None:
    """The text with a field of an entry set; None if that would change anything else."""
    current = next((entry for entry in locate_entries(text) if entry.start == source.start), None)
    if current is None or (name == "doi" and any(sign in value for sign in "{}\\%#")):
        return None
    if name in current.fields:
        span = _value_span(text, current, name)
        edited = text[: span[0]] + value + text[span[1] :] if span else None
    else:
        edited = _with_new_field(text, current, name, value)
    return edited if edited is not None and _is_only_change(text, edited, source.start, name, value) else None


def _value_span(text: str, entry: BibtexEntry, name: str) -> tuple[int, int] | None:
    """Where the value of a field is, inside its braces or quotes."""
    depth = 0
    for position in range(entry.start, entry.end):
        sign = text[position]
        if sign in "{}" and text[position - 1] != "\\":
            depth += 1 if sign == "{" else -1
        starts = depth == 1 and text[position : position + len(name)].lower() == name
        if starts and not text[position - 1].isalnum():
            field = _FIELD_START.match(text, position + len(name))
            if field:
                end = _closing(text, field.end(), entry.end, _CLOSING[field[1]])
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


def _with_new_field(text: str, entry: BibtexEntry, name: str, value: str) -> str | None:
    body = text[entry.start : entry.end - 1].rstrip()
    if text[entry.end - 1] not in "})" or "%" in body.rpartition("\n")[2]:
        return None
    indent = _INDENT.search(body)
    comma = "" if body.endswith(",") else ","
    field = f"\n{indent[1]}{name} = {{{value}}}" if indent else f" {name} = {{{value}}}"
    after = text[entry.start + len(body) : entry.end - 1]
    trailing = "," if body.endswith(",") else ""
    return text[: entry.start] + body + comma + field + trailing + after + text[entry.end - 1 :]


def _is_only_change(text: str, edited: str, start: int, name: str, value: str) -> bool:
    old, new = ({entry.start: entry for entry in locate_entries(whole)} for whole in (text, edited))
    changed = new.get(start)
    if changed is None or len(old) != len(new) or changed.fields.get(name) != value:
        return False
    if {**changed.fields, name: ""} != {**old[start].fields, name: ""}:
        return False
    return [e.fields for e in old.values() if e.start != start] == [e.fields for e in new.values() if e.start != start]


def diff_changes(changes: Iterable[BibliographyChange], labels: Mapping[str, str] | None = None) -> str:
    """Changes as a unified diff."""
    parts = []
    for change in changes:
        label = (labels or {}).get(change.path, change.path)
        old, new = (data.decode("utf-8", "replace").splitlines(keepends=True) for data in _contents(change))
        parts += [line if line.endswith("\n") else f"{line}\n" for line in unified_diff(old, new, label, label)]
    return "".join(parts)


def _contents(change: BibliographyChange) -> tuple[bytes, bytes]:
    return change.old_content, change.new_content


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
