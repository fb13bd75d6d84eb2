"""Writes into a Word document: comments anchored at text, and tracked insertions; nothing else changes.

Parts are edited as text, so that every byte outside the places that are written to stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import dropwhile
from xml.parsers import expat
from xml.sax.saxutils import escape

from whycite.documents.word import read_package
from whycite.documents.word.flow import Flow, FlowParagraph, TextPiece
from whycite.documents.word.package import Package, rewrite_package
from whycite.documents.xmltree import Node, plain_text
from whycite.errors import UserError

__all__ = [
    "AUTHOR",
    "INITIALS",
    "TextInsertion",
    "WordComment",
    "WordEditor",
    "elements_around",
    "is_well_formed",
    "pieces_at",
    "valid_text",
]

AUTHOR = "whycite"
INITIALS = "wc"
# The names of Word's own elements, and how the types of relations begin; the second are those of "Strict Open XML".
_MAIN_SPACES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "http://purl.oclc.org/ooxml/officeDocument/relationships",
}
_PREFIX = re.compile(r"""\sxmlns:([\w.-]+)\s*=\s*["']([^"']*)["']""")
_ROOT = re.compile(r"<[^?!][^>]*>")
_WHITE = " \t\r\n"
_RUN_TAGS = frozenset({"r", "t"})
_MARK_CHANGES = ("ins", "del", "moveFrom", "moveTo")  # of the end of a paragraph, in its run properties
_NUMBERED = (
    *_MARK_CHANGES, "moveFromRangeStart", "moveToRangeStart", "rPrChange", "pPrChange", "sectPrChange", "tblPrChange",
    "tblGridChange", "trPrChange", "tcPrChange", "numberingChange", "cellIns", "cellDel", "cellMerge", "bookmarkStart",
)  # fmt: skip
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_CONTENT_TYPES = "[Content_Types].xml"


@dataclass(frozen=True, slots=True)
class WordComment:
    """A comment on a stretch of the text; each of its lines is a paragraph."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TextInsertion:
    """Text to insert at an offset, as a change that the author accepts; with a code, it is a live field of Zotero."""

    offset: int
    text: str
    code: str = ""
    lead: str = ""  # text before the field
    raised: bool = False  # as superscript


@dataclass(slots=True)
class _Cut:
    """What to write at one place of a part: before it, runs that are open are closed, and opened again behind it."""

    closing: str = ""
    opening: str = ""
    ends: list[str] = field(default_factory=list)
    inserted: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join([self.closing, *self.inserted, *self.ends, *self.starts, self.opening])


@dataclass(slots=True)
class _PartEdit:
    """The edits of a part: its text, what goes in where, and what is replaced."""

    text: str
    cuts: dict[int, _Cut] = field(default_factory=dict)
    replaced: dict[tuple[int, int], str] = field(default_factory=dict)

    def result(self) -> str:
        edits = [(start, 1, end, text) for (start, end), text in self.replaced.items()]
        edits += [(offset, 0, offset, cut.text) for offset, cut in self.cuts.items()]
        pieces, position = [], 0
        for start, _, end, text in sorted(edits):
            pieces += [self.text[position:start], text]
            position = end
        return "".join([*pieces, self.text[position:]])


