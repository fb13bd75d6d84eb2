"""Gathers lines into paragraphs, and paragraphs into the outline of a draft."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, takewhile

from whycite.documents.builder import Prose
from whycite.documents.markdown.inline import MarkdownNames, read_inline
from whycite.documents.markdown.lines import MarkdownPage
from whycite.documents.markers import Marker
from whycite.documents.markup import DraftOutline, SourceSpan, Stretch, heading_words
from whycite.documents.model import SentenceKind

__all__ = ["ParagraphGatherer"]

_CLOSING_HASHES = re.compile(r"(?<=[ \t])#+$")
_ATTRIBUTES = re.compile(r"\{[^{}]{0,300}\}[ \t]*$")
_PART = re.compile(r"\((?:APPENDIX|PART)[^()]{0,20}\)\s*")
_MAX_ITEMS = 100  # list items in one paragraph, so that none grows without limit


@dataclass
class _OpenParagraph:
    page: MarkdownPage
    kind: SentenceKind
    spans: list[SourceSpan] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    length: int = 0
    begins_with_item: bool = False


class ParagraphGatherer:
    """Builds the outline of a draft from its lines."""

    def __init__(self, names: MarkdownNames) -> None:
        self.names = names
        self.outline = DraftOutline()
        self.cites_by_key = False
        self.reference_paragraphs: list[
            tuple[MarkdownPage, list[SourceSpan]]
        ] = []  # paragraphs of a reference list in the text
        self.paragraph: _OpenParagraph | None = None
        self.note_label = ""  # of the footnote whose definition is read

    def begin(self, page: MarkdownPage, kind: SentenceKind) -> None:
        """Begin a paragraph."""
        self.flush()
        self.paragraph = _OpenParagraph(page, kind)

    def add(self, start: int, end: int) -> None:
        """Add a line to the paragraph."""
        if self.paragraph:
            self.paragraph.spans.append((start, end))
            self.paragraph.length += end - start

    def begin_item(self, page: MarkdownPage, kind: SentenceKind) -> None:
        """Begin a list item, in the current paragraph or a new one."""
        if self.paragraph is None or len(self.paragraph.breaks) >= _MAX_ITEMS:
            self.begin(page, kind)
        elif self.paragraph.length:
            self.paragraph.breaks.append(self.paragraph.length)
        if self.paragraph:
            self.paragraph.begins_with_item = True

    def drop_line(self) -> SourceSpan | None:
        """Remove and return the last line of the paragraph: it was the head of a table."""
        if not (self.paragraph and self.paragraph.spans):
            return None
        line = self.paragraph.spans.pop()
        self.flush()
        return line

    def flush(self) -> None:
        """End the paragraph."""
        paragraph, self.paragraph = self.paragraph, None
        if paragraph and paragraph.spans:
            self.emit(paragraph.page, paragraph.spans, paragraph.kind, paragraph.breaks)

    def emit(
        self, page: MarkdownPage, spans: list[SourceSpan], kind: SentenceKind, breaks: list[int] | None = None
    ) -> None:
        """Add a whole paragraph."""
        if self.outline.in_references and kind == "prose":
            self.reference_paragraphs.append((page, spans))
            return
        stretch = Stretch(page.file, page.text, spans)
        prose = self.outline.begin_paragraph(stretch.text) if kind == "prose" else Prose()
        inline = read_inline(stretch, self.names, breaks or (), self._markers_in(page, spans), prose)
        self.cites_by_key = self.cites_by_key or inline.cites_by_key
        if inline.formula:
            self.outline.formula(inline.formula, page.file, *stretch.source_range(0, len(stretch.text)))
        elif kind == "prose":
            self.outline.end_paragraph(prose, stretch.text)
        else:
            self.outline.block(prose, kind)
        if kind == "footnote":
            self.names.notes.setdefault(self.note_label, []).append(prose)
        for caption in inline.captions:
            self.outline.block(caption, "caption")
        for note in inline.notes:
            self.outline.block(note, "footnote")

    def cells(self, page: MarkdownPage, cells: Iterable[list[SourceSpan]]) -> None:
        """Add those cells of a table that cite."""
        for spans in cells:
            if not self.outline.in_references:
                inline = read_inline(
                    Stretch(page.file, page.text, spans), self.names, (), self._markers_in(page, spans)
                )
                self.cites_by_key = self.cites_by_key or inline.cites_by_key
                for prose in (inline.prose, *inline.captions, *inline.notes):
                    if prose.has_citations:
                        self.outline.block(prose, "table")

    def _markers_in(self, page: MarkdownPage, spans: list[SourceSpan]) -> list[Marker]:
        """The plain-text citations in these lines."""
        markers = self.names.markers
        line_markers: list[Marker] = []
        for start, end in spans if markers and not page.including_files else ():
            index = bisect_left(markers, start, key=lambda marker: marker.start)
            line_markers += takewhile(lambda marker: marker.start < end, islice(markers, index, None))  # noqa: B023
        return line_markers

    def heading(self, page: MarkdownPage, start: int, end: int, level: int) -> None:
        """Begin a section, unless it is the reference list."""
        self.flush()
        while start < end and page.text[end - 1].isspace():
            end -= 1
        closing = _CLOSING_HASHES.search(page.text, start, end)
        end = closing.start() if closing else end
        attributes = _ATTRIBUTES.search(page.text, start, end)
        end = attributes.start() if attributes else end
        stretch = Stretch(page.file, page.text, [(start, end)])
        inline = read_inline(stretch, self.names, (), self._markers_in(page, [(start, end)]))
        self.cites_by_key = self.cites_by_key or inline.cites_by_key
        self.outline.heading(_PART.sub("", heading_words(inline.prose)), level, inline.prose)
