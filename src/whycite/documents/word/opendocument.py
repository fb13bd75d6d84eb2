"""Reads OpenDocument text (.odt), which LibreOffice writes, as the text that a reader of the document sees."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whycite.documents.model import Document, Reference
from whycite.documents.references.names import parse_people
from whycite.documents.references.reader import year_of
from whycite.documents.sources import Source
from whycite.documents.word.flow import (
    EQUATION,
    LINE_BREAK,
    Flow,
    FlowCitation,
    FlowParagraph,
    ParagraphRole,
    Style,
    StyleSheet,
    attribute_number,
)
from whycite.documents.word.managers import CitedItem, CitedWorks, WordField, bookmarked_codes, read_field
from whycite.documents.word.outline import build_document
from whycite.documents.word.package import MAX_PACKAGE, Package
from whycite.documents.word.wordml import WordText
from whycite.documents.xmltree import Node, XmlText, plain_text, texts
from whycite.errors import UserError

__all__ = ["CONTENT", "READER", "OpenDocumentReader", "opendocument_text", "read_opendocument"]

CONTENT = "content.xml"
_MAX_DEPTH = 60  # elements within one another
_SKIPPED = frozenset(
    "annotation annotation-end tracked-changes forms sequence-decls variable-decls bookmark alphabetical-index-mark "
    "toc-mark soft-page-break".split()
)
_INDEXES = frozenset(
    "table-of-content illustration-index table-index object-index user-index alphabetical-index".split()
)
_MAX_SPACES = 999
_WHITE = " \t\r\n"
_MAX_CHAIN = 10  # styles that are based on one another
_FORMATS = ("display", "font-weight", "text-position")
_BOLD = frozenset({"bold", "600", "700", "800", "900"})
_RAISED = re.compile(r"super|[1-9]")  # a share of the height, in percent
_FORMULA = re.compile(r"<(?:[\w.-]+:)?math\b")  # the root element of an object
_MAX_FORMULA_NUMBER = 8  # characters beside a displayed formula: "(12)"


class OpenDocumentReader:
    """Documents of LibreOffice."""

    name = "odt"
    suffixes = (".odt", ".ott")

    def sniff(self, head: bytes) -> bool:
        """Whether the file begins like an OpenDocument text."""
        return b"mimetypeapplication/vnd.oasis.opendocument.text" in head[:200]

    def read(self, source: Source) -> Iterator[Document]:
        """The one document in a package."""
        package = Package(source.data(MAX_PACKAGE), source.path)
        document = read_opendocument(package)
        yield build_document(source.path, self.name, document.flow, document.works, document.title, package.warnings)


def opendocument_text(data: bytes, path: str) -> str:
    """The text of an OpenDocument text, in which the offsets of its sentences count."""
    return read_opendocument(Package(data, path)).flow.text


def read_opendocument(package: Package) -> WordText:
    """The text of an OpenDocument package."""
    root = package.root(CONTENT)
    body = root.find("body", "text") if root else None
    if body is None:
        raise UserError(f"{package.path}: not an OpenDocument text; it has no text in {CONTENT}")
    described = package.root("meta.xml")
    meta = described.find("meta") if described else None
    properties = {p.get("name"): "".join(texts(p)) for p in (meta.find_all("user-defined") if meta else ())}
    styles, formats = _style_sheet(package, root)
    walker = _TextWalker(package, styles, formats, bookmarked_codes(properties), _deletions(body))
    walker.walk_blocks(body)
    walker.finish()
    return WordText(walker.flow, walker.works, plain_text(meta.find("title")) if meta else "")


Formats = Mapping[tuple[str, str], Mapping[str, str]]  # of characters, by family and name of the style


@dataclass(slots=True)
class _OpenCitation:
    meaning: WordField
    start: int


@dataclass(slots=True)
class _TextWalker:
    """The state of one walk."""

    package: Package
    styles: StyleSheet
    formats: Formats
    bookmarks: Mapping[str, str]  # citations by the name of the bookmark they are at
    deletions: Collection[str]  # the changes that delete text where it stands
    flow: Flow = field(default_factory=Flow)
    works: CitedWorks = field(default_factory=CitedWorks)
    marks: dict[str, _OpenCitation] = field(default_factory=dict)  # by the name of the reference mark
    fields: list[_OpenCitation] = field(default_factory=list)
    deleting: set[str] = field(default_factory=set)  # the changes that delete what is read
    formula_objects: dict[str, bool] = field(default_factory=dict)  # whether an object is one, by its part
    contexts: list[ParagraphRole] = field(default_factory=list)
    paragraph: Node | None = None
    notes: list[tuple[int, Node]] = field(default_factory=list)
    boxes: list[tuple[int, Node]] = field(default_factory=list)
    mark: int | None = None  # where the note or text box that is read stands
    depth: int = 0
    spaced: bool = True  # the line so far is empty or ends in white space, which then is folded
    formulas: int = 0  # of the line
    letters: int = 0  # of the line, without formulas
    bold_letters: int = 0
    format: Mapping[str, str] = field(default_factory=dict)  # of the characters that are read

    def walk_blocks(self, node: Node) -> None:
        """Read the paragraphs, lists and tables of an element."""
        if not self._goes_deeper():
            return
        for child in node.children:
            if not isinstance(child, Node) or child.tag in _SKIPPED:
                continue
            if child.tag in ("p", "h"):
                self._read_paragraph(child)
            elif child.tag in ("change-start", "change-end"):
                self._read_element(child)
            elif context := _context(child):
                self.contexts.append(context)
                self.walk_blocks(child)
                self.contexts.pop()
            else:
                self.walk_blocks(child)
        self.depth -= 1

    def _goes_deeper(self) -> bool:
        """Count one level of nesting; False, with a warning, where no document would go on."""
        if self.depth >= _MAX_DEPTH:
            self.package.warnings.append(f"{self.package.path}: nested deeper than {_MAX_DEPTH} levels; not read there")
            return False
        self.depth += 1
        return True

    def _read_paragraph(self, node: Node) -> None:
        if self.flow.is_full:
            return
        style = node.get("style-name")
        role, level = self.styles.role(style)
        if node.tag == "h" and role in ("body", "heading"):
            role, level = "heading", attribute_number(node, "outline-level", 1)
        if self.contexts and not (role == "caption" and self.contexts[-1] == "table"):
            role = self.contexts[-1] if role != "heading" or self.contexts[-1] != "item" else role
        start = self.flow.length
        line = FlowParagraph(start, start, role, level, numbered=role == "item", mark=self.mark)
        if role == "reference":
            line.numbered = "item" in self.contexts
        self.flow.paragraphs.append(line)
        outer, self.paragraph, self.spaced = self.paragraph, node, True
        self.formulas = self.letters = self.bold_letters = 0
        self.format = self.formats.get(("paragraph", style), {})
        self._walk_inline(node.children)
        line.end = self.flow.length
        line.bold = 0 < self.letters == self.bold_letters
        if self.formulas and self.letters <= _MAX_FORMULA_NUMBER:
            line.role = "formula"
        self.flow.end_line()
        self.paragraph = outer
        self._read_asides(line)

    def _read_asides(self, line: FlowParagraph) -> None:
        """Read the notes and text boxes of a paragraph, after its line."""
        notes, self.notes = self.notes, []
        boxes, self.boxes = self.boxes, []
        for offset, note in notes:
            count = len(self.flow.paragraphs)
            self.contexts.append("note")
            self._walk_aside(note, offset)
            self.contexts.pop()
            line.notes.append((offset, self.flow.paragraphs[count:]))
        for offset, box in boxes:
            self._walk_aside(box, offset)

    def _walk_aside(self, node: Node, offset: int) -> None:
        """Read a note or a text box that stands at an offset of the text."""
        outer, self.mark = self.mark, offset if self.mark is None else self.mark
        self.walk_blocks(node)
        self.mark = outer

    def _walk_inline(self, children: Iterable[Node | XmlText]) -> None:
        if not self._goes_deeper():
            return
        for child in children:
            if isinstance(child, XmlText):
                self._add_text(child)
            elif child.tag not in _SKIPPED:
                self._read_element(child)
        self.depth -= 1

    def _read_element(self, node: Node) -> None:
        tag, name = node.tag, node.attributes.get("name", "")
        if tag == "s":
            self._add(" " * min(attribute_number(node, "c", 1), _MAX_SPACES), node)
        elif tag in ("tab", "line-break"):
            self._add("\t" if tag == "tab" else LINE_BREAK, node)
        elif tag == "change-start" and node.get("change-id") in self.deletions:
            self.deleting.add(node.get("change-id"))
        elif tag == "change-end":
            self.deleting.discard(node.get("change-id"))
        elif tag == "placeholder" or node.get("showing-place-holder") == "true":
            return
        elif tag == "note":
            if (body := node.find("note-body")) is not None and not self.deleting:
                self.notes.append((self.flow.length, body))
        elif tag == "frame":
            self._read_frame(node)
        elif tag == "span":
            self._read_span(node)
        elif tag == "reference-mark-start":
            self.marks[name] = _OpenCitation(read_field(name), self.flow.length)
        elif tag == "bookmark-start" and name in self.bookmarks:
            self._open_bookmark(name, read_field(self.bookmarks[name]))
        elif tag in ("reference-mark-end", "bookmark-end") and name in self.marks:
            self._cite(self.marks.pop(name))
        elif tag == "fieldmark-start":
            self.fields.append(_OpenCitation(read_field(_field_code(node)), self.flow.length))
        elif tag == "fieldmark-end" and self.fields:
            self._cite(self.fields.pop())
        elif tag == "bibliography-mark":
            start = self.flow.length
            self._walk_inline(node.children)
            self._cite(_OpenCitation(WordField("citation", (_bibliography_item(node),)), start))
        else:
            self._walk_inline(node.children)

    def _read_span(self, node: Node) -> None:
        outer, start = self.format, self.flow.length
        self.format = {**outer, **self.formats.get(("text", node.get("style-name")), {})}
        if self.format.get("display") != "none":  # else it is hidden
            self._walk_inline(node.children)
        if _RAISED.match(self.format.get("text-position", "")) and self.flow.length > start:
            self.flow.raised.append((start, self.flow.length))
        self.format = outer

    def _open_bookmark(self, name: str, meaning: WordField) -> None:
        self.marks[name] = _OpenCitation(meaning, self.flow.length)
        if meaning.kind == "bibliography":
            self.contexts.append("reference")
            line = self.flow.paragraphs[-1]
            line.role = "reference" if line.start == self.flow.length else line.role

    def _read_frame(self, node: Node) -> None:
        if self.deleting:
            return
        if self._is_formula(node):
            self._add(EQUATION, node)
        self.boxes += [(self.flow.length, box) for box in node.find_all("text-box")]

    def _is_formula(self, frame: Node) -> bool:
        """Whether an embedded object is a formula."""
        for embedded in frame.find_all("object"):
            part = f"{embedded.get('href').removeprefix('./').rstrip('/')}/{CONTENT}"
            if part not in self.formula_objects:
                self.formula_objects[part] = _FORMULA.search(self.package.head(part)) is not None
            if embedded.find("math") is not None or self.formula_objects[part]:
                return True
        return False

    def _cite(self, open: _OpenCitation) -> None:
        if open.meaning.kind == "bibliography" and "reference" in self.contexts:
            self.contexts.remove("reference")
        if open.meaning.kind != "citation" or "reference" in self.contexts or self.deleting:
            return
        keys = [self.works.add(item) for item in open.meaning.items if item.is_known]
        line = self.flow.paragraphs[-1]
        start = max(open.start, line.start)
        self.flow.citations.append(FlowCitation(start, self.flow.length, tuple(dict.fromkeys(keys))))

    def _add_text(self, text: XmlText) -> None:
        """Append text; runs of white space are one space, as the format says."""
        if not text.exact:
            self._add(text.text, text)
            return
        start = 0
        for index, sign in enumerate(text.text):
            if sign in _WHITE and (self.spaced if index == 0 else text.text[index - 1] in _WHITE):
                words = text.text[start:index]
                self._add(words, XmlText(words, text.start + start, text.start + index))
                start = index + 1
        self._add(text.text[start:], XmlText(text.text[start:], text.start + start, text.end))

    def _add(self, text: str, place: XmlText | Node) -> None:
        if text and self.paragraph is not None and not self.deleting:
            self.flow.add(text, CONTENT, place, None, self.paragraph)
            self.spaced = text[-1] in _WHITE
            if text == EQUATION:
                self.formulas += 1
            else:
                letters = len(text.strip())
                self.letters += letters
                self.bold_letters += letters * (self.format.get("font-weight") in _BOLD)

    def finish(self) -> None:
        """Put citations in order, without those inside another."""
        ordered = sorted(self.flow.citations, key=lambda citation: (citation.start, -citation.end))
        self.flow.citations = []
        for citation in ordered:
            if not self.flow.citations or citation.start >= self.flow.citations[-1].end:
                self.flow.citations.append(citation)


def _context(node: Node) -> ParagraphRole | None:
    """What the paragraphs in an element are, whatever their style."""
    name = node.attributes.get("name", "")
    if node.tag == "bibliography" or (node.tag == "section" and read_field(name).kind == "bibliography"):
        return "reference"
    if node.tag == "section" and name == "JR_bib":  # of JabRef
        return "reference"
    if node.tag in _INDEXES:
        return "contents"
    if node.tag == "table":
        columns = max((sum(1 for _ in row.find_all("table-cell")) for row in node.descend("table-row")), default=0)
        return "table" if columns > 1 else None
    return "item" if node.tag == "list" else None


def _field_code(node: Node) -> str:
    """The instruction of a field that LibreOffice kept from a Word document."""
    parameters = {p.attributes.get("name", ""): p.attributes.get("value", "") for p in node.descend("param")}
    return next((value for name, value in parameters.items() if name.endswith("field.code") or "ADDIN" in value), "")


def _deletions(body: Node) -> set[str]:
    """The changes that mark deleted text where it stands; of others, it is beside the text, in the list of changes."""
    changes = body.find("tracked-changes")
    deletions = {
        change.get("id")
        for change in (changes.find_all("changed-region") if changes else ())
        if change.find("deletion") is not None
    }
    # One without an end would swallow all that follows.
    return {end.get("change-id") for end in body.descend("change-end")} & deletions if deletions else deletions


def _bibliography_item(mark: Node) -> CitedItem:
    """A work of LibreOffice's own bibliography, whose data are on the mark itself."""
    data = mark.attributes
    id = data.get("identifier", "")
    reference = Reference(
        id,
        title=data.get("title", ""),
        authors=parse_people(data.get("author", "")),
        year=year_of(data.get("year", "")),
        venue=data.get("journal", "") or data.get("booktitle", ""),
    )
    return CitedItem(f"libreoffice {id}", reference)


