"""The measures of a document's type: size and pitch of its running text, the edges of its columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.runs import Page

__all__ = ["Measures", "common_size", "measure", "set_edges"]


@dataclass(frozen=True, slots=True)
class Measures:
    """What the running text of a document looks like."""

    size: float
    pitch: float  # from baseline to baseline
    bold: bool
    mono: bool
    steady: bool  # sizes tell something: they waver where a text was read from a scan
    top: float  # highest and lowest baseline of running text, on most pages
    bottom: float


def common_size(pages: Iterable[Page]) -> float:
    """The size most characters have."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for run in page.runs:
            sizes[run.size] += len(run.text)
    return _mode(sizes, 0.04) or 10.0


def measure(pages: Sequence[Sequence[Line]], alive: Callable[[], None]) -> Measures:
    """Size, pitch and extent of the running text; `pages` are the lines of each page."""
    full = []
    for lines in pages:
        alive()
        full.append([line for line in lines if _is_running(line)])
    some = [line for lines in full for line in lines] or [line for lines in pages for line in lines]
    sizes: Counter[float] = Counter()
    for line in some:
        sizes[line.size] += line.length
    size = _mode(sizes, 0.06) or 10.0
    pitches: Counter[float] = Counter()
    for lines in full:
        alive()
        columns: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
        for line in lines:
            if abs(line.size - size) < 0.08 * size:
                columns[line.columns].append(line)
        for column in columns.values():
            for above, below in pairwise(sorted(column, key=lambda line: -line.y)):
                if 0.8 * size < above.y - below.y < 2.6 * size:
                    pitches[round(above.y - below.y, 1)] += 1
    tops = sorted(max(line.y for line in lines) for lines in full if lines)
    bottoms = sorted(min(line.y for line in lines) for lines in full if lines)
    return Measures(
        size=size,
        pitch=_mode(pitches, 0.03) or 1.2 * size,
        bold=2 * sum(line.bold for line in some) > len(some),
        mono=2 * sum(line.main.font.mono for line in some) > len(some),
        steady=2 * sum(abs(line.size - size) < 0.02 * size for line in some) > len(some),
        top=tops[int(0.75 * len(tops))] if tops else 1e9,
        bottom=bottoms[int(0.25 * len(bottoms))] if bottoms else -1e9,
    )


def set_edges(lines: Sequence[Line], size: float) -> None:
    """Tell every line of a page where its column begins and ends."""
    columns: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
    for line in lines:
        columns[line.columns].append(line)
    for group in columns.values():
        typical = [line for line in group if line.size > 0.85 * size and line.length > 20] or group
        left = _edge([line.x0 for line in typical], lowest=True)
        right = _edge([line.x1 for line in typical], lowest=False)
        for line in group:
            line.left, line.right = left, right


def _is_running(line: Line) -> bool:
    """Whether a line looks like running text: many words, no wide gaps, mostly letters."""
    words = line.text.split()
    letters = sum(map(str.isalpha, line.text))
    return len(words) >= 6 and letters > 0.7 * line.length and max(line.gaps, default=0) < 2 and not line.main.font.math


def _edge(values: list[float], lowest: bool) -> float:
    """The outermost value that several lines share, else the outermost."""
    counts = Counter(round(value / 2) for value in values)
    shared = [key for key, count in counts.items() if count + counts[key + 1] >= max(3, 0.15 * len(values))]
    if not shared:
        return min(values) if lowest else max(values)
    key = min(shared) if lowest else max(shared)
    near = [value for value in values if abs(value / 2 - key) <= 1]
    return min(near) if lowest else max(near)


def _mode(counts: Counter[float], tolerance: float) -> float:
    """The value with most weight within a share of `tolerance` on either side."""
    ordered = sorted(counts)
    best, best_weight = 0.0, 0.0
    first = last = 0
    weight = 0
    for value in ordered:
        while last < len(ordered) and ordered[last] <= value * (1 + tolerance):
            weight += counts[ordered[last]]
            last += 1
        while ordered[first] < value * (1 - tolerance):
            weight -= counts[ordered[first]]
            first += 1
        score = weight + 0.5 * counts[value]  # of values in one heap, the one met most
        if score > best_weight:
            best, best_weight = value, score
    return best
