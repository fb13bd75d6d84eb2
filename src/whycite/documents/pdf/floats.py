"""Text that belongs to pictures and tables, and lines that are running text."""

from __future__ import annotations

from collections.abc import Sequence

from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Box

__all__ = ["dense_lines", "mark_floats", "prose_lines"]

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
    letters = sum(map(str.isalpha, line.text))
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
            for line in inside:
                line.role = "figure"
    for caption in captions:
        table = caption[0].text[:1].lower() == "t"
        taken = _beside(caption, lines, prose, body, downwards=True) if table else []
        for line in taken or _beside(caption, lines, prose, body, downwards=False):
            line.role = "table" if table else "figure"
    _mark_rows(lines, prose)
    if not body.mono:
        _mark_code(lines)


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
        if _is_heading_like(line, body):
            break
        taken.append(line)
        edge = line.y
    return [line for line in taken if line.role == "body"]


def _is_heading_like(line: Line, body: Measures) -> bool:
    bold = line.bold and not body.bold
    return line.size > 0.95 * body.size and bold and line.x0 - line.left < body.size and not _has_cells(line)


def _mark_rows(lines: Sequence[Line], prose: set[int]) -> None:
    """Rows of cells that follow each other are a table even without a caption."""
    rows = [line.role == "body" and id(line) not in prose and _has_cells(line) and _is_numeric(line) for line in lines]
    for i, is_row in enumerate(rows):
        if is_row and (rows[i - 1 : i] == [True] or rows[i + 1 : i + 2] == [True]):
            lines[i].role = "table"


def _mark_code(lines: Sequence[Line]) -> None:
    """Lines set in a typewriter's font that follow each other are code, not sentences."""
    typed = [line.role == "body" and all(run.font.mono for run in line.runs) for line in lines]
    for i, is_typed in enumerate(typed):
        if is_typed and (typed[i - 1 : i] == [True] or typed[i + 1 : i + 2] == [True]):
            lines[i].role = "code"


def _is_numeric(line: Line) -> bool:
    words = line.text.split()
    printed = sum(len(run.text) for run in line.runs if run.font.name and not run.font.math)
    return 2 * printed > line.length and 2 * sum(any(map(str.isdigit, word)) for word in words) >= len(words)
