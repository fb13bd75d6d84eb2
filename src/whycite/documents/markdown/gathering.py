"""Lines gathered to paragraphs, and paragraphs to the outline of a draft."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, takewhile

from whycite.documents.markdown.inline import Names, read_inline
from whycite.documents.markdown.pages import Page
from whycite.documents.markers import Marker
from whycite.documents.markup.outline import Outline, words_of
from whycite.documents.markup.stretch import Span, Stretch
from whycite.documents.model import Kind
from whycite.documents.prose import Prose

__all__ = ["Gathering"]

_CLOSING = re.compile(r"(?<=[ \t])#+$")
_ATTRIBUTES = re.compile(r"\{[^{}]{0,300}\}[ \t]*$")
_PART = re.compile(r"\((?:APPENDIX|PART)[^()]{0,20}\)\s*")
_ITEMS = 100  # items of a list kept in one paragraph


@dataclass
class _Paragraph:
    page: Page
    kind: Kind
    spans: list[Span] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    length: int = 0
    listed: bool = False  # begins with a list item


class Gathering:
    """Grows the outline of a draft out of its lines."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.outline = Outline()
        self.cited = False  # something is cited by key
        self.printed: list[tuple[Page, list[Span]]] = []  # paragraphs of a reference list in the text
        self.paragraph: _Paragraph | None = None

    def begin(self, page: Page, kind: Kind) -> None:
        """Begin a paragraph."""
        self.flush()
        self.paragraph = _Paragraph(page, kind)

    def add(self, start: int, end: int) -> None:
        """Add a line to the paragraph."""
        if self.paragraph:
            self.paragraph.spans.append((start, end))
            self.paragraph.length += end - start

    def item(self, page: Page, kind: Kind) -> None:
        """Begin a list item: in the paragraph that goes on, or in a new one."""
        if self.paragraph is None or len(self.paragraph.breaks) >= _ITEMS:
            self.begin(page, kind)
        elif self.paragraph.length:
            self.paragraph.breaks.append(self.paragraph.length)
        if self.paragraph:
            self.paragraph.listed = True

    def drop_line(self) -> Span | None:
        """Take the last line of the paragraph away: it was the head of a table."""
        if not (self.paragraph and self.paragraph.spans):
            return None
        line = self.paragraph.spans.pop()
        self.flush()
        return line

    def flush(self) -> None:
        """End the paragraph."""
        done, self.paragraph = self.paragraph, None
        if done and done.spans:
            self.emit(done.page, done.spans, done.kind, done.breaks)

    def emit(self, page: Page, spans: list[Span], kind: Kind, breaks: list[int] | None = None) -> None:
        """Add a whole paragraph."""
        if self.outline.in_references and kind == "prose":
            self.printed.append((page, spans))
            return
        stretch = Stretch(page.file, page.text, spans)
        prose = self.outline.begin(stretch.text) if kind == "prose" else Prose()
        inline = read_inline(stretch, self.names, breaks or (), self._markers(page, spans), prose)
        self.cited = self.cited or inline.cited
        if inline.formula:
            self.outline.formula(inline.formula, page.file, *stretch.source(0, len(stretch.text)))
        elif kind == "prose":
            self.outline.end(prose, stretch.text)
        else:
            self.outline.block(prose, kind)
        for caption in inline.captions:
            self.outline.block(caption, "caption")
        for note in inline.notes:
            self.outline.block(note, "footnote")

    def cells(self, page: Page, cells: Iterable[list[Span]]) -> None:
        """Add what cites among the cells of a table."""
        for spans in cells:
            if not self.outline.in_references:
                inline = read_inline(Stretch(page.file, page.text, spans), self.names, (), self._markers(page, spans))
                self.cited = self.cited or inline.cited
                for prose in (inline.prose, *inline.captions, *inline.notes):
                    if prose.has_citations:
                        self.outline.block(prose, "table")

    def _markers(self, page: Page, spans: list[Span]) -> list[Marker]:
        """The citations in plain words that stand in these lines."""
        markers = self.names.markers
        found: list[Marker] = []
        for start, end in spans if markers and not page.above else ():
            first = bisect_left(markers, start, key=lambda marker: marker.start)
            found += takewhile(lambda marker: marker.start < end, islice(markers, first, None))  # noqa: B023
        return found

    def heading(self, page: Page, start: int, end: int, level: int) -> None:
        """Begin a section; that of the reference list is none."""
        self.flush()
        while start < end and page.text[end - 1].isspace():
            end -= 1
        closing = _CLOSING.search(page.text, start, end)
        end = closing.start() if closing else end
        attributes = _ATTRIBUTES.search(page.text, start, end)
        end = attributes.start() if attributes else end
        stretch = Stretch(page.file, page.text, [(start, end)])
        inline = read_inline(stretch, self.names, (), self._markers(page, [(start, end)]))
        self.cited = self.cited or inline.cited
        self.outline.heading(_PART.sub("", words_of(inline.prose)), level, inline.prose)
