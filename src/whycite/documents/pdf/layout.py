"""The layout of pages: measures of the running text, columns and gutters, reading order, captions side by side."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from whycite.documents.pdf.textlines import Gutter, PdfLine, PdfPage, TextRun

__all__ = [
    "BodyMeasures",
    "common_size",
    "find_gutters",
    "in_reading_order",
    "measure",
    "set_edges",
    "split_subcaptions",
]


@dataclass(frozen=True, slots=True)
class BodyMeasures:
    """What the running text of a document looks like."""

    size: float
    pitch: float  # from baseline to baseline
    bold: bool
    mono: bool
    steady: bool  # sizes are reliable; in text recognised from a scan they vary
    top: float  # highest and lowest baseline of running text, on most pages
    bottom: float


_SIZE_SPREAD = 0.04  # share by which character sizes differ and still count as one
_LINE_SIZE_SPREAD = 0.06  # the same for sizes of lines
_PITCH_SPREAD = 0.03  # the same for pitches
_BODY_SIZE_SPREAD = 0.08  # share of the body size; lines closer to it are used to measure the pitch
_STEADY_SPREAD = 0.02  # share of the body size; most lines are closer to it, unless recognised from a scan
_MIN_PITCH = 0.8  # of the body size; baselines closer together are not those of successive lines
_MAX_PITCH = 2.6  # of the body size; baselines farther apart have something between them
_USUAL_PITCH = 1.2  # of the body size, if no pitch can be measured
_TOP_QUANTILE = 0.75  # of the pages' highest baselines; on the few pages above it, something else is highest
_BOTTOM_QUANTILE = 0.25  # of the pages' lowest baselines, likewise
_BEYOND_PAGE = 1e9  # points; top of the running text if there is none, so that nothing lies beyond it
_MIN_TYPICAL_SIZE = 0.85  # of the body size; smaller lines do not show where a column begins and ends
_MIN_LETTERS = 0.7  # of the characters of running text; tables and formulas have fewer
_SHARED_EDGE = 0.15  # of the lines of a column; an edge that fewer have may be an outlier's


def common_size(pages: Iterable[PdfPage]) -> float:
    """The most common size of characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for run in page.runs:
            sizes[run.size] += len(run.text)
    return _mode(sizes, _SIZE_SPREAD) or _USUAL_SIZE


def measure(pages: Sequence[Sequence[PdfLine]], alive: Callable[[], None]) -> BodyMeasures:
    """Size, pitch and extent of the running text; `pages` are the lines of each page."""
    running = []
    for lines in pages:
        alive()
        running.append([line for line in lines if _is_running(line)])
    sample = [line for lines in running for line in lines] or [line for lines in pages for line in lines]
    sizes: Counter[float] = Counter()
    for line in sample:
        sizes[line.size] += line.length
    size = _mode(sizes, _LINE_SIZE_SPREAD) or _USUAL_SIZE
    pitches: Counter[float] = Counter()
    for lines in running:
        alive()
        columns: defaultdict[tuple[int, int], list[PdfLine]] = defaultdict(list)
        for line in lines:
            if abs(line.size - size) < _BODY_SIZE_SPREAD * size:
                columns[line.columns].append(line)
        for column in columns.values():
            for above, below in pairwise(sorted(column, key=lambda line: -line.y)):
                if _MIN_PITCH * size < above.y - below.y < _MAX_PITCH * size:
                    pitches[round(above.y - below.y, 1)] += 1
    tops = sorted(max(line.y for line in lines) for lines in running if lines)
    bottoms = sorted(min(line.y for line in lines) for lines in running if lines)
    return BodyMeasures(
        size=size,
        pitch=_mode(pitches, _PITCH_SPREAD) or _USUAL_PITCH * size,
        bold=2 * sum(line.bold for line in sample) > len(sample),
        mono=2 * sum(line.main.font.mono for line in sample) > len(sample),
        steady=2 * sum(abs(line.size - size) < _STEADY_SPREAD * size for line in sample) > len(sample),
        top=tops[int(_TOP_QUANTILE * len(tops))] if tops else _BEYOND_PAGE,
        bottom=bottoms[int(_BOTTOM_QUANTILE * len(bottoms))] if bottoms else -_BEYOND_PAGE,
    )


def set_edges(lines: Sequence[PdfLine], size: float) -> None:
    """Set the column edges of every line of a page."""
    columns: defaultdict[tuple[int, int], list[PdfLine]] = defaultdict(list)
    for line in lines:
        columns[line.columns].append(line)
    for group in columns.values():
        typical = [line for line in group if line.size > _MIN_TYPICAL_SIZE * size and line.length > 20] or group
        left_edge = _edge([line.x0 for line in typical], lowest=True)
        right_edge = _edge([line.x1 for line in typical], lowest=False)
        for line in group:
            line.column_left, line.column_right = left_edge, right_edge


