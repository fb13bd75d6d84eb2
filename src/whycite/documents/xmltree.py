"""XML as a tree in which every piece of text knows its place in the file; broken files are read as far as possible.

Built on expat for its source offsets. Declarations are blanked out before parsing, so no entities are expanded and no
external files are fetched, whatever the file says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from html.entities import html5
from xml.parsers import expat

from whycite.documents.sources import Source, decode
from whycite.errors import UserError

__all__ = ["Node", "Tree", "Walk", "XmlText", "load_tree", "parse_tree", "plain_text", "texts", "without_declarations"]


# Limits far above real papers.
MAX_BYTES = 32 << 20
MAX_DEPTH = 500  # nested elements
MAX_NODES = 500_000  # elements and pieces of text
_MAX_NAMES = 10  # unknown entities that a warning lists
_AMPERSAND, _RETURN = ord("&"), ord("\r")


_DECLARED_ENCODING = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s{0,9}<\?xml[^>]{0,99}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})"""
)


@dataclass(slots=True)
class XmlText:
    """A run of characters; if `exact`, they match the file one for one, else they stand for the range as a whole."""

    text: str
    start: int
    end: int
    exact: bool = True


@dataclass(slots=True, eq=False)
class Node:
    """An element; names have no namespace prefix, and the range includes the tags."""

    tag: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    children: list[Node | XmlText] = field(default_factory=list)

    def find_all(self, tag: str) -> Iterator[Node]:
        """The child elements of this name."""
        return (child for child in self.children if isinstance(child, Node) and child.tag == tag)

    def find(self, *path: str) -> Node | None:
        """The first element down this path of names, or None."""
        node: Node | None = self
        for tag in path:
            node = next(node.find_all(tag), None) if node is not None else None
        return node

    def descend(self, *tags: str, skip: Collection[str] = ()) -> Iterator[Node]:
        """Every element below with one of these names, in order, but not inside `skip`."""
        stack = self.children[::-1]
        while stack:
            child = stack.pop()
            if isinstance(child, Node):
                if child.tag in tags:
                    yield child
                if child.tag not in skip:
                    stack += child.children[::-1]

    def get(self, name: str) -> str:
        """An attribute, or ""."""
        return self.attributes.get(name, "")


@dataclass(frozen=True)
class Tree:
    """What could be read of a file: its root element, if it has one, its decoded text, and warnings."""

    root: Node | None
    text: str
    warnings: tuple[str, ...]

    def line(self, offset: int) -> int:
        """The line number of an offset, from 1."""
        return self.text.count("\n", 0, offset) + 1


class Walk:
    """Steps through a tree in order, without recursion: every item on entry, and elements also on exit."""

    def __init__(self, root: Node) -> None:
        self._stack: list[tuple[Node | None, Iterator[Node | XmlText]]] = [(None, iter((root,)))]

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> tuple[Node | XmlText, bool]:
        while self._stack:
            node, rest = self._stack[-1]
            child = next(rest, None)
            if child is not None:
                if isinstance(child, Node):
                    self._stack.append((child, iter(child.children)))
                return child, True
            self._stack.pop()
            if node is not None:
                return node, False
        raise StopIteration

    def skip(self) -> None:
        """Skip the content of the element just entered; its exit is skipped too."""
        self._stack.pop()


def texts(node: Node | None, skip: Collection[str] = ()) -> Iterator[str]:
    """The runs of text in an element, except in elements named in `skip`."""
    stack = node.children[::-1] if node is not None else []
    while stack:
        child = stack.pop()
        if isinstance(child, XmlText):
            yield child.text
        elif child.tag not in skip:
            stack += child.children[::-1]


def plain_text(node: Node | None, skip: Collection[str] = ()) -> str:
    """The text of an element without extra white space, except in elements named in `skip`."""
    return " ".join("".join(texts(node, skip)).split())


def load_tree(source: Source) -> Tree:
    """The tree of a file; an error if it is too large for a paper."""
    with source.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UserError(f"{source.path}: larger than {MAX_BYTES >> 20} MB; too large for one document")
    declaration = _DECLARED_ENCODING.match(data)
    name = declaration[1].decode("ascii") if declaration else ""
    text, warning = decode(data, None if name.lower() in ("utf-8", "utf8") else name)
    tree = parse_tree(text, source.path)
    if warning or (name and "\ufffd" in text and b"\xef\xbf\xbd" not in data):
        problem = f"not encoded as {name}, which it declares" if name else warning
        return replace(tree, warnings=(f"{source.path}:1: {problem}", *tree.warnings))
    return tree


def parse_tree(text: str, path: str, skip: Collection[str] = ()) -> Tree:
    """The tree of an XML text, without elements named in `skip`; `path` names it in warnings."""
    prepared = without_declarations(text)
    data = prepared.encode("utf-8")
    warnings: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.UseForeignDTD(True)  # so that unknown entities are passed to us instead of being errors
    builder = _TreeBuilder(prepared, data, parser, skip)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        warnings.append(f"{path}:{error.lineno}: broken XML ({reason}); the rest is skipped")
    except _HostileFile as refusal:
        line = parser.CurrentLineNumber
        warnings.append(f"{path}:{line}: {refusal}; the rest is skipped")
    builder.finish()
    if builder.unknown_entities:
        names = ", ".join(sorted(builder.unknown_entities)[:_MAX_NAMES])
        warnings.append(f"{path}:1: skipped unknown entities: {names}")
    return Tree(builder.root, text, tuple(warnings))


class _HostileFile(Exception):
    """The file is built to exhaust memory or time."""


