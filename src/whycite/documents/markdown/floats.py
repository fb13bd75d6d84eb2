"""Directives, code cells, floats and tables: which contain prose or captions, where they end, their cells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from whycite.documents.latex.commands import FLOATS, PICTURES, TABULARS
from whycite.documents.markdown import lines
from whycite.documents.markdown.lines import MarkdownPage
from whycite.documents.markup import SourceSpan
from whycite.text.wordlists import load_word_lists

__all__ = [
    "CAPTIONED_DIRECTIVES",
    "PROSE_DIRECTIVES",
    "MarkdownTable",
    "cell_captions",
    "column_starts",
    "div_kind",
    "ruled_cells",
    "skipped_end",
    "table_end",
    "tex_captions",
]


PROSE_DIRECTIVES = load_word_lists(__name__)["prose_directives"]  # their text is part of the paper
# Directives whose argument is a caption.
CAPTIONED_DIRECTIVES = frozenset("table list-table csv-table".split())
_CELL_CAPTION = re.compile(r"[ \t]*(?:#|//|%%|--)\|[ \t]*(?:fig|tbl|lst)-(?:sub)?cap:[ \t]*([\"']?)([^\n]*[^\s])")
_HEADER_CAPTION = re.compile(r"\b(?:fig|tbl|tab)\.cap[ \t]*=[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)')")
_FLOAT = re.compile(r"#(?:fig|tbl|lst)[-:]")


def cell_captions(text: str, start: int, end: int) -> Iterator[SourceSpan]:
    """The ranges of captions in a line of a code cell: "#| fig-cap: …", or "fig.cap = …" in its head."""
    cell = _CELL_CAPTION.match(text, start, end)
    if cell:
        yield cell.start(2), cell.end(2) - (1 if cell[1] and cell[2].endswith(cell[1]) else 0)
        return
    for header in _HEADER_CAPTION.finditer(text, start, end):
        yield header.span(1) if header[1] is not None else header.span(2)


def div_kind(info: str) -> str:
    """What a fenced div is: "refs", "caption" if its text is one, "code", or "" for anything else."""
    if "#refs" in info:
        return "refs"
    directive = re.match(r"\{([A-Za-z][\w:.+-]{0,39})\}", info)
    if directive:
        name = directive[1].lower().partition(":")[0]
        return "caption" if name == "figure" else "" if name in PROSE_DIRECTIVES else "code"
    return "caption" if _FLOAT.search(info) else ""


_SKIPPED_TEX = FLOATS | TABULARS | PICTURES | {"verbatim", "Verbatim", "lstlisting", "minted", "thebibliography"}
_CAPTION = re.compile(r"\\caption\*?\s*(?:\[[^\[\]]{0,1000}\]\s*)?\{")
_BRACE = re.compile(r"[{}]")
_LOOKAHEAD = 6  # lines in which a table that begins with a rule must show its columns
_MAX_TABLE_LINES = 500  # in which such a table must end


def skipped_end(page: MarkdownPage, start: int, end: int) -> int | None:
    """Where the skipped block that begins on this line ends; None if it is not one, or has no end."""
    if tex := lines.TEX_BEGIN.match(page.text, start, end):
        closing = f"\\end{{{tex[1]}}}" if tex[1] in _SKIPPED_TEX else ""
    else:
        html = lines.HTML_BLOCK.match(page.text, start, end)
        closing = f"</{html[1]}" if html else ""
    close = page.find(closing, start) if closing else -1
    return close + len(closing) if close >= 0 else None


def tex_captions(text: str, start: int, end: int) -> Iterator[SourceSpan]:
    """The ranges in the braces of every caption command in a range."""
    position = start
    while caption := _CAPTION.search(text, position, end):
        depth, position = 1, end
        for brace in _BRACE.finditer(text, caption.end(), end):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                position = brace.start()
                break
        yield caption.end(), position


def table_end(page: MarkdownPage) -> int | None:
    """Where a table whose first line is a rule ends; None if it is only a rule."""
    following_lines = page.line_spans[page.next_line : page.next_line + _MAX_TABLE_LINES]
    columns = next(
        (n for n, span in enumerate(following_lines[:_LOOKAHEAD]) if lines.DASHES.match(page.text, *span)), None
    )
    for start, end in following_lines[columns + 1 :] if columns is not None else ():
        if lines.LONG_RULE.match(page.text, start, end):
            return end
    return None


_BAR = re.compile(r"\\.|(\|)", re.DOTALL)
_DASHES = re.compile(r"-+")


class MarkdownTable:
    """A table being read line by line; without `columns`, bars separate its cells."""

    def __init__(self, columns: Sequence[int] = (), framed: bool = False) -> None:
        self._columns = columns  # offsets of the columns in a line
        self._framed = framed  # a row may span several lines
        self._cells: list[list[SourceSpan]] = []  # of the current row, each with its lines

    def line(self, text: str, line: int, start: int, end: int) -> Iterator[list[SourceSpan]]:
        """The cells that a line completes; its text is from `start` on."""
        if self._framed and lines.GRID.match(text, start, end):
            yield from self.finish()
            return
        spans = list(
            _cells_under(self._columns, text, line, start, end)
            if self._columns
            else _cells_between_bars(text, start, end)
        )
        if not self._framed:
            yield from ([span] for span in spans)
            return
        while len(self._cells) < len(spans):
            self._cells.append([])
        for cell, span in zip(self._cells, spans, strict=False):
            cell.append(span)

    def finish(self) -> Iterator[list[SourceSpan]]:
        """The cells of the current row."""
        cells, self._cells = self._cells, []
        yield from (cell for cell in cells if cell)


def column_starts(text: str, line: int, end: int) -> list[int]:
    """Where the columns marked by a line of dashes begin."""
    return [dashes.start() - line for dashes in _DASHES.finditer(text, line, end)]


def ruled_cells(page: MarkdownPage, close: int) -> Iterator[list[SourceSpan]]:
    """The cells of a table between long rules, with rows separated by blank lines, up to `close`."""
    stop = bisect_left(page.line_spans, (close, close), page.next_line)
    following_lines = page.line_spans[page.next_line : stop]
    dashes = next((span for span in following_lines if lines.DASHES.match(page.text, *span)), None)
    table = MarkdownTable(column_starts(page.text, *dashes) if dashes else (), framed=True)
    for start, end in following_lines:
        if not page.text[start:end].strip(" \t\r\n-"):
            yield from table.finish()
        else:
            yield from table.line(page.text, start, start, end)
    yield from table.finish()


def _cells_between_bars(text: str, start: int, end: int) -> Iterator[SourceSpan]:
    cell_start = start
    for bar in _BAR.finditer(text, start, end):
        if bar[1]:
            if cell_start < bar.start():
                yield cell_start, bar.start()
            cell_start = bar.end()
    if cell_start < end:
        yield cell_start, end


def _cells_under(columns: Sequence[int], text: str, line: int, start: int, end: int) -> Iterator[SourceSpan]:
    cell_start = start
    for column in islice(columns, 1, None):
        stop = max(cell_start, line + column)
        if stop >= end:
            break
        while cell_start < stop < end and not (text[stop].isspace() or text[stop - 1].isspace()):
            stop += 1  # do not split a word between cells
        yield cell_start, stop
        cell_start = stop
    yield cell_start, end
