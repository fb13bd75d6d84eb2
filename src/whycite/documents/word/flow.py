"""The text of a word-processor document as a reader sees it, and where in the package each piece of it stands.

One line is one paragraph, in reading order; notes and text boxes come after the paragraph they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from whycite.documents.xmltree import Node, XmlText

__all__ = [
    "EQUATION",
    "LINE_BREAK",
    "MAX_TEXT",
    "Flow",
    "FlowCitation",
    "FlowField",
    "FlowParagraph",
    "ParagraphRole",
    "TextPiece",
]

MAX_TEXT = 3_000_000  # characters, about 900 pages; more would take minutes
EQUATION = "EQUATION"
LINE_BREAK = "\v"  # a line break inside a paragraph, as Word itself writes it in plain text
# White space in the file that is a space on the page.
_WHITE = str.maketrans(dict.fromkeys("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))

ParagraphRole = Literal[
    "body",
    "abstract",
    "item",
    "heading",
    "title",
    "front",
    "caption",
    "table",
    "note",
    "reference",
    "formula",
    "contents",
    "code",
]


class TextPiece(NamedTuple):
    """Text from one place of a part; if the characters are `exact`, they match the part's XML one for one."""

    start: int  # in the text of the document
    end: int
    part: str
    xml_start: int
    xml_end: int
    exact: bool
    run: Node | None  # the run it is in
    paragraph: Node


@dataclass(slots=True)
class FlowCitation:
    """A citation that a reference manager or the word processor marks; without keys if it names no work."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(slots=True)
class FlowParagraph:
    """A line of the text and what it is."""

    start: int
    end: int
    role: ParagraphRole
    level: int = 0  # of a heading, from 1
    numbered: bool = False  # by the word processor: the number is not in the text
    bold: bool = False  # every letter
    notes: list[tuple[int, list[FlowParagraph]]] = field(default_factory=list)  # by the place of the mark
    mark: int | None = None  # of a note or a text box: where in the text around it stands


class FlowField(NamedTuple):
    """A field or content control inside one paragraph, from before its beginning to behind its end."""

    start: int
    end: int
    part: str
    xml_start: int
    xml_end: int


class Flow:
    """Grows the text of a document."""

    def __init__(self) -> None:
        self.pieces: list[TextPiece] = []
        self.paragraphs: list[FlowParagraph] = []
        self.citations: list[FlowCitation] = []
        self.fields: list[FlowField] = []
        self.raised: list[tuple[int, int]] = []  # superscript
        self.length = 0
        self._texts: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether the text is longer than any document, so that nothing more is added."""
        return self.length > MAX_TEXT

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._texts)

    def add(self, text: str, part: str, place: XmlText | Node, run: Node | None, paragraph: Node) -> None:
        """Append the text of a place; anything but an exact `XmlText` stands for it as a whole."""
        if not text or self.is_full:
            return
        exact = isinstance(place, XmlText) and place.exact
        clean = text.translate(_WHITE) if isinstance(place, XmlText) else text
        clean = clean[: MAX_TEXT + 1 - self.length]
        self._texts.append(clean)
        end = self.length + len(clean)
        xml_end = place.start + len(clean) if exact else place.end
        self.pieces.append(TextPiece(self.length, end, part, place.start, xml_end, exact, run, paragraph))
        self.length = end

    def end_line(self) -> None:
        """End the line of a paragraph."""
        self._texts.append("\n")
        self.length += 1

    @cached_property
    def piece_starts(self) -> list[int]:
        """Where the pieces of the finished text begin."""
        return [piece.start for piece in self.pieces]
