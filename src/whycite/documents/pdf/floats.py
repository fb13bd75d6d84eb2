"""Text that belongs to pictures and tables, and lines that are running text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Box

__all__ = ["dense_lines", "is_row", "mark_floats", "prose_lines"]

_ADDRESS = re.compile(r"(?:https?:|ftp:|www\.|doi:|10\.\d{4,9}/)", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_FAR = 5.0  # pitches between two parts of one table or picture, at most


def prose_lines(lines: Sequence[Line], body: Measures) -> set[int]:
    """The ids of the lines of a page (in reading order) that are plainly running text."""
    sure = {id(line) for line in lines if _fills(line, body)}
    prose = set(sure)
    for i, line in enumerate(lines):
        if id(line) in prose or line.role != "body" or not _alike(line, body) or _has_cells(line):
            continue
        above, below = (lines[i - 1] if i else None), (lines[i + 1] if i + 1 < len(lines) else None)
        if above is not None and id(above) in prose and _adjoin(above, line, body) and line.x0 < above.x0 + body.size:
            prose.add(id(line))  # the last line of a paragraph
        elif (
            below is not None
            and id(below) in sure
            and _adjoin(line, below, body)
            and line.x1 > line.right - 4 * body.size
        ):
            prose.add(id(line))  # its first
    return prose


def dense_lines(lines: Sequence[Line], body: Measures) -> set[int]:
    """The ids of lines that fill their column with words, of whatever size, next to others that do."""
    dense = [
        line.role == "body"
        and line.size > 0.7 * body.size
        and line.x1 - line.x0 > 0.8 * (line.right - line.left)
        and len(line.text.split()) >= 5
        and sum(map(str.isalpha, line.text)) > 0.6 * line.length
        and not _has_cells(line)
        for line in lines
    ]
    return {
        id(line) for i, line in enumerate(lines) if dense[i] and any(dense[max(i - 1, 0) : i] + dense[i + 1 : i + 2])
    }


def _fills(line: Line, body: Measures) -> bool:
    """A full line of words in the body's size that begins at the left edge."""
    if line.role != "body" or not _alike(line, body):
        return False
    width = line.right - line.left
    words = line.text.split()
    letters = sum(map(str.isalpha, line.text)) + 4 * len(_YEAR.findall(line.text))
    return (
        line.x1 - line.x0 > 0.7 * width
        and line.x0 - line.left < 0.25 * width
        and len(words) >= 4
        and letters > 0.72 * line.length
        and not _has_cells(line)
    )


def _alike(line: Line, body: Measures) -> bool:
    return abs(line.size - body.size) <= 0.09 * body.size


