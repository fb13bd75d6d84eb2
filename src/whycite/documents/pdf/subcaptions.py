"""Captions of the parts of a figure that stand side by side: "(a) Before the change." "(b) After it."."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from whycite.documents.pdf.textlines import PdfLine

__all__ = ["split_subcaptions"]


_LABEL = re.compile(r"\([b-h]\)")  # of any part but the first, whose caption is to the left
_FIRST_LABEL = re.compile(r"\(a\)")
_MIN_GAP = 0.8  # of the type size, between two captions; words of one are closer
_MAX_STEP = 1.6  # of the type size, between two lines of one caption
_SIZE_TOLERANCE = 0.05  # by which the size varies from line to line
_MAX_LINES = 12  # of one caption
_Gap = tuple[float, float]  # from x to x


def split_subcaptions(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines of a page in reading order, those that run through two captions side by side split and read in turn."""
    result = list(lines)
    for line in lines:
        gap = _labelled_gap(line)
        place = next((i for i, candidate in enumerate(result) if candidate is line), None) if gap else None
        if gap is not None and place is not None:
            block = _block(result, place, gap)
            if any(_FIRST_LABEL.match(part.text) or _LABEL.match(part.text) for part in block):
                _replace_block(result, block, gap)
    return result


def _labelled_gap(line: PdfLine) -> _Gap | None:
    """The gap before the label of a second caption."""
    if line.role != "body":
        return None
    for left, right in pairwise(line.runs):
        if right.spaced and right.x0 - left.x1 > _MIN_GAP * line.size and _LABEL.match(right.text):
            return left.x1, right.x0
    return None


def _block(lines: Sequence[PdfLine], index: int, gap: _Gap) -> list[PdfLine]:
    """The line at `index` and its neighbours that leave the gap blank, too."""
    block = [lines[index]]
    for order in (range(index - 1, -1, -1), range(index + 1, len(lines))):
        neighbour = lines[index]
        for i in order[:_MAX_LINES]:
            line = lines[i]
            near = 0 < abs(line.y - neighbour.y) < _MAX_STEP * neighbour.size and line.columns == neighbour.columns
            alike = line.role == "body" and abs(line.size - neighbour.size) <= _SIZE_TOLERANCE * neighbour.size
            if not (near and alike and _leaves_blank(line, gap)):
                break
            block.append(line)
            neighbour = line
    return sorted(block, key=lambda line: -line.y)


def _leaves_blank(line: PdfLine, gap: _Gap) -> bool:
    """Whether nothing of a line stands in the middle of a gap, or near it."""
    middle = (gap[0] + gap[1]) / 2
    left = max((run.x1 for run in line.runs if run.x0 < middle), default=0.0)
    right = min((run.x0 for run in line.runs if run.x0 >= middle), default=float("inf"))
    return left <= middle and right - left > _MIN_GAP * line.size


def _replace_block(lines: list[PdfLine], block: Sequence[PdfLine], gap: _Gap) -> None:
    """Put the left halves of the lines of a block, then the right ones, in its place, as captions."""
    middle = (gap[0] + gap[1]) / 2
    halves: tuple[list[PdfLine], list[PdfLine]] = ([], [])
    for line in block:
        for half, runs in enumerate(
            ([run for run in line.runs if run.x0 < middle], [run for run in line.runs if run.x0 >= middle])
        ):
            if runs:
                halves[half].append(replace(line, runs=runs, role="caption"))
    ids = {id(line) for line in block}
    place = next(i for i, line in enumerate(lines) if id(line) in ids)
    lines[:] = [line for line in lines if id(line) not in ids]
    lines[place:place] = [*halves[0], *halves[1]]