class WordEditor:
    """Collects what to write into a document, and writes it at once."""

    def __init__(self, data: bytes, path: str, date: datetime) -> None:
        self._data, self._path = data, path
        self._package = Package(data, path)
        word = read_package(self._package)
        self.flow, self.works = word.flow, word.works
        if self._package.warnings:
            raise UserError(f"{path}: damaged, so nothing is written into it; open it in Word and save it again")
        self.text = self.flow.text
        self._main = self._package.main_part()
        self._root = self._package.root(self._main) or Node("", {}, 0)
        self._date = f"{date:%Y-%m-%dT%H:%M:%SZ}"
        self._edits: dict[str, _PartEdit] = {}
        self._comments: list[str] = []
        self._w = _prefix(self._source(self._main), path)
        self._comment_parts = self._package.related(self._main, "comments")
        stored = self._package.root(self._comment_parts[0]) if self._comment_parts else None
        self._stored = list(stored.find_all("comment")) if stored else []
        self._next_comment = 1 + max((_number(comment) for comment in self._stored), default=-1)
        self._next_change = 1 + max(map(_number, self._changes()), default=0)
        self._own_comments = self._find_own_comments()

    def _changes(self) -> Iterator[Node]:
        """What has a number that no other change may have, in the text and in its notes."""
        parts = [part for kind in ("footnotes", "endnotes") for part in self._package.related(self._main, kind)]
        for root in (self._root, *map(self._package.root, parts)):
            yield from root.descend(*_NUMBERED) if root else ()

    def _find_own_comments(self) -> list[tuple[str, int]]:
        """The comments of an earlier run: the letters, and where each begins."""
        letters_by_id = {
            comment.attributes.get("id"): "".join(plain_text(comment).split())
            for comment in self._stored
            if comment.attributes.get("author") == AUTHOR
        }
        starts = self._root.descend("commentRangeStart") if letters_by_id else ()
        return [
            (letters_by_id[id], start.start) for start in starts if (id := start.attributes.get("id")) in letters_by_id
        ]

    def _is_known(self, comment: WordComment, paragraph: Node) -> bool:
        letters = "".join(comment.text.split())
        return any(
            letters == own_letters and paragraph.start <= start < paragraph.end
            for own_letters, start in self._own_comments
        )

    # -- what to write -----------------------------------------------------------

    def add_comment(self, comment: WordComment) -> bool:
        """Comment a stretch of the text; False if it has no place, or has this comment already."""
        start, end = self.flow.commented_stretch(comment.start, comment.end)
        first, last = pieces_at(self.flow, start, end)
        if first is None or last is None or self._is_known(comment, first.paragraph):
            return False
        number, w = self._next_comment, self._w
        self._next_comment += 1
        self._cut(first, max(start, first.start)).starts.append(f'<{w}:commentRangeStart {w}:id="{number}"/>')
        self._cut(last, min(end, last.end)).ends.append(
            f'<{w}:commentRangeEnd {w}:id="{number}"/><{w}:r><{w}:commentReference {w}:id="{number}"/></{w}:r>'
        )
        lines = "".join(f"<{w}:p>{self._run(line)}</{w}:p>" for line in comment.text.split("\n"))
        self._comments.append(
            f'<{w}:comment {w}:id="{number}" {w}:author="{AUTHOR}" {w}:date="{self._date}" '
            f'{w}:initials="{INITIALS}">{lines}</{w}:comment>'
        )
        return True

    def insert(self, insertion: TextInsertion) -> bool:
        """Insert text as a tracked change, formatted like the text before it; False if it has no place."""
        _, piece = pieces_at(self.flow, 0, insertion.offset)
        if piece is None or self.flow.line_at(insertion.offset).mark is not None:
            return False
        formatting = self._formatting(piece)
        if insertion.raised:
            formatting = f'<{self._w}:rPr><{self._w}:vertAlign {self._w}:val="superscript"/></{self._w}:rPr>'
        if insertion.code:
            lead = self._run(insertion.lead, formatting) if insertion.lead else ""
            runs = lead + self._field(f" ADDIN {insertion.code} ", insertion.text, formatting)
        else:
            runs = self._run(insertion.lead + insertion.text, formatting)
        self._cut(piece, insertion.offset, tracked=True).inserted.append(self._change("ins", runs))
        return True

    def is_pending(self, offset: int) -> bool:
        """Never, since Word's changes stand side by side."""
        return False

    def append_paragraphs(self, after: FlowParagraph, texts: Sequence[str]) -> bool:
        """Insert paragraphs after another one, formatted like it, as tracked changes; False if there is no place."""
        _, piece = pieces_at(self.flow, after.start, after.end)
        if piece is None or not texts:
            return False
        edit, w = self._edit(piece.part), self._w
        node, formatting = piece.paragraph, self._formatting(piece)
        properties = node.find("pPr")
        inner = self._paragraph_style(edit.text, properties)
        # What ends a paragraph that was inserted behind another is the other's mark, as if Enter was pressed there;
        # if somebody inserted or deleted that mark, it is still theirs.
        changes = [edit.text[change.start : change.end] for change in _mark_changes(properties)]
        marks = [f"<{w}:rPr>{self._change('ins', '')}</{w}:rPr>" for _ in texts[1:]]
        marks.append(f"<{w}:rPr>{''.join(changes)}</{w}:rPr>" if changes else "")
        added = "".join(
            f"<{w}:p><{w}:pPr>{inner}{mark}</{w}:pPr>{self._change('ins', self._run(text, formatting))}</{w}:p>"
            for text, mark in zip(texts, marks, strict=True)
        )
        edit.cuts.setdefault(node.end, _Cut()).inserted.append(added)
        self._mark_end(edit, node, properties)
        return True

    def _paragraph_style(self, source: str, properties: Node | None) -> str:
        """What formats a paragraph, without its mark, a section that it ends, and changes of its formatting."""
        elements = [
            source[child.start : child.end]
            for child in (properties.children if properties is not None else ())
            if isinstance(child, Node) and child.tag not in ("rPr", "sectPr", "pPrChange")
        ]
        return "".join(elements)

    def _mark_end(self, edit: _PartEdit, node: Node, properties: Node | None) -> None:
        """Mark the end of a paragraph as inserted."""
        w, source, mark = self._w, edit.text, self._change("ins", "")
        edit.replaced |= {(change.start, change.end): "" for change in _mark_changes(properties)}
        run = properties.find("rPr") if properties is not None else None
        if run is not None and not _start_tag(source, run).endswith("/>"):
            edit.cuts.setdefault(_tag_end(source, run), _Cut()).inserted.append(mark)
            return
        whole = f"<{w}:rPr>{mark}</{w}:rPr>"
        if properties is None:
            edit.cuts.setdefault(_tag_end(source, node), _Cut()).inserted.append(f"<{w}:pPr>{whole}</{w}:pPr>")
        elif run is not None:
            edit.replaced[run.start, run.end] = whole
        elif _start_tag(source, properties).endswith("/>"):
            edit.replaced[properties.start, properties.end] = f"<{w}:pPr>{whole}</{w}:pPr>"
        else:
            trailing = [c for c in properties.children if isinstance(c, Node) and c.tag in ("sectPr", "pPrChange")]
            place = trailing[0].start if trailing else source.rindex("</", properties.start, properties.end)
            edit.cuts.setdefault(place, _Cut()).inserted.append(whole)

    def result(self) -> bytes:
        """The package with everything written."""
        parts = {name: edit.result() for name, edit in self._edits.items()}
        if self._comments:
            parts |= self._comment_part()
        for name, text in parts.items():
            if not is_well_formed(text):
                raise UserError(f"{self._path}: {name} cannot be changed safely, so nothing is written into the file")
        return rewrite_package(self._data, {name: text.encode("utf-8") for name, text in parts.items()})

    # -- XML ---------------------------------------------------------------------

    def _run(self, text: str, formatting: str = "") -> str:
        w = self._w
        return f'<{w}:r>{formatting}<{w}:t xml:space="preserve">{escape(valid_text(text))}</{w}:t></{w}:r>'

    def _field(self, instruction: str, shown: str, formatting: str) -> str:
        w = self._w

        def mark(kind: str) -> str:
            return f'<{w}:r>{formatting}<{w}:fldChar {w}:fldCharType="{kind}"/></{w}:r>'

        code = f'<{w}:instrText xml:space="preserve">{escape(valid_text(instruction))}</{w}:instrText>'
        return (
            mark("begin")
            + f"<{w}:r>{formatting}{code}</{w}:r>"
            + mark("separate")
            + self._run(shown, formatting)
            + mark("end")
        )

    def _change(self, kind: str, content: str) -> str:
        w, number = self._w, self._next_change
        self._next_change += 1
        tag = f'{w}:{kind} {w}:id="{number}" {w}:author="{AUTHOR}" {w}:date="{self._date}"'
        return f"<{tag}>{content}</{w}:{kind}>" if content else f"<{tag}/>"

    def _comment_part(self) -> dict[str, str]:
        """The part with the comments; if there was none, also what tells Word about it."""
        new = "".join(self._comments)
        if self._comment_parts:
            name = self._comment_parts[0]
            text = self._source(name)
            if _prefix(text, self._path) != self._w:
                raise UserError(f"{self._path}: {name} has unusual names; open it in Word and save it again")
            return {name: _inside_root(text, new)}
        folder = self._main.rpartition("/")[0]
        name = f"{folder}/comments.xml".lstrip("/")
        relations = f"{folder}/_rels/{self._main.rpartition('/')[2]}.rels".lstrip("/")
        space = next(space for prefix, space in _spaces(self._source(self._main)) if prefix == self._w)
        root = f'<{self._w}:comments xmlns:{self._w}="{space}">{new}</{self._w}:comments>'
        type = f"{_MAIN_SPACES[space]}/comments"
        relation = f'<Relationship Id="whyciteComments" Type="{type}" Target="comments.xml"/>'
        override = f'<Override PartName="/{name}" ContentType="{_COMMENTS_TYPE}"/>'
        return {
            name: f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{root}',
            relations: _inside_root(self._source(relations), relation),
            _CONTENT_TYPES: _inside_root(self._source(_CONTENT_TYPES), override),
        }

    def _source(self, name: str) -> str:
        if name not in self._package:
            raise UserError(f"{self._path}: {name} is missing; open it in Word and save it again")
        data = self._package.data(name)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{self._path}: {name} is not in UTF-8; open it in Word and save it again") from error

    def _edit(self, part: str) -> _PartEdit:
        if part not in self._edits:
            self._edits[part] = _PartEdit(self._source(part))
        return self._edits[part]

    # -- places ------------------------------------------------------------------

    def _cut(self, piece: TextPiece, offset: int, *, tracked: bool = False) -> _Cut:
        """The cut at an offset in a piece or at its edge; fields and formulas are not cut, but passed by."""
        edit = self._edit(piece.part)
        enclosing = [
            open
            for open in self.flow.fields
            if open.part == piece.part and open.start <= piece.start and piece.end <= open.end
        ]
        if enclosing:
            outermost = min(enclosing, key=lambda open: open.xml_start)
            outside = outermost.xml_start if offset <= outermost.start else outermost.xml_end
            return self._cut_around(edit, piece, outside, tracked)
        if piece.run is None:
            outside = piece.xml_start if offset <= piece.start else piece.xml_end
            return self._cut_around(edit, piece, outside, tracked)
        return self._cut_run(edit, piece, piece.run, offset, tracked)

    def _cut_run(self, edit: _PartEdit, piece: TextPiece, run: Node, offset: int, tracked: bool) -> _Cut:
        source = edit.text
        shown = [child for child in run.children if isinstance(child, Node) and child.tag != "rPr"]
        holder = next(child for child in shown if child.start <= piece.xml_start and piece.xml_end <= child.end)
        at_start, at_end = offset <= piece.start, offset >= piece.end
        place = piece.xml_start + (offset - piece.start if piece.exact else 0)
        if at_end:
            place = piece.xml_end
        if holder.tag == "t":
            head = source[_tag_end(source, holder) : place]
            tail = source[place : source.rindex("</", place, holder.end)]
            hidden = "" if holder.attributes.get("space") == "preserve" else _WHITE
            at_start, at_end = not head.strip(hidden) and at_start, not tail.strip(hidden) and at_end
        if at_start and holder is shown[0]:
            return self._cut_around(edit, piece, run.start, tracked)
        if at_end and holder is shown[-1]:
            return self._cut_around(edit, piece, run.end, tracked)
        closing, opening = f"</{self._w}:r>", _start_tag(source, run) + self._formatting(piece)
        if holder.tag != "t" or at_start or at_end:
            place = holder.start if at_start else holder.end
        else:
            self._keep_space(edit, holder)
            closing, opening = f"</{self._w}:t>{closing}", f'{opening}<{self._w}:t xml:space="preserve">'
        return self._add_cut(edit, piece, place, closing, opening, tracked)

    def _cut_around(self, edit: _PartEdit, piece: TextPiece, place: int, tracked: bool) -> _Cut:
        return self._add_cut(edit, piece, place, "", "", tracked)

    def _add_cut(
        self, edit: _PartEdit, piece: TextPiece, place: int, closing: str, opening: str, tracked: bool
    ) -> _Cut:
        """The cut at a place; a change of somebody else's is ended before a new one, and goes on behind it."""
        if place not in edit.cuts:
            edit.cuts[place] = _Cut(closing, opening)
        cut = edit.cuts[place]
        if tracked and f"</{self._w}:ins>" not in cut.closing:
            enclosing = [node for node in elements_around(piece.paragraph, place) if node.tag not in _RUN_TAGS]
            reopened = list(dropwhile(lambda node: node.tag != "ins", enclosing))
            for node in reversed(reopened):  # what stands between the change and the run ends and goes on with it
                start_tag = _start_tag(edit.text, node)
                cut.closing += f"</{start_tag[1:-1].split()[0]}>"
                cut.opening = self._renumbered(start_tag, node) + cut.opening
        return cut

    def _renumbered(self, start_tag: str, node: Node) -> str:
        """The start tag of a change that goes on, with a number of its own."""
        if node.tag not in _MARK_CHANGES:
            return start_tag
        self._next_change += 1
        return re.sub(rf'({self._w}:id=)(["\']).*?\2', rf"\g<1>\g<2>{self._next_change - 1}\g<2>", start_tag, count=1)

    def _keep_space(self, edit: _PartEdit, node: Node) -> None:
        """Make white space in a text that is divided count; what did not count before is removed."""
        if node.attributes.get("space") == "preserve":
            return
        source, start = edit.text, _tag_end(edit.text, node)
        end = source.rindex("</", node.start, node.end)
        inner = source[start:end]
        lead = len(inner) - len(inner.lstrip(_WHITE))
        tail = len(inner) - len(inner.rstrip(_WHITE))
        edit.replaced[node.start, start + lead] = f'{source[node.start : start - 1]} xml:space="preserve">'
        if tail:
            edit.replaced[end - tail, end] = ""

    def _formatting(self, piece: TextPiece) -> str:
        """The run properties of a piece, without what a change or a note sets."""
        properties = piece.run.find("rPr") if piece.run is not None else None
        return self._edit(piece.part).text[properties.start : properties.end] if properties is not None else ""