def _is_running(line: PdfLine) -> bool:
    """Whether a line looks like running text: many words, no wide gaps, mostly letters."""
    words = line.text.split()
    letters = sum(map(str.isalpha, line.text))
    return (
        len(words) >= 6
        and letters > _MIN_LETTERS * line.length
        and max(line.gaps, default=0) < 2
        and not line.main.font.math
    )


def _edge(values: list[float], lowest: bool) -> float:
    """The outermost value that several lines share, or else the outermost."""
    counts = Counter(round(value / 2) for value in values)
    shared = [key for key, count in counts.items() if count + counts[key + 1] >= max(3, _SHARED_EDGE * len(values))]
    if not shared:
        return min(values) if lowest else max(values)
    key = min(shared) if lowest else max(shared)
    near = [value for value in values if abs(value / 2 - key) <= 1]
    return min(near) if lowest else max(near)


def _mode(counts: Counter[float], tolerance: float) -> float:
    """The value with the most weight within a share of `tolerance` on either side."""
    ordered = sorted(counts)
    best, best_weight = 0.0, 0.0
    low = high = 0
    weight = 0
    for value in ordered:
        while high < len(ordered) and ordered[high] <= value * (1 + tolerance):
            weight += counts[ordered[high]]
            high += 1
        while ordered[low] < value * (1 - tolerance):
            weight -= counts[ordered[low]]
            low += 1
        score = weight + 0.5 * counts[value]  # in a cluster, prefer the most common value
        if score > best_weight:
            best, best_weight = value, score
    return best


Rows = dict[int, list[TextRun]]
_USUAL_SIZE = 10.0  # points, if a document has no text
_MAX_WIDTH = 5_000  # points; no page of a paper is that wide
_MIN_ROWS = 6  # lines of a column; fewer may be anything
_MIN_ROW_SIZE = 0.6  # of the body size; smaller runs are marks and indices
_MAX_ROW_SIZE = 1.5  # of the body size; larger runs are titles
_ROW_HEIGHT = 0.6  # of the body size; less than the pitch, so that successive lines are separate rows
_LOWER_PART = 0.6  # of the rows of a page, from the bottom, that may be in columns when the others are not
_LOWEST_PART = 0.3  # the same for a shorter part
_MAX_UNEVENNESS = 0.1  # of the width of the text, between two columns; those of a table differ by more
_PEAK_QUANTILE = 0.8  # of the numbers of rows that cover each x; the highest may be outliers
_MAX_CROSSING = 0.35  # of the peak; more rows than that do not cross a gutter
_MIN_GUTTER_WIDTH = 0.6  # of the body size; word spaces are narrower
_FILLED_SHARE = 0.55  # of the width of a column; running text covers more, cells of a table less
_MAX_SEEN_PER_FILLED = 2.2  # rows with anything in a column, for each that fills it; a table has more


def find_gutters(pages: Sequence[PdfPage], body_size: float, alive: Callable[[], None]) -> list[list[Gutter]]:
    """The gutters of every page; a page without its own gets those of most pages."""
    rows = [_rows(page, body_size) for page in pages]
    gutters = []
    for page, row in zip(pages, rows, strict=True):
        alive()
        gutters.append(_page_gutters(page, row, body_size))
    votes = Counter(_gutter_key(strips) for strips in gutters if strips)
    if votes:
        best, count = votes.most_common(1)[0]
        usual = [strips for strips in gutters if _gutter_key(strips) == best]
        if count >= min(2, len(pages)) and 2 * count >= len(pages):
            return [strips if _agrees(strips, usual[0], body_size) else usual[0] for strips in gutters]
        if count >= min(2, len(pages)) and 5 * count >= len(pages):
            return [strips or usual[0] for strips in gutters]
    for i, strips in enumerate(gutters):
        alive()
        if not strips:
            gutters[i] = _part_gutters(pages[i], rows[i], body_size)
        elif len(pages) > 1 and votes[_gutter_key(strips)] == 1 and not _are_columns(rows[i], *strips):
            gutters[i] = []  # a table
    return gutters


def _gutter_key(gutters: Sequence[Gutter]) -> tuple[int, ...]:
    return tuple(round((start + end) / 2 / 12) for start, end in gutters)


def _agrees(strips: Sequence[Gutter], usual: Sequence[Gutter], body_size: float) -> bool:
    """Whether a page's gutters are those of the other pages, slightly shifted."""
    return len(strips) == len(usual) and all(
        abs(sum(a) - sum(b)) / 2 < 3 * body_size for a, b in zip(strips, usual, strict=True)
    )


def _rows(page: PdfPage, body_size: float) -> Rows:
    """The runs of ordinary size, by height."""
    rows: Rows = {}
    for run in page.runs:
        if _MIN_ROW_SIZE * body_size < run.size < _MAX_ROW_SIZE * body_size and run.x0 >= 0 and run.x1 <= page.width:
            rows.setdefault(round(run.y / (_ROW_HEIGHT * body_size)), []).append(run)
    return rows