def _has_cells(line: Line) -> bool:
    """Whether wide gaps part the line into cells; the gaps of a stretched line are all alike."""
    gaps = sorted(line.gaps)
    if not gaps or gaps[-1] < 1.5:
        return False
    return gaps[-1] > 3 or gaps[-1] > 2 * max(gaps[len(gaps) // 2], 0.2)


def _adjoin(above: Line, below: Line, body: Measures) -> bool:
    return above.columns == below.columns and 0 < above.y - below.y < 1.3 * body.pitch


def mark_floats(
    lines: Sequence[Line], captions: Sequence[Sequence[Line]], pictures: Sequence[Box], body: Measures
) -> None:
    """Give lines inside pictures and tables of a page the role "figure" or "table", those of listings "code"."""
    prose = prose_lines(lines, body) | dense_lines(lines, body)
    for box in pictures:
        inside = [line for line in lines if line.role == "body" and _within(line, box)]
        if 2 * sum(id(line) in prose for line in inside) <= len(inside):
            _mark_figure(inside)
    for caption in captions:
        table = caption[0].text[:1].lower() == "t"
        above = _beside(caption, lines, prose, body, downwards=False)
        if not table:
            if not _runs_on(above, lines, prose):
                _mark_figure(above)
            continue
        below = _beside(caption, lines, prose, body, downwards=True)
        for line in below if below and not _is_nearer(above, below, caption) else above:
            line.role = "table"
    _mark_rows(lines, prose, body)
    if body.steady and not body.mono:
        _mark_code(lines)


def _runs_on(above: Sequence[Line], lines: Sequence[Line], prose: set[int]) -> bool:
    """Whether the lines above a caption go on with running text of their size, without white space between."""
    if not above:
        return False
    top = above[-1]
    tight = (
        line
        for line in lines
        if id(line) in prose and line.columns == top.columns and 0 < line.y - top.y < 1.3 * top.size
    )
    return any(all(abs(line.size - other.size) <= 0.03 * line.size for other in above) for line in tight)


def _is_nearer(above: Sequence[Line], below: Sequence[Line], caption: Sequence[Line]) -> bool:
    """Whether the table of a caption stands above it: there are cells, and below none, or farther off."""
    if not any(_has_cells(line) or is_row(line) for line in above):
        return False
    return above[0].y - caption[0].y < caption[-1].y - below[0].y or not any(map(_has_cells, below))


def _mark_figure(lines: Sequence[Line]) -> None:
    """What stands in a figure is left out, unless most of it is to be read: steps of a procedure, rows of a table."""
    read = sum(line.length for line in lines if _is_read(line))
    for line in lines:
        line.role = "table" if 2 * read > sum(line.length for line in lines) else "figure"


def _is_read(line: Line) -> bool:
    """Whether a line holds several whole words, or is a row of a table with a name before its numbers."""
    words = [word for word in line.text.split() if sum(map(str.isalpha, word)) > 1]
    letters = sum(map(str.isalpha, line.text))
    if len(words) >= 4 and letters > 0.7 * line.length and letters > 3 * len(line.text.split()):
        return not _has_cells(line)
    return bool(words) and is_row(line)


def _within(line: Line, box: Box) -> bool:
    middle = (line.x0 + line.x1) / 2
    return box[0] <= middle <= box[2] and box[1] - 2 <= line.y <= box[3]


def _beside(
    caption: Sequence[Line], lines: Sequence[Line], prose: set[int], body: Measures, downwards: bool
) -> list[Line]:
    """The lines next to a caption, down or up, as far as nothing is running text or a heading."""
    first, last = caption[0].columns[0], max(line.columns[1] for line in caption)
    edge = caption[-1].y if downwards else caption[0].y
    near = [
        line
        for line in lines
        if line.columns[1] >= first and line.columns[0] <= last and (line.y < edge if downwards else line.y > edge)
    ]
    near.sort(key=lambda line: -line.y if downwards else line.y)
    taken: list[Line] = []
    for line in near:
        if abs(line.y - edge) > _FAR * body.pitch or id(line) in prose or line.role not in ("body", "figure"):
            break
        if _is_heading_like(line, body) or (abs(line.y - edge) > 1.6 * body.pitch and _is_full(line, body)):
            break
        taken.append(line)
        edge = line.y
    return [line for line in taken if line.role == "body"]


def _is_full(line: Line, body: Measures) -> bool:
    """A line of words from edge to edge of its column, in the body's size: text after a float, not a part of it."""
    full = line.x1 - line.x0 > 0.9 * (line.right - line.left) and len(line.text.split()) >= 5
    return full and _alike(line, body) and not _has_cells(line)


def _is_heading_like(line: Line, body: Measures) -> bool:
    bold = line.bold and not body.bold
    return line.size > 0.95 * body.size and bold and line.x0 - line.left < body.size and not _has_cells(line)


def is_row(line: Line) -> bool:
    """Whether a line is a row of a table: cells, most of them numbers, or numbers alone."""
    words = line.text.split()
    numbers = [word for word in words if any(map(str.isdigit, word))]
    if len(words) > 1 and not any(map(str.isalpha, line.text)):
        return len(numbers) == len(words) and any(sum(map(str.isdigit, word)) > 1 for word in words)
    strange = [run for run in line.runs if run.font.math or not run.font.name]
    if not strange and len(line.cells) > 2:
        counts = sum(sum(map(str.isdigit, cell)) > sum(map(str.isalpha, cell)) for cell in line.cells[1:])
        if 2 * counts >= len(line.cells) - 1:
            return True
    printed = 2 * sum(len(run.text) for run in strange) < line.length
    return printed and _has_cells(line) and 2 * len(numbers) >= len(words)


def _mark_rows(lines: Sequence[Line], prose: set[int], body: Measures) -> None:
    """Rows of cells that follow each other are a table even without a caption; so is the head above them."""
    rows = [line.role == "body" and id(line) not in prose and is_row(line) for line in lines]
    for i, found in enumerate(rows):
        if found and (rows[i - 1 : i] == [True] or rows[i + 1 : i + 2] == [True]):
            lines[i].role = "table"
    for head, row in pairwise(lines):
        near = head.columns == row.columns and 0 < head.y - row.y < 1.8 * body.pitch
        free = head.role == "body" and id(head) not in prose
        if row.role == "table" and near and free and max(head.gaps, default=0) > 1.5:
            head.role = "table"


def _mark_code(lines: Sequence[Line]) -> None:
    """Lines set in a typewriter's font that follow each other are code, not sentences; addresses are neither."""
    typed = [line.role == "body" and all(run.font.mono for run in line.runs) for line in lines]
    address = False
    for i, is_typed in enumerate(typed):
        goes_on = address and 0 < lines[i - 1].y - lines[i].y < 1.5 * lines[i].size
        address = is_typed and (goes_on or bool(_ADDRESS.match(lines[i].text)))
        if is_typed and not address and (typed[i - 1 : i] == [True] or typed[i + 1 : i + 2] == [True]):
            lines[i].role = "code"
