"""Columns: the white gutters of a page, and the order in which its lines are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from whycite.documents.pdf.lines import Gutter, Line
from whycite.documents.pdf.runs import Page, Run

__all__ = ["find_gutters", "in_reading_order"]

Rows = dict[int, list[Run]]
_WIDEST = 5_000  # points; no page of a paper is as wide
_FEW_ROWS = 6  # a column has more lines than that


def find_gutters(pages: Sequence[Page], body_size: float, alive: Callable[[], None]) -> list[list[Gutter]]:
    """The gutters of every page; a page that shows none of its own gets those most pages have."""
    rows = [_rows(page, body_size) for page in pages]
    own = []
    for page, row in zip(pages, rows, strict=True):
        alive()
        own.append(_page_gutters(page, row, body_size))
    votes = Counter(_key(found) for found in own if found)
    if votes:
        best, count = votes.most_common(1)[0]
        usual = [found for found in own if _key(found) == best]
        if count >= min(2, len(pages)) and 2 * count >= len(pages):
            return [found if _agrees(found, usual[0], body_size) else usual[0] for found in own]
        if count >= min(2, len(pages)) and 5 * count >= len(pages):
            return [found or usual[0] for found in own]
    for i, found in enumerate(own):
        if not found:
            alive()
            own[i] = _part_gutters(pages[i], rows[i], body_size)
    return own


def _key(gutters: Sequence[Gutter]) -> tuple[int, ...]:
    return tuple(round((start + end) / 2 / 12) for start, end in gutters)


def _agrees(found: Sequence[Gutter], usual: Sequence[Gutter], body_size: float) -> bool:
    """Whether a page's gutters are those of the other pages, moved a little."""
    return len(found) == len(usual) and all(
        abs(sum(a) - sum(b)) / 2 < 3 * body_size for a, b in zip(found, usual, strict=True)
    )


def _rows(page: Page, body_size: float) -> Rows:
    """The runs of ordinary size, by height."""
    rows: Rows = {}
    for run in page.runs:
        if 0.6 * body_size < run.size < 1.5 * body_size and run.x0 >= 0 and run.x1 <= page.width:
            rows.setdefault(round(run.y / (0.6 * body_size)), []).append(run)
    return rows


def _part_gutters(page: Page, rows: Rows, body_size: float) -> list[Gutter]:
    """Gutters of the lower or upper part of a page: a reference list in columns under text that has none."""
    heights = sorted(rows)
    for part in (heights[: int(0.6 * len(heights))], heights[: int(0.3 * len(heights))], heights[len(heights) // 2 :]):
        chosen = {height: rows[height] for height in part}
        gutters = _page_gutters(page, chosen, body_size)
        if len(gutters) == 1 and _are_columns(chosen, gutters[0]):
            return gutters
    return []


def _are_columns(rows: Rows, gutter: Gutter) -> bool:
    """Whether words stand on both sides of a gutter in the middle; a table is seldom so even, and has numbers."""
    runs = [run for row in rows.values() for run in row]
    left, right = min(run.x0 for run in runs), max(run.x1 for run in runs)
    letters = sum(sum(map(str.isalpha, run.text)) for run in runs)
    even = abs((gutter[0] - left) - (right - gutter[1])) < 0.1 * (right - left)
    return even and letters > 0.7 * sum(len(run.text) for run in runs)


def _page_gutters(page: Page, rows: Rows, body_size: float) -> list[Gutter]:
    """Strips that few rows have ink in, with rows of running text on both sides."""
    width = int(page.width) + 2
    if len(rows) < _FEW_ROWS or width > _WIDEST:
        return []
    cover = [0] * width
    for row in rows.values():
        for x in {x for run in row for x in range(int(run.x0 + 0.5), min(int(run.x1 + 0.5) + 1, width))}:
            cover[x] += 1
    inked = [x for x in range(width) if cover[x] > 2]
    if not inked:
        return []
    left, right = inked[0], inked[-1] + 1
    peak = sorted(cover[left:right])[int(0.8 * (right - left - 1))]
    gutters: list[Gutter] = []
    edge = left
    for is_low, group in groupby(range(left, right), key=lambda x: cover[x] <= 0.35 * peak):
        strip = list(group)
        start, end = strip[0], strip[-1] + 1
        narrow = min(start - edge, right - end) < 6 * body_size
        if is_low and end - start >= 0.6 * body_size and not narrow:
            gutter = _narrowed(cover, start, end)
            if _is_gutter(rows, edge, gutter, right):
                gutters.append(gutter)
                edge = end
    return gutters


def _narrowed(cover: list[int], start: int, end: int) -> Gutter:
    """The whitest part of a strip."""
    lowest = min(cover[start:end])
    inner = [x for x in range(start, end) if cover[x] <= lowest + 1]
    return (float(inner[0]), float(inner[-1] + 1))


def _is_gutter(rows: Rows, left: int, gutter: Gutter, right: int) -> bool:
    """Whether rows of running text stand on both sides, not cells of a table."""
    start, end = gutter
    filled_left = filled_right = seen_left = seen_right = 0
    for row in rows.values():
        if any(run.x0 < start - 1 and run.x1 > end + 1 for run in row):
            continue
        on_left = sum(run.x1 - run.x0 for run in row if left - 1 <= run.x0 and run.x1 <= start + 2)
        on_right = sum(run.x1 - run.x0 for run in row if run.x0 >= end - 2)
        seen_left += on_left > 0
        seen_right += on_right > 0
        filled_left += on_left > 0.55 * (start - left)
        filled_right += on_right > 0.55 * min(right - end, start - left)
    enough = min(filled_left, filled_right) >= _FEW_ROWS
    return enough and 2.2 * filled_left >= seen_left and 2.2 * filled_right >= seen_right


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """Lines of a page as they are read: column after column between the lines that reach over several."""
    ordered: list[Line] = []
    band: list[Line] = []
    spanning = [line for line in lines if line.columns[0] != line.columns[1]]
    held = {id(line) for line in spanning if not _intrudes(line, lines)}
    for line in sorted(lines, key=lambda line: (-line.y, line.x0)):
        if id(line) in held:
            ordered += _by_column(band)
            band = []
            ordered.append(line)
        else:
            band.append(line)
    return ordered + _by_column(band)


def _intrudes(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line of one column merely sticks out into the next, which has text beside it."""
    return any(
        other is not line and other.columns[0] > line.columns[0] and abs(other.y - line.y) < 0.5 * line.size
        for other in lines
    )


def _by_column(band: list[Line]) -> list[Line]:
    return sorted(band, key=lambda line: (line.columns[0], -line.y, line.x0))
