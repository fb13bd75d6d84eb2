"""The content of a PDF page: runs of characters in one font, accents joined to letters, and the lines in a column."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

__all__ = [
    "Box",
    "Font",
    "Gutter",
    "PdfLine",
    "PdfPage",
    "TextRun",
    "attach_accents",
    "compose_accent",
    "is_accent",
    "lines_of",
]

Box = tuple[float, float, float, float]  # x0, y0, x1, y1


@dataclass(frozen=True, slots=True, eq=False)
class Font:
    """What is known about a font from its name and flags."""

    name: str
    bold: bool
    italic: bool
    math: bool
    mono: bool
    capitals: bool  # lower-case letters look like small capitals


@dataclass(slots=True)
class TextRun:
    """A word or part of one: characters without white space, in one font, on one baseline."""

    text: str
    x0: float
    x1: float
    y: float  # baseline, growing upwards
    size: float
    font: Font
    start: int  # range in the document's text; as long as `text` unless characters were composed
    end: int
    spaced: bool  # white space comes before it
    hyphen: bool = False  # pdfium found a hyphen after it at a line's end


@dataclass(slots=True)
class PdfPage:
    """The runs of a page in the order of its content stream, its pictures and its horizontal rules."""

    number: int
    width: float
    height: float
    runs: list[TextRun]
    pictures: list[Box]
    rules: list[Box]
    scanned: bool = False  # images cover most of it
    illegible: int = 0  # characters that are printed, but nothing in the file says which they are
    aside: str = ""  # text across the main direction
    recognised: bool = False  # its text comes from OCR


_CELL_GAP = 1.2  # between two cells, in units of the type size
_MAX_LINES_BACK = 6  # lines that a segment may still join
_MAX_MARK_LENGTH = 3  # characters of a footnote mark
_MAX_RUNS = 400  # in a line; no printed line has more, and hostile ones must not take long
_SMALL_TYPE = 0.85  # times the size of the line's type; smaller type is that of raised and lowered marks
_MUCH_LARGER_TYPE = 1.18  # times the size of the line's type, which then is that of marks: about 1 / _SMALL_TYPE
_SLIGHTLY_SMALLER = 0.95  # times the size of other type, below which the difference is more than inaccuracy
_SLIGHTLY_LARGER = 1.05  # times the size of other type, above which the difference is more than inaccuracy
_MIN_LIFT_OF_SMALL = 0.15  # of the type size, above the baseline; small type that is lifted less is not raised
_MIN_LIFT = 0.3  # of the type size, above the baseline, for type that is only slightly smaller
_LEVEL_SHIFT = 0.2  # of the type size, between the baselines of neighbours on one level
_MARK_SHIFT = 0.55  # of the type size, between the baselines of a run and a smaller one after it: raised or lowered
_GUTTER_SHARE = 0.7  # of a gutter's width that a gap must have to be this gutter: words may reach into it
_MIN_GUTTER_GAP = 0.45  # of the type size; gaps between words of one column are narrower
_SAME_BASELINE = 0.3  # of the type size, between the baselines of parts of a line in type of one size
_OVERLAP_SLACK = 0.25  # of the type size or the width, if less; slanted letters and signs overlap their neighbours
_MIN_SPACE = 0.15  # of the type size; gaps between letters of a word are narrower
Gutter = tuple[float, float]  # the white strip between two columns, from x to x


@dataclass
class PdfLine:
    """The text on one baseline of one column; `columns` are the first and the last column it spans."""

    runs: list[TextRun]
    page: int
    columns: tuple[int, int] = (0, 0)
    column_left: float = 0.0  # edges of its column
    column_right: float = 0.0
    role: str = "body"

    @cached_property
    def text(self) -> str:
        """The words of the line."""
        parts = [(" " if run.spaced else "") + run.text + "-" * run.hyphen for run in self.runs]
        return "".join(parts).strip()

    @cached_property
    def x0(self) -> float:
        return min(run.x0 for run in self.runs)

    @cached_property
    def x1(self) -> float:
        return max(run.x1 for run in self.runs)

    @cached_property
    def main(self) -> TextRun:
        """A run with the size, font and baseline of most of the line's characters."""
        weights: Counter[tuple[float, str, float]] = Counter()
        for run in self.runs:
            weights[run.size, run.font.name, run.y] += len(run.text)
        best = max(weights, key=lambda key: weights[key])
        return next(run for run in self.runs if (run.size, run.font.name, run.y) == best)

    @property
    def y(self) -> float:
        """The baseline."""
        return self.main.y

    @property
    def size(self) -> float:
        return self.main.size

    @cached_property
    def length(self) -> int:
        """The number of characters, without white space."""
        return sum(len(run.text) for run in self.runs)

    @cached_property
    def bold(self) -> bool:
        return 2 * sum(len(run.text) for run in self.runs if run.font.bold) > self.length

    @cached_property
    def italic(self) -> bool:
        return 2 * sum(len(run.text) for run in self.runs if run.font.italic) > self.length

    @cached_property
    def cells(self) -> list[str]:
        """The text between gaps that are wide, or much wider than most."""
        usual_gap = sorted(self.gaps)[len(self.gaps) // 2] if self.gaps else 0
        threshold = min(_CELL_GAP, max(_CELL_GAP / 2, 2 * usual_gap)) * self.size
        cells: list[list[TextRun]] = [[self.runs[0]]]
        for previous, run in pairwise(self.runs):
            if run.spaced and run.x0 - previous.x1 > threshold:
                cells.append([])
            cells[-1].append(run)
        return [
            "".join((" " if run.spaced else "") + run.text for run in cell if not self.raised(run)).strip()
            for cell in cells
        ]

    def raised(self, run: TextRun) -> bool:
        """Whether a run is small and above the baseline; one that is hardly smaller must be higher."""
        lift = run.y - self.y
        return (run.size < _SMALL_TYPE * self.size and lift > _MIN_LIFT_OF_SMALL * self.size) or (
            run.size < _SLIGHTLY_SMALLER * self.size and lift > _MIN_LIFT * self.size
        )

    @cached_property
    def gaps(self) -> list[float]:
        """The white space between neighbouring words, in units of the type size."""
        return [(b.x0 - a.x1) / self.size for a, b in pairwise(self.runs) if b.spaced]


def lines_of(runs: Sequence[TextRun], page: int, gutters: Sequence[Gutter]) -> list[PdfLine]:
    """The lines of a page from top to bottom; no line has words on both sides of a gutter it leaves blank."""
    segments = [_place_in_columns(segment, gutters) for segment in _segments(runs, gutters)]
    lines: list[PdfLine] = []
    by_columns: dict[tuple[int, int], list[list[TextRun]]] = {}
    for columns, segment in segments:
        by_columns.setdefault(columns, []).append(segment)
    for columns, group in by_columns.items():
        lines += [PdfLine(runs, page, columns) for runs in _merge_segments(group)]
    lines.sort(key=lambda line: (-line.y, line.x0))
    return lines


def _segments(runs: Iterable[TextRun], gutters: Sequence[Gutter]) -> list[list[TextRun]]:
    """Neighbours in the content stream that continue along one baseline."""
    segments: list[list[TextRun]] = []
    base: TextRun | None = None  # the largest run of the segment
    for run in runs:
        if base is not None:
            previous = segments[-1][-1]
            size = max(base.size, run.size)
            level = abs(run.y - base.y) <= (_LEVEL_SHIFT if run.size > _SMALL_TYPE * base.size else _MARK_SHIFT) * size
            onward = run.x0 >= previous.x1 - 0.5 * size
            if level and onward and not _spans_gutter(previous, run, gutters):
                segments[-1].append(run)
                if run.size > base.size * _SLIGHTLY_LARGER:
                    base = run
                continue
        segments.append([run])
        base = run
    return segments


def _spans_gutter(previous: TextRun, run: TextRun, gutters: Sequence[Gutter]) -> bool:
    """Whether the white space between two words is a gutter."""
    gap = run.x0 - previous.x1
    for start, end in gutters:
        middle = (start + end) / 2
        wide = gap >= _GUTTER_SHARE * (end - start) and gap >= _MIN_GUTTER_GAP * run.size
        if wide and previous.x1 <= middle + 1 and run.x0 >= middle - 1:
            return True
    return False


def _place_in_columns(segment: list[TextRun], gutters: Sequence[Gutter]) -> tuple[tuple[int, int], list[TextRun]]:
    """The first and the last column of a segment, and the segment."""
    x0, x1 = min(run.x0 for run in segment), max(run.x1 for run in segment)
    slack = 0.5 * segment[0].size
    first_column = sum(x0 > (start + end) / 2 - min(slack, (end - start) / 2) for start, end in gutters)
    last_column = sum(x1 > end + slack for _, end in gutters)
    return (first_column, max(first_column, last_column)), segment


def _merge_segments(segments: list[list[TextRun]]) -> list[list[TextRun]]:
    """Join the segments of one column that share a baseline, and small raised or lowered ones with what they touch."""
    lines: list[tuple[TextRun, list[TextRun]]] = []  # the run that sets baseline and size, all runs
    for segment in sorted(segments, key=lambda runs: -_base(runs).y):
        base = _base(segment)
        for i in range(len(lines) - 1, max(len(lines) - _MAX_LINES_BACK, 0) - 1, -1):
            line_base, runs = lines[i]
            near = abs(line_base.y - base.y) <= _reach(base, segment, line_base, runs) * max(base.size, line_base.size)
            if near and len(runs) < _MAX_RUNS and not _overlap(runs, segment):
                runs += segment
                lines[i] = (max(line_base, base, key=lambda run: (run.size, -run.x0)), runs)
                break
        else:
            lines.append((base, list(segment)))
    return [_set_spaces(sorted(runs, key=lambda run: run.x0)) for _, runs in lines]


def _reach(base: TextRun, segment: list[TextRun], line_base: TextRun, runs: list[TextRun]) -> float:
    """How far apart two baselines of one line may be, in units of the type size: farther for a raised mark."""
    ratio = base.size / line_base.size
    if not _SMALL_TYPE < ratio < _MUCH_LARGER_TYPE:
        return 0.5
    mark = segment if ratio < _SLIGHTLY_SMALLER else runs if ratio > _SLIGHTLY_LARGER else ()
    return 0.5 if mark and sum(len(run.text) for run in mark) <= _MAX_MARK_LENGTH else _SAME_BASELINE


def _base(segment: list[TextRun]) -> TextRun:
    return max(segment, key=lambda run: (run.size, len(run.text)))


def _overlap(runs: list[TextRun], segment: list[TextRun]) -> bool:
    x0, x1 = segment[0].x0, max(run.x1 for run in segment)
    slack = max(0.5, _OVERLAP_SLACK * min(segment[0].size, x1 - x0))
    x0, x1 = x0 + slack, x1 - slack
    return any(run.x0 < x1 and x0 < run.x1 for run in runs)


def _set_spaces(runs: list[TextRun]) -> list[TextRun]:
    """Runs from left to right, with a space before those that are apart from a new neighbour."""
    for previous, run in pairwise(runs):
        if run.start != previous.end:
            run.spaced = run.spaced or run.x0 - previous.x1 > _MIN_SPACE * max(previous.size, run.size)
    return runs


_MARKS = "\u0301\u0300\u0308\u0302\u0303\u030c\u030a\u0327\u0304\u0307\u030b\u0306"
_COMBINING = dict(zip("´`¨ˆ˜ˇ˚¸¯˙˝˘", _MARKS, strict=True))
_DOTLESS = {"ı": "i", "ȷ": "j"}
_REACH = 60  # runs before and after an accent in which its letter is looked for: a line of text has fewer
_MAX_RISE = 0.6  # of the type size, between the baselines of an accent and its letter
_MAX_OFFSET = 0.25  # of the type size, between the middles of an accent and its letter
Span = tuple[float, float]  # from x to x


def is_accent(text: str) -> bool:
    """Whether a text is an accent without a letter."""
    return text in _COMBINING


def compose_accent(accent: TextRun, letter: TextRun) -> str:
    """The accented letter if a letter is printed under a separate accent, else ""."""
    middle = (accent.x0 + accent.x1) / 2
    if not is_accent(accent.text) or not letter.x0 - 1 <= middle <= letter.x1 + 1:
        return ""
    return _compose(accent.text, letter.text)


def attach_accents(runs: Sequence[TextRun], span_at: Callable[[int], Span]) -> list[TextRun]:
    """The runs without the accents that stand apart from their letters, which get them.

    pdfium sorts the letters of a word by their place, and so may put an accent after the word, or on a line of its own.
    `span_at` tells where a character of the text is printed.
    """
    attached: list[TextRun] = []
    gone = False  # an accent was just taken out
    for i, run in enumerate(runs):
        if is_accent(run.text) and _attach(run, runs[max(0, i - _REACH) : i + _REACH], span_at):
            gone = True
            continue
        if gone and attached and abs(run.y - attached[-1].y) < _MAX_RISE * run.size:
            run.spaced = run.x0 - attached[-1].x1 > _MIN_SPACE * run.size
        gone = False
        attached.append(run)
    return attached


def _attach(accent: TextRun, neighbours: Sequence[TextRun], span_at: Callable[[int], Span]) -> bool:
    """Put an accent on the letter whose middle is nearest to its own; False if it stands above nothing.

    The accents of formulas, on letters that have none in Unicode, are left out.
    """
    middle = (accent.x0 + accent.x1) / 2
    best: tuple[float, TextRun, int, str] | None = None
    covers = False  # it stands above something
    for run in neighbours:
        on_line = abs(run.y - accent.y) < _MAX_RISE * max(run.size, accent.size)
        if not on_line or not run.x0 - 1 <= middle <= run.x1 + 1 or len(run.text) != run.end - run.start:
            continue
        covers = covers or (run is not accent and run.x0 < middle < run.x1)
        for position, letter in enumerate(run.text):
            composed = _compose(accent.text, letter)
            if composed:
                x0, x1 = span_at(run.start + position)
                offset = abs((x0 + x1) / 2 - middle)
                if offset < _MAX_OFFSET * run.size and (best is None or offset < best[0]):
                    best = offset, run, position, composed
    if best is None:
        return covers
    _, run, position, composed = best
    run.text = run.text[:position] + composed + run.text[position + 1 :]
    return True


def _compose(accent: str, letter: str) -> str:
    composed = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _COMBINING[accent])
    return composed if len(composed) == 1 and letter.isalpha() else ""
