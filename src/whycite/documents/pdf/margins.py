"""What surrounds the text of a page: running heads, page and line numbers, footnotes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.pdf.floats import is_caption_label
from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.textlines import Box, PdfLine, PdfPage, TextRun
from whycite.text.language import reads_as_prose

__all__ = [
    "FOLIO",
    "LEADER",
    "begins_footnote",
    "drop_line_numbers",
    "footnote_mark",
    "mark_contents",
    "mark_footnotes",
    "mark_furniture",
]


_MARGIN_ROWS = 5  # at the top or bottom that may be running heads or feet
FOLIO = re.compile(
    r"(?:page\s*|p\.\s*|S|e)?[-–—|\[(]*\s*(?:\d{1,6}|[ivxlc]{1,7})\s*[-–—|\])]*(?:\s*(?:of|/)\s*\d{1,5})?",
    re.IGNORECASE,
)
LEADER = re.compile(r"(?:\.\s?){5}\s?[\divxlc]{1,5}$")
_DIGITS = re.compile(r"\d+")
_MIN_LINE_NUMBERS = 5  # on a page; fewer may be anything
_MAX_LINE_NUMBER_DIGITS = 4
_JITTER = 1.5  # points by which numbers in one column are misaligned
_MIN_REGULAR_STEPS = 0.8  # of the steps from number to number; lines are counted with hardly an exception
_MARGIN_BOTTOM = 0.2  # of the height of the page; running feet are below it
_MARGIN_TOP = 0.8  # of the height of the page; running heads are above it
_SAME_PLACE_SHARE = 0.4  # of the pages; text that stands apart at one height on more of them is furniture
_BEYOND_TEXT = 0.6  # of the pitch beyond the text of most pages; less may be text set slightly off
_ROW_TOLERANCE = 0.4  # of the type size, between baselines in one row; lines below each other are farther apart
_MIN_TEXT_LENGTH = 35  # characters of a line of text in a narrow column
_MIN_ENTRY_LENGTH = 50  # characters of a line of a reference list; a running head is shorter
_MAX_ENTRY_GAP = 1.5  # of the type size, between its words; the parts of a running head are farther apart
_MAX_ENTRY_STEP = 2.2  # pitches between entries; running heads and feet are farther from the text
_APART = 1.45  # pitches between rows; successive lines of text are closer
_SINGLE_SPACING = 1.2  # of the type size, the least pitch expected of a row in large type


def drop_line_numbers(page: PdfPage) -> None:
    """Remove the line numbers in the margin of a manuscript."""
    numbers = [run for run in page.runs if run.text.isdigit() and len(run.text) <= _MAX_LINE_NUMBER_DIGITS]
    number_ids: set[int] = set()
    for edge in (_right_edge, _left_edge):
        column: list[TextRun] = []
        for run in [*sorted(numbers, key=edge), None]:
            if run is not None and (not column or edge(run) - edge(column[-1]) < _JITTER):
                column.append(run)
                continue
            if len(column) >= _MIN_LINE_NUMBERS and _counts_lines(column, page):
                number_ids.update(map(id, column))
            column = [] if run is None else [run]
    page.runs = [run for run in page.runs if id(run) not in number_ids]


def _right_edge(run: TextRun) -> float:
    return run.x1


def _left_edge(run: TextRun) -> float:
    return run.x0


def _counts_lines(column: list[TextRun], page: PdfPage) -> bool:
    column = sorted(column, key=lambda run: -run.y)
    values = [int(run.text) for run in column]
    steps = Counter(below - above for above, below in pairwise(values))
    step, count = steps.most_common(1)[0]
    x_min, x_max = min(run.x0 for run in column), max(run.x1 for run in column)
    runs_beyond = sum(run.x0 < x_min - 1 for run in page.runs), sum(run.x1 > x_max + 1 for run in page.runs)
    return step in (1, 5) and count > _MIN_REGULAR_STEPS * (len(column) - 1) and min(runs_beyond) < len(column)


def mark_furniture(pages: Sequence[Sequence[PdfLine]], heights: Sequence[float], body: BodyMeasures) -> None:
    """Give running heads, feet and page numbers the role "furniture"."""
    edges = [[_outermost_rows(lines, top) for top in (True, False)] for lines in pages]
    pattern_counts: Counter[tuple[int, str, int]] = Counter()
    place_counts: Counter[tuple[int, int]] = Counter()
    for page in edges:
        for end, rows in enumerate(page):
            pattern_counts.update({(end, _pattern(row), key) for row in rows for key in _height_bins(row)})
            place_counts.update(
                (end, key) for row in rows[:1] if _stands_apart(row, rows[1:2], body) for key in _height_bins(row)
            )
    for page, height in zip(edges, heights, strict=True):
        for end, rows in enumerate(page):
            outer_rows = _count_outer_rows(rows, body, end == 0) if len(pages) > 1 else 0
            for i, row in enumerate(rows):
                if _MARGIN_BOTTOM * height < row[0].y < _MARGIN_TOP * height:
                    break
                apart = _stands_apart(row, rows[i + 1 : i + 2], body)
                pattern = _pattern(row)
                repeats = max(pattern_counts[end, pattern, key] for key in _height_bins(row)) if pattern else 0
                same_place = max(place_counts[end, key] for key in _height_bins(row))
                if (
                    i < outer_rows
                    or _is_folio(row)
                    or repeats >= (2 if len(pages) < 8 else 3)
                    or (apart and same_place > max(2, _SAME_PLACE_SHARE * len(pages)) and not any(map(_is_prose, row)))
                ):
                    for line in row:
                        line.role = "furniture"
                else:
                    break


def _count_outer_rows(rows: Sequence[Sequence[PdfLine]], body: BodyMeasures, top: bool) -> int:
    """The number of outer rows beyond the text of most pages, with white space between."""
    edge = body.top + _BEYOND_TEXT * body.pitch if top else body.bottom - _BEYOND_TEXT * body.pitch
    beyond = [row for row in rows if (row[0].y > edge if top else row[0].y < edge)]
    if any(_is_prose(line) for row in beyond for line in row):
        return 0  # the text of this page is longer
    count = len(beyond)
    while 0 < count < len(rows) and _continues_list(rows[count - 1], rows[count], body):
        count -= 1
    return count if count and _stands_apart(rows[count - 1], rows[count : count + 1], body) else 0


def _continues_list(row: Sequence[PdfLine], inner: Sequence[PdfLine], body: BodyMeasures) -> bool:
    """Whether a row goes on with a reference list: it is close, and a long line in the body's type or right below."""
    step = abs(row[0].y - inner[0].y) / body.pitch
    return step <= _APART or (
        step < _MAX_ENTRY_STEP
        and any(
            line.length >= _MIN_ENTRY_LENGTH
            and abs(line.size - body.size) <= _SAME_SIZE * body.size
            and max(line.gaps, default=0) < _MAX_ENTRY_GAP
            for line in row
        )
    )


