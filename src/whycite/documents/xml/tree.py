"""XML as a tree whose every piece of text knows where it stands in the file; broken files give what can be read.

Built on expat for its source offsets. Declarations are blanked out before parsing, so there are no entities to
expand and no external files to fetch, whatever the file asks for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from html.entities import html5
from xml.parsers import expat

from whycite.documents.sources import Source, decode
from whycite.documents.xml.prolog import without_declarations
from whycite.errors import UserError

__all__ = ["Node", "Text", "Tree", "Walk", "load", "parse", "plain", "texts"]

MAX_BYTES = 32 << 20
MAX_DEPTH = 500
MAX_NODES = 500_000
_AMPERSAND, _RETURN = ord("&"), ord("\r")


@dataclass(slots=True)
class Text:
    """A run of characters; `exact`: they stand one for one in the file, else for the range as a whole."""

    text: str
    start: int
    end: int
    exact: bool = True


@dataclass(slots=True, eq=False)
class Node:
    """An element; names have lost their namespace prefix, the range includes the tags."""

    tag: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    children: list[Node | Text] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Node]:
        """The child elements of this name."""
        return (child for child in self.children if isinstance(child, Node) and child.tag == tag)

    def first(self, *path: str) -> Node | None:
        """The first element down this path of names, or None."""
        node: Node | None = self
        for tag in path:
            node = next(node.all(tag), None) if node is not None else None
        return node

    def descend(self, *tags: str, skip: Collection[str] = ()) -> Iterator[Node]:
        """Every element below of these names, in order, leaving out what stands inside `skip`."""
        waiting = self.children[::-1]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Node):
                if item.tag in tags:
                    yield item
                if item.tag not in skip:
                    waiting += item.children[::-1]

    def get(self, name: str) -> str:
        """An attribute, or "" where there is none."""
        return self.attributes.get(name, "")


@dataclass(frozen=True)
class Tree:
    """What could be read of a file: its root element, if it has one, its decoded text, and warnings."""

    root: Node | None
    text: str
    warnings: tuple[str, ...]

    def line(self, offset: int) -> int:
        """The line an offset is on, counted from 1."""
        return self.text.count("\n", 0, offset) + 1


class Walk:
    """Steps through a tree in order without recursion: every item on its way in, elements on their way out too."""

    def __init__(self, root: Node) -> None:
        self._stack: list[tuple[Node | None, Iterator[Node | Text]]] = [(None, iter((root,)))]

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> tuple[Node | Text, bool]:
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
        """Leave out what is inside the element just opened; it is not closed either."""
        self._stack.pop()


def texts(node: Node | None, skip: Collection[str] = ()) -> Iterator[str]:
    """The runs of text in an element, leaving out elements of the names in `skip`."""
    waiting = node.children[::-1] if node is not None else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, Text):
            yield item.text
        elif item.tag not in skip:
            waiting += item.children[::-1]


def plain(node: Node | None, skip: Collection[str] = ()) -> str:
    """The text of an element with white space folded, leaving out elements of the names in `skip`."""
    return " ".join("".join(texts(node, skip)).split())


def load(source: Source) -> Tree:
    """The tree of a file; one too large to be a paper is refused."""
    with source.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UserError(f"{source.path}: larger than {MAX_BYTES >> 20} MB, too large for one document")
    declared = _DECLARED.match(data)
    name = declared[1].decode("ascii") if declared else ""
    text, guessed = decode(data, None if name.lower() in ("utf-8", "utf8") else name)
    tree = parse(text, source.path)
    if guessed or (name and "\ufffd" in text and b"\xef\xbf\xbd" not in data):
        said = f"not in {name}, the encoding it declares" if name else guessed
        return replace(tree, warnings=(f"{source.path}:1: {said}", *tree.warnings))
    return tree


_DECLARED = re.compile(rb"""(?:\xef\xbb\xbf)?\s{0,9}<\?xml[^>]{0,99}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})""")


def parse(text: str, path: str) -> Tree:
    """The tree of an XML text; `path` names it in warnings."""
    prepared = without_declarations(text)
    data = prepared.encode("utf-8")
    warnings: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.UseForeignDTD(True)  # an unknown entity is then handed to us, not an error
    grower = _Grower(prepared, data, parser)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        warnings.append(f"{path}:{error.lineno}: broken XML ({reason}), the rest is left out")
    except _Refused as refusal:
        line = parser.CurrentLineNumber
        warnings.append(f"{path}:{line}: {refusal}, the rest is left out")
    grower.finish()
    if grower.unknown:
        names = ", ".join(sorted(grower.unknown)[:10])
        warnings.append(f"{path}:1: entities that mean nothing here are left out: {names}")
    return Tree(grower.root, text, tuple(warnings))


class _Refused(Exception):
    """The file is built to exhaust us."""


class _Grower:
    """Builds the tree from expat's events; byte offsets become code points as the events go forward."""

    def __init__(self, text: str, data: bytes, parser: expat.XMLParserType) -> None:
        self.root: Node | None = None
        self.unknown: set[str] = set()
        self._text, self._data, self._parser = text, data, parser
        self._ascii = len(text) == len(data)
        self._byte = self._point = 0
        self._stack: list[Node] = []
        self._nodes = 0
        self._verbatim = False  # inside a CDATA section
        self._run = (0, 0)  # characters seen and not yet put into the tree
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.DefaultHandler = self._other
        parser.EntityDeclHandler = self._declared

    def _here(self) -> int:
        at = self._parser.CurrentByteIndex
        if self._ascii:
            return at
        self._point += len(self._data[self._byte : at].decode("utf-8"))
        self._byte = at
        return self._point

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self._flush()
        if len(self._stack) >= MAX_DEPTH:
            raise _Refused(f"elements nested deeper than {MAX_DEPTH}")
        self._count()
        if any(":" in key for key in attributes):
            # A name without prefix wins over the same name with one.
            attributes = {key.rpartition(":")[2]: attributes[key] for key in sorted(attributes, key=_unprefixed)}
        node = Node(name.rpartition(":")[2], attributes, self._here())
        if self._stack:
            self._stack[-1].children.append(node)
        else:
            self.root = node
        self._stack.append(node)

    def _close(self, name: str) -> None:
        self._flush()
        node, at = self._stack.pop(), self._here()
        empty = not node.children and self._text.startswith("/>", at - 2)
        node.end = at if empty else self._text.index(">", at) + 1

    def _characters(self, data: str) -> None:
        at = self._here()
        first = self._data[self._byte if not self._ascii else at]
        if first == _AMPERSAND and not self._verbatim:
            self._put(Text(data, at, self._text.index(";", at) + 1, exact=False))
            return
        end = at + len(data) + (first == _RETURN and self._text.startswith("\r\n", at))
        if at != self._run[1]:
            self._flush()
            self._run = (at, end)
        else:
            self._run = (self._run[0], end)

    def _other(self, data: str) -> None:
        if data[0] == "&" and self._stack:
            at = self._here()
            meaning = html5.get(data[1:])
            if meaning is None:
                self.unknown.add(data)
            else:
                self._put(Text(meaning, at, at + len(data), exact=False))

    def _declared(self, *_: object) -> None:
        raise _Refused("a second document type declaration")

    def _start_cdata(self) -> None:
        self._verbatim = True

    def _end_cdata(self) -> None:
        self._verbatim = False

    def _put(self, text: Text) -> None:
        self._flush()
        self._count()
        self._stack[-1].children.append(text)

    def _flush(self) -> None:
        start, end = self._run
        if end > start:
            self._count()
            self._stack[-1].children.append(Text(self._text[start:end], start, end))
            self._run = (0, 0)

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _Refused(f"more than {MAX_NODES:,} elements and texts")

    def finish(self) -> None:
        """Close what a broken file left open."""
        self._nodes = 0
        if self._stack:
            self._flush()
            for node in self._stack:
                node.end = self._here()


def _unprefixed(key: str) -> bool:
    return ":" not in key