class _TreeBuilder:
    """Builds the tree from expat's events, and converts byte offsets to code points on the way."""

    def __init__(self, text: str, data: bytes, parser: expat.XMLParserType, skip: Collection[str]) -> None:
        self.root: Node | None = None
        self.unknown_entities: set[str] = set()
        self._text, self._data, self._parser = text, data, parser
        self._ascii = len(text) == len(data)
        self._byte = self._point = 0
        self._stack: list[Node] = []
        self._skip = skip
        self._skipped = 0  # elements to skip that are open
        self._skipped_in: Node | None = None  # the element around the last one that was skipped
        self._nodes = 0
        self._verbatim = False  # inside a CDATA section
        self._text_range = (0, 0)  # characters not yet added to the tree
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.DefaultHandler = self._add_entity
        parser.EntityDeclHandler = self._refuse_declaration

    def _offset(self) -> int:
        byte_index = self._parser.CurrentByteIndex
        if self._ascii:
            return byte_index
        self._point += len(self._data[self._byte : byte_index].decode("utf-8"))
        self._byte = byte_index
        return self._point

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if self._skipped or tag in self._skip:
            self._skipped += 1
            self._skipped_in = self._stack[-1] if self._stack else None
            return
        self._flush()
        if len(self._stack) >= MAX_DEPTH:
            raise _HostileFile(f"elements nested deeper than {MAX_DEPTH}")
        self._count()
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if len(plain) < len(attributes):  # a name without a prefix wins over the same name with one
            plain = {key.rpartition(":")[2]: attributes[key] for key in sorted(attributes, key=_unprefixed)}
        node = Node(tag, plain, self._offset())
        if self._stack:
            self._stack[-1].children.append(node)
        else:
            self.root = node
        self._stack.append(node)

    def _close(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        self._flush()
        node, offset = self._stack.pop(), self._offset()
        is_bare = not node.children and node is not self._skipped_in
        empty = is_bare and self._text.startswith("/>", offset - 2)
        node.end = offset if empty else self._text.index(">", offset) + 1

    def _characters(self, data: str) -> None:
        if self._skipped:
            return
        offset = self._offset()
        first_byte = self._data[self._byte if not self._ascii else offset]
        if first_byte == _AMPERSAND and not self._verbatim:
            self._put(XmlText(data, offset, self._text.index(";", offset) + 1, exact=False))
            return
        end = offset + len(data) + (first_byte == _RETURN and self._text.startswith("\r\n", offset))
        if offset != self._text_range[1]:
            self._flush()
            self._text_range = (offset, end)
        else:
            self._text_range = (self._text_range[0], end)

    def _add_entity(self, data: str) -> None:
        if data[0] == "&" and self._stack and not self._skipped:
            offset = self._offset()
            meaning = html5.get(data[1:])
            if meaning is None:
                self.unknown_entities.add(data)
            else:
                self._put(XmlText(meaning, offset, offset + len(data), exact=False))

    def _refuse_declaration(self, *_: object) -> None:
        raise _HostileFile("a second document type declaration")

    def _start_cdata(self) -> None:
        self._verbatim = True

    def _end_cdata(self) -> None:
        self._verbatim = False

    def _put(self, text: XmlText) -> None:
        self._flush()
        self._count()
        self._stack[-1].children.append(text)

    def _flush(self) -> None:
        start, end = self._text_range
        if end > start:
            self._count()
            self._stack[-1].children.append(XmlText(self._text[start:end], start, end))
            self._text_range = (0, 0)

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _HostileFile(f"more than {MAX_NODES:,} elements and texts")

    def finish(self) -> None:
        """Close what a broken file left open."""
        self._nodes = 0
        if self._stack:
            self._flush()
            for node in self._stack:
                node.end = self._offset()


def _unprefixed(key: str) -> bool:
    return ":" not in key


# Characters that XML does not allow, but that PDF converters leave in.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_DOCTYPE_TOKEN = re.compile(r"""["'\[\]>]|<!--|<\?""")
_ENDS = {'"': '"', "'": "'", "<!--": "-->", "<?": "?>"}


def without_declarations(text: str) -> str:
    """The text, of the same length, with spaces for declarations and for characters that XML forbids."""
    return _FORBIDDEN.sub(" ", _blank_prolog(text))


def _blank_prolog(text: str) -> str:
    position = _skip_white(text, 0)
    if text.startswith("<?xml", position):
        text, position = _blank(text, 0, text.find("?>", position) + 2)
    elif position:
        text, position = _blank(text, 0, position)
    while True:
        if text.startswith("<!DOCTYPE", position):
            return _blank(text, position, _doctype_end(text, position))[0]
        opener = "<?" if text.startswith("<?", position) else "<!--" if text.startswith("<!--", position) else ""
        end = text.find(_ENDS[opener], position) if opener else -1
        if end < 0:
            return text
        position = _skip_white(text, end + len(_ENDS[opener]))


def _blank(text: str, start: int, end: int) -> tuple[str, int]:
    return text[:start] + _NOT_LINE_END.sub(" ", text[start:end]) + text[end:], _skip_white(text, end)


def _doctype_end(text: str, start: int) -> int:
    position, depth = start, 0
    while match := _DOCTYPE_TOKEN.search(text, position):
        token, position = match[0], match.end()
        if token == ">" and depth <= 0:
            return position
        depth += {"[": 1, "]": -1}.get(token, 0)
        if token in _ENDS:
            end = text.find(_ENDS[token], position)
            if end < 0:
                break
            position = end + len(_ENDS[token])
    return len(text)


def _skip_white(text: str, position: int) -> int:
    while position < len(text) and (text[position].isspace() or text[position] == "\ufeff"):
        position += 1
    return position