def _part_gutters(page: PdfPage, rows: Rows, body_size: float) -> list[Gutter]:
    """Gutters in the lower or upper part of a page: a reference list in columns under text without."""
    heights = sorted(rows)
    for part in (
        heights[: int(_LOWER_PART * len(heights))],
        heights[: int(_LOWEST_PART * len(heights))],
        heights[len(heights) // 2 :],
    ):
        chosen = {height: rows[height] for height in part}
        gutters = _page_gutters(page, chosen, body_size)
        if _are_columns(chosen, *gutters):
            return gutters
    return []


def _are_columns(rows: Rows, *gutters: Gutter) -> bool:
    """Whether there are words on both sides of one central gutter; tables are seldom so even, and have numbers."""
    if len(gutters) != 1:
        return False
    start, end = gutters[0]
    runs = [run for row in rows.values() for run in row]
    x_min, x_max = min(run.x0 for run in runs), max(run.x1 for run in runs)
    letters = sum(sum(map(str.isalpha, run.text)) for run in runs)
    even = abs((start - x_min) - (x_max - end)) < _MAX_UNEVENNESS * (x_max - x_min)
    return even and letters > _MIN_LETTERS * sum(len(run.text) for run in runs)


def _page_gutters(page: PdfPage, rows: Rows, body_size: float) -> list[Gutter]:
    """Vertical strips that few rows cross, with running text on both sides."""
    width = int(page.width) + 2
    if len(rows) < _MIN_ROWS or width > _MAX_WIDTH:
        return []
    cover = [0] * width
    for row in rows.values():
        for x in {x for run in row for x in range(int(run.x0 + 0.5), min(int(run.x1 + 0.5) + 1, width))}:
            cover[x] += 1
    inked = [x for x in range(width) if cover[x] > 2]
    if not inked:
        return []
    ink_start, ink_end = inked[0], inked[-1] + 1
    peak = sorted(cover[ink_start:ink_end])[int(_PEAK_QUANTILE * (ink_end - ink_start - 1))]
    gutters: list[Gutter] = []
    edge = ink_start
    for is_low, group in groupby(range(ink_start, ink_end), key=lambda x: cover[x] <= _MAX_CROSSING * peak):
        strip = list(group)
        start, end = strip[0], strip[-1] + 1
        narrow = min(start - edge, ink_end - end) < 6 * body_size
        if is_low and end - start >= _MIN_GUTTER_WIDTH * body_size and not narrow:
            gutter = _narrow_strip(cover, start, end)
            if _is_gutter(rows, edge, gutter, ink_end):
                gutters.append(gutter)
                edge = end
    return gutters


def _narrow_strip(cover: list[int], start: int, end: int) -> Gutter:
    """The widest white part of a strip: labels of a list may stand in it, with a gap after them."""
    lowest = min(cover[start:end])
    groups = groupby(range(start, end), key=lambda x: cover[x] <= lowest + 1)
    widest = max((list(group) for is_white, group in groups if is_white), key=len)
    return (float(widest[0]), float(widest[-1] + 1))


def _is_gutter(rows: Rows, text_start: int, gutter: Gutter, text_end: int) -> bool:
    """Whether there are rows of running text on both sides, not cells of a table."""
    start, end = gutter
    filled_left = filled_right = seen_left = seen_right = 0
    for row in rows.values():
        if any(run.x0 < start - 1 and run.x1 > end + 1 for run in row):
            continue
        on_left = sum(run.x1 - run.x0 for run in row if text_start - 1 <= run.x0 and run.x1 <= start + 2)
        on_right = sum(run.x1 - run.x0 for run in row if run.x0 >= end - 2)
        seen_left += on_left > 0
        seen_right += on_right > 0
        filled_left += on_left > _FILLED_SHARE * (start - text_start)
        filled_right += on_right > _FILLED_SHARE * min(text_end - end, start - text_start)
    enough = min(filled_left, filled_right) >= _MIN_ROWS
    return (
        enough and _MAX_SEEN_PER_FILLED * filled_left >= seen_left and _MAX_SEEN_PER_FILLED * filled_right >= seen_right
    )


def in_reading_order(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines of a page in reading order: column by column, between lines that span several."""
    ordered: list[PdfLine] = []
    band: list[PdfLine] = []
    spanning = [line for line in lines if line.columns[0] != line.columns[1]]
    divider_ids = {id(line) for line in spanning if not _intrudes(line, lines)}
    for line in sorted(lines, key=lambda line: (-line.y, line.x0)):
        if id(line) in divider_ids:
            ordered += _by_column(band)
            band = []
            ordered.append(line)
        else:
            band.append(line)
    return ordered + _by_column(band)


def _intrudes(line: PdfLine, lines: Sequence[PdfLine]) -> bool:
    """Whether a line of one column merely extends into the next, which has text beside it."""
    return any(
        neighbour is not line and neighbour.columns[0] > line.columns[0] and abs(neighbour.y - line.y) < 0.5 * line.size
        for neighbour in lines
    )


def _by_column(band: list[PdfLine]) -> list[PdfLine]:
    return sorted(band, key=lambda line: (line.columns[0], -line.y, line.x0))


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