def mark_contents(lines: Sequence[PdfLine]) -> None:
    """Give the lines of a table of contents ("Methods . . . . . 12") the role "contents"."""
    for line in lines:
        if line.role == "body" and LEADER.search(line.text):
            line.role = "contents"


def _height_bins(row: Sequence[PdfLine]) -> tuple[int, int]:
    """Two overlapping bins of height, so that neighbouring heights always share one."""
    return int(row[0].y // 8), int((row[0].y + 4) // 8) + 100_000


def _outermost_rows(lines: Sequence[PdfLine], top: bool) -> list[list[PdfLine]]:
    """The outermost rows of a page, from the edge inwards; lines on one baseline form a row."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.y if top else line.y):
        if rows and abs(rows[-1][0].y - line.y) < _ROW_TOLERANCE * line.size:
            rows[-1].append(line)
        elif len(rows) == _MARGIN_ROWS + 1:
            break
        else:
            rows.append([line])
    return rows


def _pattern(row: Sequence[PdfLine]) -> str:
    text = " ".join(line.text for line in sorted(row, key=lambda line: line.x0))
    return "" if is_caption_label(text) else _DIGITS.sub("#", text).lower()


def _is_prose(line: PdfLine) -> bool:
    """Whether a line reads as prose and is as long as a line of text; a running head is shorter."""
    return line.length >= _MIN_TEXT_LENGTH and reads_as_prose(line.text)


def _is_folio(row: Sequence[PdfLine]) -> bool:
    return len(row) == 1 and bool(FOLIO.fullmatch(row[0].text))


def _stands_apart(row: Sequence[PdfLine], inner: Sequence[Sequence[PdfLine]], body: BodyMeasures) -> bool:
    """Whether a row is farther from the next one inwards than lines are from each other."""
    return not inner or abs(row[0].y - inner[0][0].y) > _APART * max(body.pitch, _SINGLE_SPACING * row[0].size)


_MAX_UNMARKED_LINES = 12  # of footnotes without a mark; more small print is a quotation or a list
_MAX_MARK_SIZE = 0.85  # of the size of the line; a larger number is no superscript
_MIN_MARK_RISE = 0.15  # of the size of the line, above its baseline; a lower number is no superscript
_TIGHT_PITCH = 0.9  # of the pitch of running text; footnotes of about its size are set closer
_MAX_NOTE_RULE = 0.6  # of the column, for a rule at its top: a longer one is below a running head
_MAX_NOTE_SIZE = 0.94  # of the body size; larger lines are footnotes only if they are set tightly
_MAX_TIGHT_SIZE = 1.04  # of the body size; larger lines are not footnotes even then
_SAME_SIZE = 0.05  # share by which sizes of lines in the same type differ
_MAX_SMALL_PRINT = 0.88  # of the body size; larger lines without a mark may be text
_FOOTNOTE_MARK = re.compile(r"((?:\d{1,2}|[*∗†‡§¶♯♭⋆]{1,3})\s?)(?![\d.,)%])\S")


def begins_footnote(line: PdfLine) -> bool:
    """Whether a line begins with the mark of a footnote."""
    return bool(footnote_mark(line))


def footnote_mark(line: PdfLine) -> str:
    """The mark of a footnote that a line begins with, and the space after it; "" if there is none."""
    match = _FOOTNOTE_MARK.match(line.text)
    is_mark = match and (
        not line.text[0].isdigit()
        or line.runs[0].size < _MAX_MARK_SIZE * line.size
        or line.runs[0].y > line.y + _MIN_MARK_RISE * line.size
        or line.text.lstrip("0123456789 ")[:1].isupper()
        or "http" in line.text[:9]
        or "www." in line.text[:7]
    )
    return match[1] if match and is_mark else ""


def mark_footnotes(lines: Sequence[PdfLine], rules: Sequence[Box], body: BodyMeasures, list_start: int) -> None:
    """Give the footnotes of a page (lines in reading order) the role "footnote".

    In a column with lines of a reference list (from `list_start` on), only a rule separates them from its entries.
    """
    columns: defaultdict[tuple[int, int], list[PdfLine]] = defaultdict(list)
    for line in lines:
        if line.role == "body":
            columns[line.columns].append(line)
    entries = {id(line) for line in lines[list_start:]}
    for column in columns.values():
        column.sort(key=lambda line: -line.y)
        has_entries = any(id(line) in entries for line in column)
        for line in column[_first_note(column, rules, body, has_entries) :]:
            line.role = "footnote"


def _first_note(column: Sequence[PdfLine], rules: Sequence[Box], body: BodyMeasures, has_entries: bool) -> int:
    """The index of the first footnote line in a column."""
    start = len(column)
    tight = _TIGHT_PITCH * body.pitch
    pitches = [above.y - below.y for above, below in pairwise(column)]
    while start > 0:
        line = column[start - 1]
        small = line.size <= _MAX_NOTE_SIZE * body.size
        narrow = line.size <= _MAX_TIGHT_SIZE * body.size and any(
            0 < pitch <= tight for pitch in pitches[max(start - 2, 0) : start]
        )
        if not small and not narrow:
            break
        start -= 1
    small_start = start
    ruled = False
    while start < len(column):
        line = column[start]
        above = column[start - 1] if start else None
        width = line.column_right - line.column_left
        ruled = any(
            line.y + 0.5 * line.size < rule[1] < (above.y if above else line.y + 3 * line.size)
            and abs(rule[0] - line.column_left) < 20
            and (above is not None or rule[2] - rule[0] < _MAX_NOTE_RULE * width)
            for rule in rules
        )
        if ruled or (begins_footnote(line) and not has_entries):
            break
        start += 1
    if ruled or has_entries:
        return start
    unmarked, marked = column[small_start:start], column[start : start + 1]
    alike = all(
        abs(line.size - note.size) <= _SAME_SIZE * note.size and line.x0 < note.x0 + note.size
        for note in marked
        for line in unmarked
    )
    return small_start if alike and _is_small_print(unmarked, column[:small_start], body) else start


def _is_small_print(notes: Sequence[PdfLine], text: Sequence[PdfLine], body: BodyMeasures) -> bool:
    """Whether lines without a mark are footnotes all the same: few, small, and below running text."""
    under_text = bool(text) and abs(text[-1].size - body.size) <= _SAME_SIZE * body.size
    return (
        under_text
        and len(notes) <= _MAX_UNMARKED_LINES
        and all(line.size <= _MAX_SMALL_PRINT * body.size for line in notes)
    )
