"""Walks the text of a JATS article: sections, paragraphs, captions, footnotes."""

from __future__ import annotations

import re

from whycite.documents.builder import Builder
from whycite.documents.jats.citations import Order, is_citation, keys, marker
from whycite.documents.model import Kind
from whycite.documents.prose import Prose
from whycite.documents.xml.tree import Node, Text, Walk, plain, texts

__all__ = ["Body", "heading"]

# What opens a section, and its heading where it has no title.
_SECTIONS = {
    "sec": "",
    "abstract": "Abstract",
    "ack": "Acknowledgements",
    "app": "Appendix",
    "fn-group": "Footnotes",
    "floats-group": "Figures and tables",
    "glossary": "Glossary",
    "notes": "Notes",
}
_KINDS: dict[str, Kind] = {
    "attrib": "caption",
    "caption": "caption",
    "fn": "footnote",
    "table": "table",
    "table-wrap-foot": "footnote",
}
_CITING = frozenset({"attrib", "td", "th"})  # worth keeping only where they cite
_PARAGRAPHS = frozenset({"p", "caption", "def-item", "verse-group"}) | _CITING
_BREAKS = frozenset({"p", "title", "list", "list-item", "disp-quote", "def-item", "def-list", "verse-line", "speech"})
# What stands outside the sentence it is anchored in.
_FLOATS = frozenset(
    {"boxed-text", "chem-struct-wrap", "fig", "fig-group", "fn", "media", "supplementary-material"}
    | {"table-wrap", "table-wrap-group"}
)
_FORMULAS = frozenset({"chem-struct", "inline-formula", "math", "tex-math"})
_DISPLAYED = frozenset({"disp-formula", "disp-formula-group"})
_NOT_PROSE = frozenset(
    {"annotation", "annotation-xml", "bio", "citation", "code", "element-citation", "graphic"}
    | {"index-term", "inline-graphic", "kwd-group", "label", "long-desc", "alt-text", "mixed-citation"}
    | {"nlm-citation", "object-id", "permissions", "preformat", "ref-list", "response", "sec-meta"}
    | {"sub-article"}
)
_OUTSIDE = ("", 1)  # where text stands that is in no section
_NOT_SHOWN = ("annotation", "annotation-xml", "tex-math", "graphic", "inline-graphic", "label", "alt-text")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_EQUATION = "EQUATION"
_LONGEST_FORMULA = 80  # a longer one is not read as words
_EXPONENT = re.compile(r"[-+−–]?\d")
_OWN_DOI = re.compile(r"DOI:\s*https?://\S+")


