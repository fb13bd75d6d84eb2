"""Writes into an OpenDocument text as `editing` does into Word's: comments, and tracked insertions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from itertools import takewhile
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

from whycite.documents.model import Document
from whycite.documents.sources import MemoryFolder, Source
from whycite.documents.word import READER as WORD_READER
from whycite.documents.word.editing import (
    AUTHOR,
    INITIALS,
    TextInsertion,
    WordComment,
    WordEditor,
    elements_around,
    is_well_formed,
    pieces_at,
    valid_text,
)
from whycite.documents.word.flow import Flow, FlowParagraph, TextPiece
from whycite.documents.word.managers import CitedWorks
from whycite.documents.word.opendocument import CONTENT, read_opendocument
from whycite.documents.word.opendocument import READER as OPENDOCUMENT_READER
from whycite.documents.word.package import Package, rewrite_package
from whycite.documents.xmltree import Node, plain_text
from whycite.errors import UserError

__all__ = ["WRITTEN_FORMATS", "DocumentEditor", "OpenDocumentEditor", "is_written", "open_editor"]

WRITTEN_FORMATS = (WORD_READER.name, OPENDOCUMENT_READER.name)
_SPACES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
}
_PREFIX = re.compile(r"</?(\w+):|\s(\w+):[\w-]+=")
_OPEN_TAGS = frozenset(
    {"p", "h", "span", "a", "meta", "ruby-base", "content-control"}
)  # that may hold comments and changes
_RAISED = "whyciteRaised"


class DocumentEditor(Protocol):
    """Collects what to write into a document of a word processor, and writes it at once."""

    flow: Flow
    works: CitedWorks
    text: str

    def add_comment(self, comment: WordComment) -> bool:
        """Comment a stretch of the text; False if it has no place, or has this comment already."""

    def insert(self, insertion: TextInsertion) -> bool:
        """Insert text as a tracked change, formatted like the text before it; False if it has no place."""

    def is_pending(self, offset: int) -> bool:
        """Whether nothing can be inserted at an offset until a change around it is accepted."""

    def append_paragraphs(self, after: FlowParagraph, texts: Sequence[str]) -> bool:
        """Insert paragraphs after another one, formatted like it, as tracked changes; False if there is no place."""

    def result(self) -> bytes:
        """The package with everything written."""


def is_written(path: str) -> bool:
    """Whether a document can be written into, by its suffix."""
    return path.lower().endswith((*WORD_READER.suffixes, *OPENDOCUMENT_READER.suffixes))


def open_editor(document: Document, data: bytes, date: datetime) -> DocumentEditor:
    """An editor of the bytes of a document, which must still say what was read."""
    reader = OPENDOCUMENT_READER if document.format == OPENDOCUMENT_READER.name else WORD_READER
    name = f"draft{reader.suffixes[0]}"
    current = next(iter(reader.read(Source(MemoryFolder({name: data}, ""), name))))
    if _places(current) != _places(document):
        raise UserError(f"{document.path}: changed since it was read, so nothing was written; run the command again")
    editor = OpenDocumentEditor if reader is OPENDOCUMENT_READER else WordEditor
    return editor(data, document.path, date)


def _places(document: Document) -> list[tuple[str, int, int]]:
    return [(sentence.text, sentence.start, sentence.end) for sentence in document.sentences]


class OpenDocumentEditor:
    """Collects what to write into an OpenDocument text, and writes it at once."""

    def __init__(self, data: bytes, path: str, date: datetime) -> None:
        self._data, self._path = data, path
        package = Package(data, path)
        document = read_opendocument(package)
        self.flow, self.works = document.flow, document.works
        self._source, root = package.text(CONTENT), package.root(CONTENT)
        if package.warnings or root is None:
            raise UserError(f"{path}: damaged, so nothing is written into it; open it and save it again")
        self.text = self.flow.text
        self._root = root
        self._date = f"{date:%Y-%m-%dT%H:%M:%S}"
        self._insertions: dict[int, list[tuple[int, str]]] = {}  # by place; with a rank among those of one place
        self._regions: list[str] = []
        self._comment_count = 0
        self._has_raised = False
        self._names = {
            node.attributes[name]
            for node in root.descend("annotation", "changed-region")
            for name in ("name", "id")
            if name in node.attributes
        }
        self._open_changes = _change_ranges(root)

    # -- what to write -----------------------------------------------------------

    def add_comment(self, comment: WordComment) -> bool:
        """Comment a stretch of the text; False if it has no place, or has this comment already."""
        start, end = self.flow.commented_stretch(comment.start, comment.end)
        first, last = pieces_at(self.flow, start, end)
        if first is None or last is None or self._is_known(comment, first.paragraph):
            return False
        name = quoteattr(self._free_name("__Annotation__whycite"))
        lines = "".join(_element("text:p", escape(valid_text(line))) for line in comment.text.split("\n"))
        author = _element("dc:creator", AUTHOR) + _element("dc:date", self._date)
        initials = _element("meta:creator-initials", INITIALS)
        self._insert_at(
            self._place(first, max(start, first.start)),
            2,
            _element("office:annotation", author + initials + lines, f"office:name={name}"),
        )
        self._insert_at(
            self._place(last, min(end, last.end)), 1, _element("office:annotation-end", "", f"office:name={name}")
        )
        return True

    def insert(self, insertion: TextInsertion) -> bool:
        """Insert text as a tracked change, formatted like the text before it; False if it has no place."""
        _, piece = pieces_at(self.flow, 0, insertion.offset)
        if piece is None or self.flow.line_at(insertion.offset).mark is not None:
            return False
        if self.is_pending(insertion.offset):
            return False
        place = self._place(piece, insertion.offset)
        if any(node.tag == "p" for node in elements_around(piece.paragraph, piece.xml_start)):
            return False  # the text of a shape, which has none either
        shown = escape(valid_text(insertion.text))
        if insertion.raised:
            self._has_raised = True
            shown = _element("text:span", shown, f'text:style-name="{_RAISED}"')
        if insertion.code:
            unique = sha256(f"{insertion.code} {place}".encode()).hexdigest()[:10]
            name = f"text:name={quoteattr(valid_text(f'{insertion.code} RND{unique}'))}"
            shown = (
                _element("text:reference-mark-start", "", name) + shown + _element("text:reference-mark-end", "", name)
            )
        self._insert_at(place, 0, self._change(escape(valid_text(insertion.lead)) + shown))
        return True

    def is_pending(self, offset: int) -> bool:
        """Whether an offset is inside a change: LibreOffice has no changes inside changes."""
        _, piece = pieces_at(self.flow, 0, offset)
        place = self._place(piece, offset) if piece is not None else 0
        return any(start < place < end for start, end in self._open_changes)

    def append_paragraphs(self, after: FlowParagraph, texts: Sequence[str]) -> bool:
        """Insert paragraphs after another one, formatted like it, as tracked changes; False if there is no place."""
        _, piece = pieces_at(self.flow, after.start, after.end)
        if piece is None or not texts:
            return False
        paragraph = piece.paragraph
        end = self._source.rindex("</", paragraph.start, paragraph.end)
        if any(start < end <= stop for start, stop in self._open_changes):
            return False
        holder = next((node for node in elements_around(self._root, end)[::-1] if node.tag == "list-item"), None)
        style = paragraph.attributes.get("style-name", "")
        style_attribute = f"text:style-name={quoteattr(style)}" if style else ""
        # The change begins before the end of the old paragraph, as if Enter was pressed there.
        opening, _, closing = self._change("\0").partition("\0")
        paragraphs = [escape(valid_text(text)) for text in texts]
        paragraphs[-1] += closing
        elements = [_element("text:p", text, style_attribute) for text in paragraphs]
        if holder is not None:
            elements = [_element("text:list-item", element) for element in elements]
        self._insert_at(end, 3, opening)
        self._insert_at(paragraph.end if holder is None else holder.end, 0, "".join(elements))
        return True

    def result(self) -> bytes:
        """The package with everything written."""
        if self._regions:
            self._insert_regions()
        if self._has_raised:
            self._insert_style()
        pieces, position = [], 0
        for place in sorted(self._insertions):
            pieces.append(self._source[position:place])
            pieces += [text for _, text in sorted(self._insertions[place], key=lambda ranked: ranked[0])]
            position = place
        content = "".join([*pieces, self._source[position:]])
        if not is_well_formed(content):
            raise UserError(f"{self._path}: {CONTENT} cannot be changed safely, so nothing is written into the file")
        return rewrite_package(self._data, {CONTENT: content.encode("utf-8")})

    # -- XML ---------------------------------------------------------------------

    def _change(self, content: str) -> str:
        """An insertion that is tracked."""
        name = self._free_name("ctwhycite")
        info = _element("dc:creator", AUTHOR) + _element("dc:date", self._date)
        change = _element("text:insertion", _element("office:change-info", info))
        self._regions.append(_element("text:changed-region", change, f'xml:id="{name}" text:id="{name}"'))
        number = f'text:change-id="{name}"'
        return _element("text:change-start", "", number) + content + _element("text:change-end", "", number)

    def _insert_regions(self) -> None:
        """List the changes at the beginning of the text; recording stays as it is."""
        body = self._root.find("body", "text")
        assert body is not None
        regions = "".join(self._regions)
        tracked, forms = body.find("tracked-changes"), body.find("forms")
        if tracked is not None and not self._source[tracked.start : tracked.end].endswith("/>"):
            self._insert_at(self._source.rindex("</", tracked.start, tracked.end), 0, regions)
            return
        start = tracked or forms
        place = start.end if start is not None else self._source.index(">", body.start) + 1
        self._insert_at(place, 0, _element("text:tracked-changes", regions, 'text:track-changes="false"'))

    def _insert_style(self) -> None:
        styles = self._root.find("automatic-styles")
        properties = _element("style:text-properties", "", 'style:text-position="super 58%"')
        style = _element("style:style", properties, f'style:name="{_RAISED}" style:family="text"')
        if styles is None or any(node.attributes.get("name") == _RAISED for node in styles.find_all("style")):
            return
        if self._source[styles.start : styles.end].endswith("/>"):
            body = self._root.find("body")
            assert body is not None
            self._insert_at(body.start, 0, _element("office:automatic-styles", style))
        else:
            self._insert_at(self._source.rindex("</", styles.start, styles.end), 0, style)

    def _free_name(self, stem: str) -> str:
        """A name that no comment or change of the document has."""
        number = len(self._names)
        while f"{stem}{number}" in self._names:
            number += 1
        self._names.add(f"{stem}{number}")
        return f"{stem}{number}"

    # -- places ------------------------------------------------------------------

    def _insert_at(self, place: int, rank: int, text: str) -> None:
        self._insertions.setdefault(place, []).append((rank, text))

    def _place(self, piece: TextPiece, offset: int) -> int:
        """The place in the part of an offset in a piece or at its edge; what can hold nothing is passed by."""
        if offset <= piece.start:
            place = piece.xml_start
        elif offset >= piece.end:
            place = piece.xml_end
        else:
            place = piece.xml_start + (offset - piece.start if piece.exact else 0)
        around = elements_around(piece.paragraph, place)
        inner = list(takewhile(lambda node: node.tag in _OPEN_TAGS, around))
        if len(inner) == len(around):
            return place
        closed = around[len(inner)]
        return closed.start if offset <= piece.start else closed.end

    def _is_known(self, comment: WordComment, paragraph: Node) -> bool:
        letters = "".join(comment.text.split())
        return any(
            plain_text(stored.find("creator")) == AUTHOR
            and letters == "".join("".join(map(plain_text, stored.find_all("p"))).split())
            for stored in paragraph.descend("annotation")
        )


def _element(name: str, content: str, attributes: str = "") -> str:
    """An element that declares the names it uses, whatever the document calls them."""
    tag = f"<{name}{f' {attributes}' if attributes else ''}"
    used = {prefix for match in _PREFIX.finditer(tag) for prefix in match.groups() if prefix in _SPACES}
    declared = "".join(f' xmlns:{prefix}="{_SPACES[prefix]}"' for prefix in sorted(used))
    return f"{tag}{declared}>{content}</{name}>" if content else f"{tag}{declared}/>"


def _change_ranges(root: Node) -> list[tuple[int, int]]:
    """Where text that somebody inserted stands in the part."""
    starts: dict[str, int] = {}
    ranges = []
    for node in root.descend("change-start", "change-end"):
        name = node.attributes.get("change-id", "")
        if node.tag == "change-start":
            starts[name] = node.start
        elif name in starts:
            ranges.append((starts.pop(name), node.end))
    return ranges