def pieces_at(flow: Flow, start: int, end: int) -> tuple[TextPiece | None, TextPiece | None]:
    """The first and the last piece in a stretch of the text."""
    index = max(0, bisect_right(flow.piece_starts, start) - 1)
    near = flow.pieces[index : index + 3]
    first = next((piece for piece in near if piece.end > start and piece.start < max(end, start + 1)), None)
    index = bisect_right(flow.piece_starts, end - 1) - 1
    last = flow.pieces[index] if index >= 0 else None
    return first, last if last is not None and last.end > start and last.end >= end else None


def is_well_formed(text: str) -> bool:
    parser = expat.ParserCreate("utf-8")
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError:
        return False
    return True


def _tag_end(source: str, node: Node) -> int:
    """Where the start tag of an element ends."""
    return source.index(">", node.start) + 1


def _start_tag(source: str, node: Node) -> str:
    return source[node.start : _tag_end(source, node)]


def elements_around(root: Node, place: int) -> list[Node]:
    """The elements in another one around a place, outermost first."""
    path: list[Node] = []
    node: Node | None = root
    while node is not None:
        node = next(
            (child for child in node.children if isinstance(child, Node) and child.start < place < child.end), None
        )
        if node is not None:
            path.append(node)
    return path


def _mark_changes(properties: Node | None) -> list[Node]:
    """The tracked changes of the end of a paragraph."""
    run = properties.find("rPr") if properties is not None else None
    return [child for child in run.children if isinstance(child, Node) and child.tag in _MARK_CHANGES] if run else []


def _number(node: Node) -> int:
    value = node.attributes.get("id", "")
    return int(value) if value.isdecimal() and len(value) < 10 else 0


def _spaces(text: str) -> Iterable[Sequence[str]]:
    root = _ROOT.search(text)
    return _PREFIX.findall(root[0]) if root else ()


def _prefix(text: str, path: str) -> str:
    """The prefix that a part uses for Word's own elements."""
    prefix = next((prefix for prefix, space in _spaces(text) if space in _MAIN_SPACES), "")
    if not prefix:
        raise UserError(f"{path}: has unusual names, so nothing is written into it; open it in Word and save it again")
    return prefix


def _inside_root(text: str, content: str) -> str:
    """A part with content before the end of its root element."""
    end = text.rstrip().rfind("</")
    root = _ROOT.search(text)
    if end < 0 and root and root[0].endswith("/>"):  # an empty root
        name = re.match(r"<([\w:.-]+)", root[0])
        assert name is not None
        return f"{text[: root.end() - 2]}>{content}</{name[1]}>{text[root.end() :]}"
    return text[:end] + content + text[end:]


_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def valid_text(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _INVALID.sub(" ", text)
