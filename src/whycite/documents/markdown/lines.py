"""The lines of a Markdown file: patterns for each kind, comments blanked out, and the paragraphs they form."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, takewhile

from whycite.documents.builder import Prose
from whycite.documents.markdown.inline import MarkdownNames, read_inline
from whycite.documents.markers import Marker
from whycite.documents.markup import DraftOutline, SourceSpan, Stretch, heading_words
from whycite.documents.model import SentenceKind

__all__ = [
    "ATX",
    "BOLD_CAPTION",
    "CAPTION",
    "DASHES",
    "DEFINITION",
    "DIRECTIVE",
    "DIV",
    "EXAMPLE",
    "FENCE",
    "FOOTNOTE",
    "GRID",
    "HTML_BLOCK",
    "INCLUDE",
    "LABEL",
    "LABEL_TARGET",
    "LINE",
    "LINK",
    "LIST",
    "LONG_RULE",
    "MYST_BREAK",
    "MYST_COMMENT",
    "OPTION",
    "PIPES",
    "QUOTE",
    "ROW",
    "RULE",
    "SETEXT",
    "TABLE_CAPTION",
    "TARGET",
    "TEXT_REFERENCE",
    "TEX_BEGIN",
    "MarkdownPage",
    "ParagraphGatherer",
    "blank_comments",
    "indent_width",
    "split_lines",
]

LINE = re.compile(r"[^\n]*(?:\n|$)")
QUOTE = re.compile(r"(?: {0,3}>[ \t]?)+")
ATX = re.compile(r"(#{1,6})(?=[ \t\r\n]|$)[ \t]*")
SETEXT = re.compile(r"(=+|-+)[ \t]*\r?\n?$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?\n?$")
FENCE = re.compile(r"(`{3,}(?![^\n]*`)|~{3,})([^\n]*)")
DIV = re.compile(r"(:{3,})([^\n]*)")
DIRECTIVE = re.compile(r"\{([\w:.+-]{1,40})\}[ \t]*(.*)")
OPTION = re.compile(r":[\w-]{1,40}:(?:[ \t]|\r?\n|$)")
LIST = re.compile(
    r"(?:(?P<bullet>[-*+])|\(?(?P<number>\d{1,9})[.)]|\(?(?:[a-z]|[ivx]{1,6}|#|@[\w-]{0,60})[.)]"
    r"|[A-Z]\)|[A-Z]\.(?=[ \t]{2}))"
    r"(?:[ \t]+(?:\[[ xX]\][ \t]+)?|(?=\r?\n|$))"
)
EXAMPLE = re.compile(r"^[ \t]*\(@([\w-]{1,60})\)[ \t]", re.MULTILINE)
LABEL = re.compile(r"^ {0,3}\[(?![\^@])([^\[\]\n]{1,200})\]:", re.MULTILINE)
# What a cross-reference can lead to: "(x)=", ":name: x", "label: x" in a directive, "{#x}", "\\label{x}".
LABEL_TARGET = re.compile(
    r"^[ \t]*\(([^()\s]{1,200})\)=[ \t]*\r?$"
    r"|^[ \t]*(?:(?:#|//|%%)\|[ \t]*)?:?(?:name|label):[ \t]*[\"']?([^\s\"']{1,200})"
    r"|\{#([\w:.-]{1,200})|\\label\{([^{}\s]{1,200})\}",
    re.MULTILINE,
)
FOOTNOTE = re.compile(r"\[\^([^\s\[\]]{1,100})\]:[ \t]*")
LINK = re.compile(
    r"\[(?![\^@])([^\[\]]{1,200})\]:[ \t]*(?:<[^<>\n]*>|[^\s<]\S*)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\r?\n?$"
)
INCLUDE = re.compile(r"\{\{<[ \t]*include[ \t]+[\"']?([^\"'\n]{1,300}?)[\"']?[ \t]*>\}\}")
PIPES = re.compile(
    r"\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)+\|?[ \t]*\r?\n?$|\|[ \t]*:?-+:?[ \t]*\|[ \t]*\r?\n?$"
)
ROW = re.compile(r"\|[^\n]*\|[ \t]*\r?\n?$")
GRID = re.compile(r"\+(?:[-=:]+\+)+[ \t]*\r?\n?$")
DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})+[ \t]*\r?\n?$")
TABLE_CAPTION = re.compile(r"Table:(?=[ \t])[ \t]*")
LONG_RULE = re.compile(r"[ \t]*-{10,}[ \t]*\r?\n?$")
CAPTION = re.compile(r"(?:Table:|:)(?=[ \t])[ \t]*")
# "**Figure 1.** Bees", as word processors export a caption.
BOLD_CAPTION = re.compile(
    r"(?=(?:\*\*|__)(?:Fig(?:ure|\\?\.)|Tab(?:le|\\?\.)|Scheme|Box)[ \t]+\d+[A-Za-z]?[ \t]*"
    r"(?:\\?[.:|]|(?:\*\*|__)[ \t]*\\?[.:|]))",
    re.IGNORECASE,
)
DEFINITION = re.compile(r"[:~][ \t]+")
TARGET = re.compile(r"\([\w:./-]{1,100}\)=[ \t]*\r?\n?$")  # of a cross-reference in MyST
MYST_BREAK = re.compile(r"\+\+\+(?:[ \t][^\n]*)?\r?\n?$")
MYST_COMMENT = re.compile(r"%[ \t]")
TEXT_REFERENCE = re.compile(r"\(ref:[\w-]{1,100}\)[ \t]*")
TEX_BEGIN = re.compile(r"\\begin\s*\{([A-Za-z]{1,40}\*?)\}")
HTML_BLOCK = re.compile(r"<(script|style|table|pre|svg|iframe|template|textarea|video)\b", re.IGNORECASE)


def indent_width(line: str) -> int:
    """The indentation of a line, with tab stops every four columns."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += 4 - columns % 4
        else:
            break
    return columns


