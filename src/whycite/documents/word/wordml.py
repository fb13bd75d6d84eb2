"""WordprocessingML, the language of .docx files, as the text that a reader of the document sees.

Tracked changes count as accepted. Deleted and hidden text, comments, headers and footers are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from whycite.documents.word.flow import (
    EQUATION,
    LINE_BREAK,
    Flow,
    FlowCitation,
    FlowField,
    FlowParagraph,
    ParagraphRole,
    plain_symbols,
    symbol,
)
from whycite.documents.word.managers import (
    CitedItem,
    CitedWorks,
    WordField,
    bookmarked_codes,
    mendeley_citations,
    read_control,
    read_field,
    word_sources,
)
from whycite.documents.word.package import Package
from whycite.documents.word.parts import core_title, custom_properties, outline_level, read_notes, read_styles
from whycite.documents.xmltree import Node, XmlText, plain_text

__all__ = ["WordText", "read_word"]

_WRAPPERS = frozenset(
    "hyperlink ins moveTo smartTag customXml dir bdo sdtContent ruby rubyBase fldSimple Choice body txbxContent".split()
)
_DELETED = frozenset({"del", "moveFrom"})
_ELSEWHERE = {"altChunk": "another document is embedded", "subDoc": "another document is linked"}
_PICTURES = frozenset({"drawing", "pict", "object"})
_FALSE = frozenset({"0", "false", "off", "none"})
_WHITE = " \t\r\n"
_MAX_DEPTH = 60  # tables, controls and changes within one another
_MAX_OPEN_FIELDS = 200  # fields within one another, or never closed


@dataclass(slots=True)
class _OpenField:
    """A field whose end has not come yet."""

    code: list[str] = field(default_factory=list)
    data: str = ""
    chunks: list[str] = field(default_factory=list)  # of the data of EndNote, in fields inside its instruction
    meaning: WordField | None = None  # known once the instruction is complete
    start: int = 0  # of its result, in the text
    paragraph: FlowParagraph | None = None
    run: Node | None = None  # with its beginning


@dataclass(slots=True)
class _OpenMark:
    """A bookmark with a citation that has begun."""

    meaning: WordField
    start: int


@dataclass(frozen=True, slots=True)
class WordText:
    """A document as text: its paragraphs, the works it cites, and its title."""

    flow: Flow
    works: CitedWorks
    title: str = ""


def read_word(package: Package, main: str) -> WordText:
    """The text of a package whose main part has this name."""
    walker = _Walker(package, main)
    root = package.root(main)
    body = root.find("body") if root else None
    if body is not None:
        walker.note_unclosed_fields(body)
        walker.walk_blocks(body, main)
        walker.finish()
    title = core_title(package)
    return WordText(walker.flow, walker.works, title)


class _Walker:
    """The state of one walk: open fields, notes that are waiting, and what was read."""

    def __init__(self, package: Package, main: str) -> None:
        self.flow = Flow()
        self.works = CitedWorks()
        self._package = package
        self._depth = 0
        self._styles, self._raised_styles = read_styles(package, main)
        self._notes = {kind: read_notes(package, main, kind) for kind in ("footnote", "endnote")}
        self._bookmarks = bookmarked_codes(custom_properties(package))
        self._marks: dict[str, _OpenMark] = {}
        self._fields: list[_OpenField] = []
        self._unclosed: set[Node] = set()  # beginnings of fields that never end
        self._contexts: list[ParagraphRole] = []  # roles that surround a paragraph, innermost last
        self._paragraph: Node | None = None
        self._line: FlowParagraph | None = None
        self._joined: FlowParagraph | None = None  # a paragraph whose end was deleted: the next one continues it
        self._pending_notes: list[tuple[int, str, str]] = []
        self._pending_boxes: list[tuple[int, Node]] = []
        self._mark: int | None = None  # where the note or text box that is read stands
        self._part = main
        self._bold_letters = self._letters = 0
        for _, notes in self._notes.values():
            for note in notes.values():
                self.note_unclosed_fields(note)
        self._stored_citations: dict[str, list[CitedItem]] = {}
        for part in package.names():
            if part.startswith("customXml/item") and part.endswith(".xml"):
                root = package.root(part)
                for item in word_sources(root) if root and root.tag == "Sources" else ():
                    self.works.add(item)
            elif part.startswith("word/webextensions/webextension") and part.endswith(".xml"):
                root = package.root(part)
                self._stored_citations |= mendeley_citations(root) if root else {}

    def note_unclosed_fields(self, node: Node) -> None:
        """Tell the fields in an element that never end: all that follows would be taken for their instruction."""
        open_marks: list[Node] = []
        for mark in node.descend("fldChar", skip=_DELETED):
            kind = mark.attributes.get("fldCharType")
            if kind == "begin":
                open_marks.append(mark)
            elif kind == "end" and open_marks:
                open_marks.pop()
        if open_marks and not self._unclosed:
            self._warn("a field has no end; its text is read, but not what it cites")
        self._unclosed.update(open_marks)

    def _warn(self, problem: str) -> None:
        self._package.warnings.append(f"{self._package.path}: {problem}")

    # -- blocks ----------------------------------------------------------------

    def walk_blocks(self, node: Node, part: str) -> None:
        """Read the paragraphs and tables of an element."""
        outer, self._part = self._part, part
        if self._goes_deeper():
            for child in node.children:
                if isinstance(child, Node):
                    self._walk_block(child)
            self._depth -= 1
        self._part = outer

    def _goes_deeper(self) -> bool:
        """Count one level of nesting; False, with a warning, where no document would go on."""
        if self._depth >= _MAX_DEPTH:
            self._warn(f"nested deeper than {_MAX_DEPTH} levels; not read there")
            return False
        self._depth += 1
        return True

    def _walk_block(self, node: Node) -> None:
        if node.tag == "p":
            self._read_paragraph(node)
        elif node.tag == "tbl":
            self._read_table(node)
        elif node.tag == "sdt":
            self._read_block_control(node)
        elif node.tag == "AlternateContent":
            if (chosen := _alternative(node)) is not None:
                self.walk_blocks(chosen, self._part)
        elif node.tag in _ELSEWHERE:
            self._warn(f"{_ELSEWHERE[node.tag]} in it, which is not read; open it in Word and save it again")
        elif node.tag in _WRAPPERS:
            self.walk_blocks(node, self._part)

    def _read_block_control(self, node: Node) -> None:
        content = node.find("sdtContent")
        if content is None:
            return
        meaning = read_control(_control_tag(node), self._stored_citations)
        gallery = node.find("sdtPr", "docPartObj", "docPartGallery")
        context: ParagraphRole | None = "reference" if meaning.kind == "bibliography" else None
        if gallery is not None and gallery.attributes.get("val", "").startswith("Table of Contents"):
            context = "contents"
        start, count = self.flow.length, len(self.flow.paragraphs)
        self._in_context(context, lambda: self.walk_blocks(content, self._part))
        if meaning.kind == "citation" and len(self.flow.paragraphs) > count:  # a whole paragraph that is a citation
            self._cite(meaning, start, self.flow.paragraphs[count].end)

    def _in_context(self, context: ParagraphRole | None, work: Callable[[], None]) -> None:
        if context:
            self._contexts.append(context)
        work()
        if context:
            self._contexts.pop()

    def _read_table(self, node: Node) -> None:
        rows = [row for row in node.descend("tr", skip={"tr", "tbl"}) if row.find("trPr", "del") is None]
        cells = [list(row.descend("tc", skip={"tc"})) for row in rows]
        # A table with one column is a frame around text.
        context: ParagraphRole | None = "table" if any(len(row) > 1 for row in cells) else None
        for row in cells:
            for cell in row:
                if cell.find("tcPr", "cellDel") is None:
                    self._in_context(context, lambda cell=cell: self.walk_blocks(cell, self._part))  # type: ignore[misc]

    def _read_paragraph(self, node: Node) -> None:
        if self.flow.is_full:
            return
        properties = node.find("pPr")
        line = self._joined or self._new_line(properties)
        outer = self._paragraph, self._line, self._letters, self._bold_letters
        self._paragraph, self._line = node, line
        if self._joined is None:
            self._letters = self._bold_letters = 0
        self._joined = None
        self._walk_inline(node.children)
        line.end = self.flow.length
        line.bold = 0 < self._letters == self._bold_letters
        if _is_display(node, self.flow, line):
            line.role = "formula"
        if properties is not None and properties.find("rPr", "del") is not None and not self._pending_notes:
            self._joined = line  # the end of the paragraph was deleted
        else:
            self.flow.end_line()
            self._read_notes(line)
        self._paragraph, self._line, self._letters, self._bold_letters = outer
        boxes, self._pending_boxes = self._pending_boxes, []
        for offset, box in boxes:
            self._walk_aside(box, self._part, offset)

    def _new_line(self, properties: Node | None) -> FlowParagraph:
        role, level, numbered = self._role(properties)
        contexts = [*self._contexts, *(_CONTEXTS.get(open.meaning.kind) for open in self._fields if open.meaning)]
        if context := next((context for context in reversed(contexts) if context), None):
            role = context if role != "caption" or context != "table" else role
        line = FlowParagraph(self.flow.length, self.flow.length, role, level, numbered, mark=self._mark)
        self.flow.paragraphs.append(line)
        return line

    def _role(self, properties: Node | None) -> tuple[ParagraphRole, int, bool]:
        style, paragraph_format = properties.find("pStyle") if properties else None, properties
        id = style.attributes.get("val", "") if style is not None else ""
        role, level = self._styles.role(id)
        outline = paragraph_format.find("outlineLvl") if paragraph_format else None
        if outline is not None and role == "body" and (number := outline_level(outline)):
            role, level = "heading", number
        numbering = paragraph_format.find("numPr", "numId") if paragraph_format else None
        numbered = numbering.attributes.get("val") != "0" if numbering is not None else self._styles.is_numbered(id)
        if numbered and role == "body":
            role = "item"
        return role, level, numbered

    def _read_notes(self, line: FlowParagraph) -> None:
        """Read the notes that a paragraph marks, after its line."""
        notes, self._pending_notes = self._pending_notes, []
        for offset, kind, id in notes:
            part, by_id = self._notes[kind]
            note = by_id.pop(id, None)
            if note is None:
                continue
            count = len(self.flow.paragraphs)
            self._contexts.append("note")
            self._walk_aside(note, part, offset)
            self._contexts.pop()
            line.notes.append((offset, self.flow.paragraphs[count:]))

    def _walk_aside(self, node: Node, part: str, offset: int) -> None:
        """Read a note or a text box that stands at an offset of the text."""
        outer, self._mark = self._mark, offset if self._mark is None else self._mark
        self.walk_blocks(node, part)
        self._mark = outer

    # -- text ------------------------------------------------------------------

    def _walk_inline(self, children: Iterable[Node | XmlText]) -> None:
        if not self._goes_deeper():
            return
        for child in children:
            if isinstance(child, XmlText):
                continue
            tag = child.tag
            if tag == "r":
                self._read_run(child)
            elif tag == "sdt":
                self._read_control(child)
            elif tag in ("oMath", "oMathPara"):
                self._add(EQUATION, child, None)
            elif tag == "fldSimple":
                self._begin_field()
                self._fields[-1].code.append(child.attributes.get("instr", ""))
                self._separate_field()
                self._walk_inline(child.children)
                self._end_field()
            elif tag == "bookmarkStart":
                self._open_bookmark(child)
            elif tag == "bookmarkEnd":
                self._close_bookmark(child.attributes.get("id", ""))
            elif tag == "AlternateContent":
                if (chosen := _alternative(child)) is not None:
                    self._walk_inline(chosen.children)
            elif tag in _WRAPPERS:
                self._walk_inline(child.children)
        self._depth -= 1

    def _read_control(self, node: Node) -> None:
        meaning = read_control(_control_tag(node), self._stored_citations)
        start = self.flow.length
        content = node.find("sdtContent")
        if content is not None and node.find("sdtPr", "showingPlcHdr") is None:
            self._walk_inline(content.children)
        if meaning.kind == "citation":
            self._cite(meaning, start, self.flow.length)
        self.flow.fields.append(FlowField(start, self.flow.length, self._part, node.start, node.end))

    def _read_run(self, run: Node) -> None:
        properties = run.find("rPr")
        hidden = _is_set(properties, "vanish")
        start = self.flow.length
        for child in run.children:
            if isinstance(child, XmlText):
                continue
            tag = child.tag
            if tag == "fldChar":
                self._change_field(child, run)
            elif tag == "instrText":
                if self._fields:
                    self._fields[-1].code.append("".join(text.text for text in _texts(child)))
            elif hidden or self._in_code():
                continue
            elif tag == "t":
                self._add_text(child, run)
            elif tag in ("footnoteReference", "endnoteReference"):
                self._pending_notes.append((self.flow.length, tag[: -len("Reference")], child.attributes.get("id", "")))
            elif tag in _PICTURES:
                self._read_picture(child, run)
            elif tag == "AlternateContent":
                chosen = _alternative(child)
                for picture in chosen.descend(*_PICTURES, skip=_PICTURES) if chosen else ():
                    self._read_picture(picture, run)
            elif tag in _SIGNS:
                self._add(_SIGNS[tag], child, run)
            elif tag == "sym":
                self._add(symbol(child.attributes.get("char", "")), child, run)
            elif tag == "ruby":
                self._walk_inline(child.children)
        if self.flow.length > start and self._is_raised(properties):
            self.flow.raised.append((start, self.flow.length))
        self._letters += self.flow.length - start
        self._bold_letters += (self.flow.length - start) * _is_set(properties, "b")

    def _is_raised(self, properties: Node | None) -> bool:
        if properties is None:
            return False
        raised, style = properties.find("vertAlign"), properties.find("rStyle")
        if raised is not None:
            return raised.get("val") == "superscript"
        return style is not None and style.get("val") in self._raised_styles

    def _add_text(self, node: Node, run: Node) -> None:
        texts = _texts(node)
        if node.attributes.get("space") != "preserve" and texts:
            texts = _stripped(texts)
        for text in texts:
            words = plain_symbols(text.text)
            self._add(words, text, run)

    def _add(self, text: str, place: XmlText | Node, run: Node | None) -> None:
        if self._paragraph is not None and not self._in_code():
            self.flow.add(text, self._part, place, run, self._paragraph)

    def _read_picture(self, node: Node, run: Node) -> None:
        boxes = list(node.descend("txbxContent", skip={"txbxContent", "Fallback"}))
        self._pending_boxes += [(self.flow.length, box) for box in boxes]
        embedded = next(node.descend("OLEObject"), None)
        if embedded is not None and "equation" in embedded.attributes.get("ProgID", "").lower():
            self._add(EQUATION, node, run)

    # -- fields ----------------------------------------------------------------

    def _in_code(self) -> bool:
        """Whether we are in the instruction of a field, which is not shown."""
        return any(open.meaning is None for open in self._fields)

    def _change_field(self, mark: Node, run: Node) -> None:
        kind = mark.attributes.get("fldCharType")
        if mark in self._unclosed:
            return
        if kind == "begin":
            self._begin_field()
            self._fields[-1].data, self._fields[-1].run = plain_text(mark.find("fldData")), run
        elif kind == "separate":
            self._separate_field()
        elif kind == "end":
            self._end_field(run)

    def _begin_field(self) -> None:
        if len(self._fields) >= _MAX_OPEN_FIELDS:
            self._fields.clear()
        self._fields.append(_OpenField())

    def _separate_field(self) -> None:
        if self._fields and self._fields[-1].meaning is None:
            open = self._fields[-1]
            open.meaning = read_field("".join(open.code), open.chunks or [open.data])
            open.start, open.paragraph = self.flow.length, self._line
            if open.meaning.kind in _CONTEXTS and self._line and self._line.start == self.flow.length:
                self._line.role = _CONTEXTS[open.meaning.kind]

    def _end_field(self, run: Node | None = None) -> None:
        if not self._fields:
            return
        open = self._fields.pop()
        if open.run and run and open.paragraph is self._line and not _has_text(open.run) and not _has_text(run):
            self.flow.fields.append(FlowField(open.start, self.flow.length, self._part, open.run.start, run.end))
        if open.meaning is None:
            # EndNote repeats the data of a citation in a field inside its instruction. Much data stands in several such
            # fields, of which only the last is repeated.
            if self._fields and open.data and "EN.CITE.DATA" in "".join(open.code):
                self._fields[-1].chunks.append(open.data)
            return
        end = self.flow.length
        if open.paragraph is not None and open.paragraph is not self._line:
            end = open.paragraph.end
        if open.meaning.kind == "citation":
            self._cite(open.meaning, open.start, end)

    def _open_bookmark(self, node: Node) -> None:
        if code := self._bookmarks.get(node.attributes.get("name", "")):
            meaning = read_field(code)
            self._marks[node.attributes.get("id", "")] = _OpenMark(meaning, self.flow.length)
            if meaning.kind == "bibliography":
                self._contexts.append("reference")
                if self._line is not None and self._line.start == self.flow.length:
                    self._line.role = "reference"

    def _close_bookmark(self, id: str) -> None:
        mark = self._marks.pop(id, None)
        if mark is not None and mark.meaning.kind == "citation":
            self._cite(mark.meaning, mark.start, self.flow.length)
        elif mark is not None and "reference" in self._contexts:
            self._contexts.remove("reference")

    def _cite(self, meaning: WordField, start: int, end: int) -> None:
        if self._in_code() or self._role_is_list():
            return
        known_items = [item for item in meaning.items if item.is_known]
        keys = [*map(self.works.add, known_items), *map(self.works.key_of, meaning.identities)]
        self.flow.citations.append(FlowCitation(start, max(start, end), tuple(dict.fromkeys(filter(None, keys)))))

    def _role_is_list(self) -> bool:
        return self._line is not None and self._line.role == "reference"

    def finish(self) -> None:
        """End a line that waits for a continuation, and put citations in order without those inside another."""
        if self._joined is not None:
            self.flow.end_line()
            self._read_notes(self._joined)
        ordered = sorted(self.flow.citations, key=lambda citation: (citation.start, -citation.end))
        self.flow.citations = []
        for citation in ordered:
            previous = self.flow.citations[-1] if self.flow.citations else None
            if previous is None or citation.start >= previous.end:
                self.flow.citations.append(citation)
            elif citation.keys and not previous.keys:  # a content control around a field that says more
                previous.keys = citation.keys


_CONTEXTS: Mapping[str, ParagraphRole] = {"bibliography": "reference", "contents": "contents"}
_SIGNS = {"tab": "\t", "ptab": "\t", "br": LINE_BREAK, "cr": LINE_BREAK, "noBreakHyphen": "-"}


def _texts(node: Node) -> list[XmlText]:
    return [child for child in node.children if isinstance(child, XmlText)]


def _has_text(run: Node) -> bool:
    return run.find("t") is not None


def _stripped(texts: list[XmlText]) -> list[XmlText]:
    """The pieces of a text without the white space around it, which Word does not show unless it is told to."""
    first, last = texts[0], texts[-1]
    if first.exact:
        text = first.text.lstrip(_WHITE)
        first = XmlText(text, first.end - len(text), first.end)
    texts = [first, *texts[1:]]
    last = texts[-1]
    if last.exact:
        text = last.text.rstrip(_WHITE)
        texts[-1] = XmlText(text, last.start, last.start + len(text))
    return texts


def _is_set(properties: Node | None, name: str) -> bool:
    """Whether run properties switch something on."""
    node = properties.find(name) if properties is not None else None
    return node is not None and node.attributes.get("val", "1") not in _FALSE


def _alternative(node: Node) -> Node | None:
    """The content that a reader of today's format shows."""
    return node.find("Choice") or node.find("Fallback")


def _control_tag(node: Node) -> str:
    tag = node.find("sdtPr", "tag")
    return tag.attributes.get("val", "") if tag is not None else ""


def _is_display(node: Node, flow: Flow, line: FlowParagraph) -> bool:
    """Whether a paragraph is a displayed formula and nothing else but its number."""
    formulas = words = 0
    for piece in islice(reversed(flow.pieces), _MAX_FORMULA_PIECES):
        if piece.start < line.start:
            return formulas > 0
        if piece.run is None:
            formulas += 1
        else:
            words += piece.end - piece.start
        if words > _MAX_FORMULA_NUMBER:
            return False
    return formulas > 0 and len(flow.pieces) <= _MAX_FORMULA_PIECES


_MAX_FORMULA_NUMBER = 8  # characters: tabs and "(12)"
_MAX_FORMULA_PIECES = 50  # of text in the paragraph of a displayed formula, and its number