class Body:
    """Fills a builder from the elements that hold an article's text."""

    def __init__(self, builder: Builder, path: str, order: Order) -> None:
        self._builder, self._path, self._order = builder, path, order
        self._open: list[tuple[str, int]] = []  # headings and levels of the sections around us
        self._at: tuple[str, int] | None = None  # the section the builder is in
        self._kinds: list[Kind] = ["prose"]
        self._prose: Prose | None = None
        self._opened_by: Node | None = None
        self._last = ""  # the last character of the paragraph so far
        self._after_formula = False
        self._later: list[Node] = []
        self._parents: list[str] = []

    def read(self, root: Node) -> None:
        """Add everything below `root`; what floats inside a paragraph follows it."""
        walks = [Walk(root)]
        while walks:
            for item, opening in walks[-1]:
                if isinstance(item, Text):
                    if self._prose is not None:
                        self._text(self._prose, item)
                elif opening:
                    self._enter(item, walks[-1])
                else:
                    self._leave(item)
                    if self._later and self._prose is None:
                        walks += map(Walk, reversed(self._later))
                        self._later = []
                        break
            else:
                walks.pop()

    def _enter(self, node: Node, walk: Walk) -> None:
        tag = node.tag
        if self._prose is not None and self._inline(self._prose, node):
            walk.skip()
            return
        if not self._is_read(node):
            walk.skip()
            return
        if tag in _SECTIONS:
            self._open_section(node)
        if tag in _KINDS:
            self._kinds.append(_KINDS[tag])
        if self._prose is None and tag in _PARAGRAPHS:
            self._prose, self._opened_by, self._last = Prose(), node, ""
        self._parents.append(tag)

    def _leave(self, node: Node) -> None:
        self._parents.pop()
        if node is self._opened_by and self._prose is not None:
            self._close_paragraph(self._prose, node.tag)
        elif self._prose is not None and self._breaks(node.tag):
            self._prose.break_sentence()
        if node.tag in _KINDS:
            self._kinds.pop()
        if node.tag in _SECTIONS:
            self._open.pop()

    def _open_section(self, node: Node) -> None:
        level = self._open[-1][1] + 1 if self._open else 1
        self._open.append((heading(node) or _SECTIONS[node.tag], level))
        self._go_to_section()
        title = node.first("title")
        if title is not None and any(is_citation(x, self._order) for x in title.descend("xref")):
            self._citing_heading(title)

    def _citing_heading(self, title: Node) -> None:
        """A heading that cites is also kept as a sentence, so that its citations are not lost."""
        prose, walk = Prose(), Walk(title)
        for item, opening in walk:
            if isinstance(item, Text):
                self._text(prose, item)
            elif opening and item is not title and self._inline(prose, item):
                walk.skip()
        self._builder.paragraph(prose, "heading")

    def _go_to_section(self) -> None:
        """Begin the section around us; once more, if another one has ended since."""
        around = self._open[-1] if self._open else _OUTSIDE
        if self._at is not around:
            self._at = around
            self._builder.section(*around)

    def _close_paragraph(self, prose: Prose, tag: str) -> None:
        self._prose = self._opened_by = None
        self._after_formula = False
        if prose and (prose.has_citations if tag in _CITING else not _OWN_DOI.fullmatch(prose.text)):
            self._go_to_section()
            self._builder.paragraph(prose, self._kinds[-1])

    def _is_read(self, node: Node) -> bool:
        """Whether what is in an element is text: a formula by itself is not, nor a table that cites nothing."""
        if node.tag == "title":
            return self._prose is not None and self._parents[-1] == "caption"
        if node.tag == "table":
            return any(is_citation(link, self._order) for link in node.descend("xref"))
        return node.tag not in _NOT_PROSE and (node.tag not in _DISPLAYED or self._prose is not None)

    def _inline(self, prose: Prose, node: Node) -> bool:
        """Add what an element inside a paragraph stands for; False: go on with what is in it."""
        tag = node.tag
        if tag in _FLOATS:
            self._later.append(node)
        elif is_citation(node, self._order):
            self._cite(prose, node)
        elif tag == "xref" and node.get("ref-type") in ("fn", "table-fn") and _is_mark(plain(node)):
            pass
        elif tag in _FORMULAS:
            words = _formula(node)
            self._after_formula = words == _EQUATION
            apart = " " if self._after_formula and self._last.isalnum() else ""
            self._add(prose, apart + words, node.start, node.end)
        elif tag in _DISPLAYED:
            self._add(prose, f" {_EQUATION}", node.start, node.end)
            self._after_formula = True
        elif tag == "break":
            self._add(prose, " ", node.start, node.end)
        else:
            if self._breaks(tag):
                prose.break_sentence()
                self._add(prose, " ", node.start, node.start)
            elif tag == "def":
                self._add(prose, " ", node.start, node.start)
            elif tag == "sup" and self._last.isdigit() and _EXPONENT.match(plain(node)):
                self._add(prose, "^", node.start, node.start)
            return False
        return True

    def _breaks(self, tag: str) -> bool:
        """Whether a sentence ends where such an element begins or ends: not between a term and its meaning."""
        return tag in _BREAKS and not (tag == "p" and self._parents[-1:] == ["def"])

    def _cite(self, prose: Prose, node: Node) -> None:
        shown = marker(node)
        if "marker" in node.attributes and self._last.isalnum():
            self._add(prose, " ", node.start, node.start)
        prose.cite(shown, keys(node, self._order), self._path, node.start, node.end)
        self._last = shown[-1:]

    def _text(self, prose: Prose, text: Text) -> None:
        if self._after_formula:
            self._after_formula = False
            if text.text[:1].isalnum():
                self._add(prose, " ", text.start, text.start)
        self._add(prose, text.text, text.start, None if text.exact else text.end)

    def _add(self, prose: Prose, text: str, start: int, end: int | None = None) -> None:
        prose.add(text, self._path, start, end)
        self._last = text[-1:]


def heading(node: Node) -> str:
    """The title of a section, figure or box, without notes."""
    return plain(node.first("title"), skip=("fn", "tex-math", "annotation"))


def _is_mark(shown: str) -> bool:
    """Whether a link to a note shows no word: "*", "12", "a"."""
    return sum(map(str.isalpha, shown)) <= 1


def _formula(node: Node) -> str:
    """An inline formula as words where it is short and linear text, else "EQUATION"."""
    shown = "".join(run for run in texts(node, skip=_NOT_SHOWN) if not run.isspace())
    shown = " ".join(shown.translate(_INVISIBLE).split())
    if node.tag == "tex-math" or not shown or len(shown) > _LONGEST_FORMULA:
        return _EQUATION
    return shown
