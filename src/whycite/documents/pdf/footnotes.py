"""Footnotes: small lines at the foot of a column that begin with a mark or stand under a rule."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Box

__all__ = ["begins_footnote", "mark_footnotes"]

_MOST_LINES = 12  # of notes without a mark
_MARK = re.compile(r"(?:\d{1,2}|[*∗†‡§¶♯♭⋆])\s?(?![\d.,)%])\S")


def begins_footnote(line: Line) -> bool:
    """Whether a line begins with the mark of a footnote."""
    return bool(_MARK.match(line.text)) and (
        not line.text[0].isdigit()
        or line.runs[0].size < 0.85 * line.size
        or line.runs[0].y > line.y + 0.15 * line.size
        or line.text.lstrip("0123456789 ")[:1].isupper()
        or "http" in line.text[:9]
        or "www." in line.text[:7]
    )


def mark_footnotes(lines: Sequence[Line], rules: Sequence[Box], body: Measures, listed: int) -> None:
    """Give the footnotes of a page (lines in reading order) the role "footnote".

    In a column that has a line of a reference list (from `listed` on) only a rule tells them from its entries.
    """
    columns: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
    for line in lines:
        if line.role == "body":
            columns[line.columns].append(line)
    entries = {id(line) for line in lines[listed:]}
    for column in columns.values():
        column.sort(key=lambda line: -line.y)
        listing = any(id(line) in entries for line in column)
        for line in column[_first_note(column, rules, body, listing) :]:
            line.role = "footnote"


def _first_note(column: Sequence[Line], rules: Sequence[Box], body: Measures, listing: bool) -> int:
    """Where the footnotes of a column begin, from the top."""
    start = len(column)
    tight = 0.9 * body.pitch
    pitches = [above.y - below.y for above, below in pairwise(column)]
    while start > 0:
        line = column[start - 1]
        small = line.size <= 0.94 * body.size
        narrow = line.size <= 1.04 * body.size and any(
            0 < pitch <= tight for pitch in pitches[max(start - 2, 0) : start]
        )
        if not small and not narrow:
            break
        start -= 1
    first = start
    ruled = False
    while start < len(column):
        line = column[start]
        above = column[start - 1] if start else None
        ruled = any(
            line.y + 0.5 * line.size < rule[1] < (above.y if above else line.y + 3 * line.size)
            and abs(rule[0] - line.left) < 20
            for rule in rules
        )
        if ruled or (begins_footnote(line) and not listing):
            break
        start += 1
    if ruled or listing:
        return start
    unmarked, marked = column[first:start], column[start : start + 1]
    alike = all(
        abs(line.size - note.size) <= 0.05 * note.size and line.x0 < note.x0 + note.size
        for note in marked
        for line in unmarked
    )
    return first if alike and _is_small_print(unmarked, column[:first], body) else start


def _is_small_print(notes: Sequence[Line], text: Sequence[Line], body: Measures) -> bool:
    """Whether lines without any mark are notes all the same: few, small, and under running text."""
    under_text = bool(text) and abs(text[-1].size - body.size) <= 0.05 * body.size
    return under_text and len(notes) <= _MOST_LINES and all(line.size <= 0.88 * body.size for line in notes)
