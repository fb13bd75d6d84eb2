"""Captions: how they begin, and how far they go."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whycite.documents.pdf.floats import is_row
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Box

__all__ = ["is_caption_label", "mark_captions"]

_LABEL = re.compile(
    r"(?:extended data |supplementary |supporting |supplemental )?"
    r"(?P<kind>figure|fig\.?|table|tab\.|scheme|algorithm|listing|box|plate|chart|video|movie|exhibit)\s?"
    r"(?P<number>[A-Z]{0,2}\d{1,3}(?:[.-]\d{1,3})?[a-z]?|[IVX]{1,5}|[A-Z]\.\d{1,2})"
    r"(?P<after>\s?[:.|—–]|\s?-\s|\s?\(|\s|$)",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"(?:\b(?:cf|see|e\.g|i\.e|vs|also)\.|[,;:])$", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?:;]['\")\]”’]*\d{0,2}$")


def is_caption_label(text: str) -> bool:
    """Whether a line holds the label of a caption and nothing else ("Table 1")."""
    match = _LABEL.match(text)
    return bool(match and match.end() >= len(text.rstrip()))


def mark_captions(lines: Sequence[Line], rules: Sequence[Box], body: Measures) -> list[list[Line]]:
    """Give the captions of a page (lines in reading order) the role "caption"; each as its lines."""
    captions: list[list[Line]] = []
    for i, line in enumerate(lines):
        if line.role != "body" or not _begins(line, lines[i - 1] if i else None, body):
            continue
        caption = [line]
        line.role = "caption"
        for below in lines[i + 1 :]:
            if not _goes_on(caption, below, rules):
                break
            below.role = "caption"
            caption.append(below)
        captions.append(caption)
    return captions


def _begins(line: Line, above: Line | None, body: Measures) -> bool:
    match = _LABEL.match(line.text)
    if not match or line.text[0].islower():
        return False
    rest = line.text[match.end() :].lstrip()
    usual = (above or line).main.font
    set_off = abs(line.size - body.size) > 0.05 * body.size or line.runs[0].font is not usual
    separated = not match["after"].isspace()
    opens = not rest[:1].islower() or _is_distinct(line, match.end())
    if above is None or above.columns != line.columns or above.y <= line.y:
        if above is not None and not _FINISHED.search(above.text) and above.role == "body" and not set_off:
            return match["after"].strip() == ":"
        return separated or (opens and (set_off or rest[:1].isupper()))
    gap = (above.y - line.y) / max(body.pitch, 1.0)
    if gap > 1.25 or above.role != "body" or is_row(above):
        return separated or (opens and (set_off or gap > 1.6) and bool(set_off or rest[:1].isupper()))
    if separated and rest[:1].isupper() and _ends_text(above, body):
        return True
    return separated and set_off and (line.runs[0].font.bold or abs(line.size - above.size) > 0.05 * above.size)


def _ends_text(line: Line, body: Measures) -> bool:
    """Whether no sentence goes on after a line: it ends one, or is no full line of running text."""
    if line.x1 < line.right - 4 * body.size:
        return True
    return bool(_FINISHED.search(line.text)) and not _SHORTENED.search(line.text)


def _is_distinct(line: Line, length: int) -> bool:
    """Whether the first characters of a line, its label, are set in another font than what follows."""
    for run in line.runs:
        if length <= 0:
            return run.font is not line.runs[0].font
        length -= len(run.text) + run.spaced
    return False


def _tallest(line: Line) -> float:
    """The size of the capitals where a line is set in small ones."""
    return max(run.size for run in line.runs)


def _goes_on(caption: Sequence[Line], below: Line, rules: Sequence[Box]) -> bool:
    """Whether a line carries on the caption above it."""
    last = caption[-1]
    if below.role != "body" or below.page != last.page or (_LABEL.match(below.text) and below.runs[0].font.bold):
        return False
    if not (
        caption[0].columns[0] <= below.columns[0] and below.columns[1] <= max(caption[0].columns[1], last.columns[1])
    ):
        return False
    pitch = 1.45 * max(last.size, below.size)
    if len(caption) > 2:
        pitch = min(pitch, 1.12 * (caption[-2].y - last.y))
    alike = any(abs(size - last.size) <= 0.06 * last.size for size in (below.size, _tallest(below)))
    if not 0.3 * last.size < last.y - below.y <= pitch or not alike:
        return False
    if max(below.gaps, default=0) > 2.2 or below.x0 > last.x1:
        return False
    middle = (below.x0 + below.x1) / 2
    return not any(below.y + 0.5 * below.size < rule[1] < last.y and rule[0] < middle < rule[2] for rule in rules)
