"""Unified diffs of files into which text was put; they take no longer than the files are long."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from whycite.check.fixing.encoding import Insertion

__all__ = ["hunks"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_AROUND = 3  # lines shown before and after what changes


def hunks(label: str, text: str, insertions: Sequence[Insertion]) -> str:
    """The diff of one file; empty where nothing is put into it."""
    if not insertions:
        return ""
    lines = list(_LINE.finditer(text))
    changed = _changed(lines, len(text), insertions)
    shown = [f"--- {label}\n+++ {label}\n"]
    grown = 0
    for group in _groups(sorted(changed)):
        first, last = max(0, group[0] - _AROUND), min(len(lines), group[-1] + _AROUND + 1)
        body: list[str] = []
        for number in range(first, max(last, group[-1] + 1)):
            old = lines[number][0] if number < len(lines) else ""
            if number not in changed:
                body.append(_row(" ", old))
                continue
            body += [_row("-", old)] * bool(old)
            body += [_row("+", new[0]) for new in _LINE.finditer(changed[number])]
        removed = sum(row[0] in " -" for row in body)
        added = sum(row[0] in " +" for row in body)
        shown.append(f"@@ -{_range(first, removed)} +{_range(first + grown, added)} @@\n")
        shown += body
        grown += added - removed
    return "".join(shown)


def _changed(lines: Sequence[re.Match[str]], length: int, insertions: Sequence[Insertion]) -> dict[int, str]:
    """The new text of each line that changes, by its number from 0; one behind the last where lines are added."""
    starts = [line.start() for line in lines]
    whole = not lines or lines[-1][0].endswith(("\n", "\r"))
    changed: dict[int, str] = {}
    # From the last to the first, of those for one place too: each then finds its place as it was.
    for _, insertion in sorted(enumerate(insertions), key=lambda pair: (pair[1].at, pair[0]), reverse=True):
        behind = insertion.at == length and whole
        number = len(lines) if behind else max(0, bisect_right(starts, insertion.at) - 1)
        old = changed.get(number, lines[number][0] if number < len(lines) else "")
        at = insertion.at - (starts[number] if number < len(lines) else length)
        changed[number] = old[:at] + insertion.text + old[at:]
    return changed


def _groups(numbers: Sequence[int]) -> Iterator[list[int]]:
    """The numbers in runs that share the lines around them."""
    group: list[int] = []
    for number in numbers:
        if group and number - group[-1] > 2 * _AROUND:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _row(sign: str, line: str) -> str:
    if line.endswith(("\n", "\r")):
        return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line[:-1]}\n"
    return f"{sign}{line}\n\\ No newline at end of file\n"


def _range(first: int, count: int) -> str:
    return f"{first + bool(count)},{count}"
