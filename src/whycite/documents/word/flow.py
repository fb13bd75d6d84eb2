"""The text of a word-processor document as a reader sees it, and where in the package each piece of it stands.

One line is one paragraph, in reading order; notes and text boxes come after the paragraph they belong to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from whycite.documents.xmltree import Node, XmlText

__all__ = [
    "EQUATION",
    "LINE_BREAK",
    "MAX_CITATIONS",
    "MAX_PARAGRAPHS",
    "MAX_TEXT",
    "Flow",
    "FlowCitation",
    "FlowField",
    "FlowParagraph",
    "ParagraphRole",
    "Style",
    "StyleSheet",
    "TextPiece",
    "attribute_number",
    "plain_symbols",
    "role_by_name",
    "symbol",
]


MAX_TEXT = 3_000_000  # characters, about 900 pages; more would take minutes
MAX_PARAGRAPHS = 30_000  # cells and notes among them; 900 pages with 33 each
MAX_CITATIONS = 10_000
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
        return self.length > MAX_TEXT or len(self.paragraphs) > MAX_PARAGRAPHS or len(self.citations) > MAX_CITATIONS

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._texts)

    @property
    def listed(self) -> list[FlowParagraph]:
        """The entries of the reference list."""
        return [line for line in self.paragraphs if line.role == "reference" and line.end > line.start]

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

    @cached_property
    def _line_starts(self) -> list[int]:
        return [line.start for line in self.paragraphs]

    def line_at(self, offset: int) -> FlowParagraph:
        """The line of the finished text at an offset."""
        return self.paragraphs[max(0, bisect_right(self._line_starts, offset) - 1)]

    def commented_stretch(self, start: int, end: int) -> tuple[int, int]:
        """Where a comment on a stretch goes: of notes and text boxes, at their mark, since they cannot have any."""
        mark = self.line_at(start).mark
        if mark is None:
            return start, end
        line = self.line_at(mark)
        return max(line.start, mark - 1), min(line.end, max(mark, line.start + 1))


_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko)[ _](\d)", re.IGNORECASE
)
_MAX_CHAIN = 30  # styles that are based on one another
# Names of built-in styles, and of those that pandoc and LibreOffice write.
_ROLES: dict[str, ParagraphRole] = {
    "title": "title", "subtitle": "front", "author": "front", "authors": "front", "date": "front",
    "affiliation": "front", "keywords": "front", "abstract": "abstract", "caption": "caption",
    "image caption": "caption", "table caption": "caption", "captioned figure": "caption",
    "illustration": "caption", "drawing": "caption",
    "bibliography": "reference", "endnote bibliography": "reference", "citavi bibliography entry": "reference",
    "source code": "code", "preformatted text": "code", "html preformatted": "code", "macro": "code",
    "list paragraph": "item", "list bullet": "item", "list number": "item", "list": "item", "compact": "item",
    "toc heading": "contents", "contents heading": "contents", "table of figures": "contents",
    "header": "contents", "footer": "contents",
}  # fmt: skip
_CONTENTS = re.compile(r"(?:toc|contents|index|user index|figure index|bibliography index) ?\d", re.IGNORECASE)


def role_by_name(name: str) -> tuple[ParagraphRole, int] | None:
    """What a style of this name says of a paragraph, and the level of a heading; None if it says nothing."""
    name = name.replace("_20_", " ").strip().lower()
    if heading := _HEADING.fullmatch(name):
        return "heading", int(heading[1])
    if name == "abstract title":
        return "heading", 1
    if _CONTENTS.fullmatch(name):
        return "contents", 0
    return (_ROLES[name], 0) if name in _ROLES else None


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its name, what it is based on, and what it sets itself."""

    name: str
    based_on: str = ""
    outline: int | None = None  # the level of a heading, from 1; 0 if it is said to be none
    numbered: bool = False


class StyleSheet:
    """The paragraph styles of a document by id."""

    def __init__(self, styles: dict[str, Style]) -> None:
        self._styles = styles

    def role(self, id: str) -> tuple[ParagraphRole, int]:
        """What a paragraph of this style is, and the level of a heading."""
        for style in self._chain(id):
            role = role_by_name(style.name)
            if role and role[0] != "heading":
                return role
            if style.outline is not None:
                return ("heading", style.outline) if style.outline else ("body", 0)
            if role:
                return role
        return "body", 0

    def is_numbered(self, id: str) -> bool:
        """Whether the word processor numbers paragraphs of this style."""
        return any(style.numbered for style in self._chain(id))

    def _chain(self, id: str) -> Iterable[Style]:
        for _ in range(_MAX_CHAIN):
            if id not in self._styles:
                return
            yield self._styles[id]
            id = self._styles[id].based_on


def attribute_number(node: Node, name: str, default: int = 0) -> int:
    """A number below a million in an attribute; the default where it is missing or no such number."""
    value = node.attributes.get(name, "")
    return int(value) if value.isdecimal() and len(value) <= _MAX_DIGITS else default


_MAX_DIGITS = 6
_SYMBOLS = dict(
    zip(
        "abcdefghiklmnopqrstuwxyzDFGLPQSWXY\xb0\xb1\xa3\xb3\xb4\xb7\xbb\xae\xb9\xa5\xb6\xd7\xa2",
        "αβχδεφγηικλμνοπθρστυωξψζΔΦΓΛΠΘΣΩΞΨ°±≤≥×•≈→≠∞∂⋅′",
        strict=True,
    )
)
_PRIVATE = re.compile("[\uf020-\uf0ff]")


def symbol(code: str) -> str:
    """The character of a symbol given by its code in hexadecimal."""
    number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", code) else 0
    return "" if not number or 0xD800 <= number < 0xE000 else plain_symbols(chr(number))


def plain_symbols(text: str) -> str:
    """The text with characters of the font Symbol as letters."""
    return _PRIVATE.sub(lambda sign: _SYMBOLS.get(chr(ord(sign[0]) - 0xF000), "\N{REPLACEMENT CHARACTER}"), text)