@dataclass
class MarkdownPage:
    """A file being read."""

    file: str
    text: str  # without comments
    line_spans: list[SourceSpan]
    including_files: tuple[str, ...] = ()  # the files that include it
    next_line: int = 0
    skip_until: int = 0  # lines that begin before this offset are skipped
    code_fence: str = ""  # the fence of the current code block
    open_directives: list[tuple[str, str]] = field(default_factory=list)  # fence and kind of open directives
    open_divs: list[str] = field(default_factory=list)  # kinds of open divs
    _missing: set[str] = field(default_factory=set)

    def find(self, target: str, start: int) -> int:
        """Where the next `target` is, or -1; failed searches are remembered."""
        position = -1 if target in self._missing else self.text.find(target, start)
        if position < 0:
            self._missing.add(target)
        return position

    def line_number(self, offset: int) -> int:
        """The line number of an offset."""
        return self.text.count("\n", 0, offset) + 1


def split_lines(text: str, start: int = 0) -> list[SourceSpan]:
    """The lines of a text from an offset on, with their ends."""
    return [match.span() for match in LINE.finditer(text, start) if match[0]]


_COMMENT_OR_CODE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*$|(?P<ticks>`+)|<!--", re.MULTILINE)
_FENCES = {sign: re.compile(rf"^[ \t>]*({sign}{{3,}})[ \t\r]*$", re.MULTILINE) for sign in "`~"}
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_MAX_INLINE_CODE = 5000  # characters; code that closes later was not meant as code


def blank_comments(text: str) -> str:
    """The text, of the same length, with spaces for comments, except in code."""
    if "<!--" not in text:
        return text
    parts: list[str] = []
    start = pos = 0
    while mark := _COMMENT_OR_CODE.search(text, pos):
        if mark["fence"]:
            pos = _fence_end(text, mark["fence"], mark.end())
        elif mark["ticks"]:
            pos = _code_end(text, mark["ticks"], mark.end())
        else:
            close = text.find("-->", mark.end())
            pos = close + 3 if close >= 0 else len(text)
            parts += [text[start : mark.start()], " " * (pos - mark.start())]
            start = pos
    return "".join([*parts, text[start:]])


def _fence_end(text: str, fence: str, start: int) -> int:
    for close in _FENCES[fence[0]].finditer(text, start):
        if len(close[1]) >= len(fence):
            return close.end()
    return len(text)


def _code_end(text: str, ticks: str, start: int) -> int:
    """The end of inline code, or its start if it does not close in its paragraph."""
    limit = min(len(text), start + _MAX_INLINE_CODE)
    blank = _BLANK_LINE.search(text, start, limit)
    limit = blank.start() if blank else limit
    pos = start
    while (pos := text.find(ticks, pos, limit)) >= 0:
        end = pos + len(ticks)
        if text[end : end + 1] != "`" and text[pos - 1] != "`":
            return end
        while text[end : end + 1] == "`":
            end += 1
        pos = end
    return start


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
