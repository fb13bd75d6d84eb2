"""What stands on the page but not in the text: running heads, page numbers, line numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.pdf.captions import is_caption_label
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Page, Run

__all__ = ["drop_line_numbers", "mark_contents", "mark_furniture"]

_MARGIN_ROWS = 5  # so many rows from the top or bottom may be furniture
_FOLIO = re.compile(
    r"(?:page\s*|p\.\s*|S|e)?[-–—|\[(]*\s*(?:\d{1,6}|[ivxlc]{1,7})\s*[-–—|\])]*(?:\s*(?:of|/)\s*\d{1,5})?",
    re.IGNORECASE,
)
_LEADER = re.compile(r"(?:\.\s?){5}\s?[\divxlc]{1,5}$")
_DIGITS = re.compile(r"\d+")
_FEW_NUMBERS = 5
_JITTER = 1.5  # points by which numbers of one column stand aside


def drop_line_numbers(page: Page) -> None:
    """Take out the numbers that count the lines of a manuscript in its margin."""
    numbers = [run for run in page.runs if run.text.isdigit() and len(run.text) <= 4]
    gone: set[int] = set()
    for edge in (_right_edge, _left_edge):
        column: list[Run] = []
        for run in [*sorted(numbers, key=edge), None]:
            if run is not None and (not column or edge(run) - edge(column[-1]) < _JITTER):
                column.append(run)
                continue
            if len(column) >= _FEW_NUMBERS and _counts_lines(column, page):
                gone.update(map(id, column))
            column = [] if run is None else [run]
    page.runs = [run for run in page.runs if id(run) not in gone]


def _right_edge(run: Run) -> float:
    return run.x1


def _left_edge(run: Run) -> float:
    return run.x0


def _counts_lines(column: list[Run], page: Page) -> bool:
    column = sorted(column, key=lambda run: -run.y)
    values = [int(run.text) for run in column]
    steps = Counter(below - above for above, below in pairwise(values))
    step, count = steps.most_common(1)[0]
    left, right = min(run.x0 for run in column), max(run.x1 for run in column)
    inside = sum(run.x0 < left - 1 for run in page.runs), sum(run.x1 > right + 1 for run in page.runs)
    return step in (1, 5) and count > 0.8 * (len(column) - 1) and min(inside) < len(column)


def mark_furniture(pages: Sequence[Sequence[Line]], heights: Sequence[float], body: Measures) -> None:
    """Give running heads, feet and page numbers the role "furniture"."""
    edges = [[_rows(lines, top) for top in (True, False)] for lines in pages]
    said: Counter[tuple[int, str, int]] = Counter()
    placed: Counter[tuple[int, int]] = Counter()
    for page in edges:
        for end, rows in enumerate(page):
            said.update({(end, _pattern(row), key) for row in rows for key in _near(row)})
            placed.update((end, key) for row in rows[:1] if _apart(row, rows[1:2], body) for key in _near(row))
    for page, height in zip(edges, heights, strict=True):
        for end, rows in enumerate(page):
            outside = _outside(rows, body, end == 0) if len(pages) > 1 else 0
            for i, row in enumerate(rows):
                if 0.2 * height < row[0].y < 0.8 * height:
                    break
                apart = _apart(row, rows[i + 1 : i + 2], body)
                pattern = _pattern(row)
                again = max(said[end, pattern, key] for key in _near(row)) if pattern else 0
                same_place = max(placed[end, key] for key in _near(row))
                if (
                    i < outside
                    or _is_folio(row)
                    or again >= (2 if len(pages) < 8 else 3)
                    or (apart and same_place > max(2, 0.4 * len(pages)))
                ):
                    for line in row:
                        line.role = "furniture"
                else:
                    break


def _outside(rows: Sequence[Sequence[Line]], body: Measures, top: bool) -> int:
    """How many of the outermost rows lie beyond the text of most pages, with white space between."""
    edge = body.top + 0.6 * body.pitch if top else body.bottom - 0.6 * body.pitch
    beyond = [row for row in rows if (row[0].y > edge if top else row[0].y < edge)]
    count = len(beyond)
    return count if beyond and _apart(beyond[-1], rows[count : count + 1], body) else 0


def mark_contents(lines: Sequence[Line]) -> None:
    """Give the lines of a table of contents ("Methods . . . . . 12") the role "contents"."""
    for line in lines:
        if line.role == "body" and _LEADER.search(line.text):
            line.role = "contents"


def _near(row: Sequence[Line]) -> tuple[int, int]:
    """Two overlapping bins of height, so that neighbours always share one."""
    return int(row[0].y // 8), int((row[0].y + 4) // 8) + 100_000


def _rows(lines: Sequence[Line], top: bool) -> list[list[Line]]:
    """The outermost rows of a page, from the edge inwards; lines of one baseline form a row."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y if top else line.y):
        if rows and abs(rows[-1][0].y - line.y) < 0.4 * line.size:
            rows[-1].append(line)
        elif len(rows) == _MARGIN_ROWS + 1:
            break
        else:
            rows.append([line])
    return rows


def _pattern(row: Sequence[Line]) -> str:
    text = " ".join(line.text for line in sorted(row, key=lambda line: line.x0))
    return "" if is_caption_label(text) else _DIGITS.sub("#", text).lower()


def _is_folio(row: Sequence[Line]) -> bool:
    return len(row) == 1 and bool(_FOLIO.fullmatch(row[0].text))


def _apart(row: Sequence[Line], inner: Sequence[Sequence[Line]], body: Measures) -> bool:
    """Whether more white space than between two lines separates a row from the next one inwards."""
    return not inner or abs(row[0].y - inner[0][0].y) > 1.45 * max(body.pitch, 1.2 * row[0].size)