def _style_sheet(package: Package, content: Node | None) -> tuple[StyleSheet, Formats]:
    """The styles of paragraphs, and how the characters of each style are shown."""
    styles: dict[str, Style] = {}
    own_formats: dict[tuple[str, str], tuple[str, Mapping[str, str]]] = {}  # with the parent's name
    for root in (package.root("styles.xml"), content):
        for style in root.descend("style") if root else ():
            family, name, parent = style.get("family") or "paragraph", style.get("name"), style.get("parent-style-name")
            text = style.find("text-properties")
            own_format = {key: text.get(key) for key in _FORMATS if key in text.attributes} if text else {}
            own_formats[family, name] = parent, own_format
            if family == "paragraph":
                outline = attribute_number(style, "default-outline-level") or None
                styles[name] = Style(style.get("display-name") or name, parent, outline)
    return StyleSheet(styles), {key: _inherited_format(*key, own_formats) for key in own_formats}


def _inherited_format(
    family: str, name: str, own_formats: Mapping[tuple[str, str], tuple[str, Mapping[str, str]]]
) -> Mapping[str, str]:
    """The format of a style with what those above it say."""
    format: Mapping[str, str] = {}
    for _ in range(_MAX_CHAIN):
        name, own_format = own_formats.get((family, name), ("", {}))
        format = {**own_format, **format}
    return format


READER = OpenDocumentReader()
