"""The cells of Markdown tables: between bars, in a frame, or under dashes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from whycite.documents.markdown import lines
from whycite.documents.markdown.pages import Page
from whycite.documents.markup.stretch import Span

__all__ = ["Table", "columns_under", "ruled_cells"]

_BAR = re.compile(r"\\.|(\|)", re.DOTALL)
_DASHES = re.compile(r"-+")


class Table:
    """A table being read line by line; without columns its cells stand between bars."""

    def __init__(self, columns: Sequence[int] = (), framed: bool = False) -> None:
        self._columns = columns  # where they begin, from the beginning of a line
        self._framed = framed  # a row may take several lines
        self._cells: list[list[Span]] = []  # of the row that is open, each with its lines

    def line(self, text: str, line: int, start: int, end: int) -> Iterator[list[Span]]:
        """The cells that a line completes; its text is from `start` on."""
        if self._framed and lines.GRID.match(text, start, end):
            yield from self.finish()
            return
        spans = list(
            _under(self._columns, text, line, start, end) if self._columns else _between_bars(text, start, end)
        )
        if not self._framed:
            yield from ([span] for span in spans)
            return
        while len(self._cells) < len(spans):
            self._cells.append([])
        for cell, span in zip(self._cells, spans, strict=False):
            cell.append(span)

    def finish(self) -> Iterator[list[Span]]:
        """The cells of a row that is still open."""
        cells, self._cells = self._cells, []
        yield from (cell for cell in cells if cell)


def columns_under(text: str, line: int, end: int) -> list[int]:
    """Where the columns begin that a line of dashes shows."""
    return [dashes.start() - line for dashes in _DASHES.finditer(text, line, end)]


def ruled_cells(page: Page, close: int) -> Iterator[list[Span]]:
    """The cells of a table between long rules, whose rows blank lines part, from the next line to `close`."""
    last = bisect_left(page.spans, (close, close), page.at)
    ahead = page.spans[page.at : last]
    shown = next((span for span in ahead if lines.DASHES.match(page.text, *span)), None)
    table = Table(columns_under(page.text, *shown) if shown else (), framed=True)
    for start, end in ahead:
        if not page.text[start:end].strip(" \t\r\n-"):
            yield from table.finish()
        else:
            yield from table.line(page.text, start, start, end)
    yield from table.finish()


def _between_bars(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for bar in _BAR.finditer(text, start, end):
        if bar[1]:
            if at < bar.start():
                yield at, bar.start()
            at = bar.end()
    if at < end:
        yield at, end


def _under(columns: Sequence[int], text: str, line: int, start: int, end: int) -> Iterator[Span]:
    at = start
    for column in islice(columns, 1, None):
        stop = max(at, line + column)
        if stop >= end:
            break
        while at < stop < end and not (text[stop].isspace() or text[stop - 1].isspace()):
            stop += 1  # a word is in one cell
        yield at, stop
        at = stop
    yield at, end
