"""The text of a JATS article: sections, paragraphs, captions, footnotes, and citations made whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from whycite.documents.builder import Builder, Prose
from whycite.documents.model import SentenceKind
from whycite.documents.xmltree import Node, Walk, XmlText, plain_text, texts

__all__ = ["JatsBody", "ReferenceOrder", "cited_keys", "is_citation", "join_citations", "marker_text", "section_title"]


# Elements that open a section, and the heading for those without a title.
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
_KINDS: dict[str, SentenceKind] = {
    "attrib": "caption",
    "caption": "caption",
    "fn": "footnote",
    "table": "table",
    "table-wrap-foot": "footnote",
}
_CITING = frozenset({"attrib", "td", "th"})  # kept only if they cite
_PARAGRAPHS = frozenset({"p", "caption", "def-item", "verse-group"}) | _CITING
_BREAKS = frozenset({"p", "title", "list", "list-item", "disp-quote", "def-item", "def-list", "verse-line", "speech"})
# Elements outside the sentence they are anchored in.
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
_NO_SECTION = ("", 1)  # for text outside any section
_NOT_SHOWN = ("annotation", "annotation-xml", "tex-math", "graphic", "inline-graphic", "label", "alt-text")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_EQUATION = "EQUATION"  # placeholder for a formula
_MAX_FORMULA = 80  # characters; a longer formula does not read as words
_EXPONENT = re.compile(r"[-+−–]?\d")
_OWN_DOI = re.compile(r"DOI:\s*https?://\S+")


class JatsBody:
    """Fills a builder from the elements that hold an article's text."""

    def __init__(self, builder: Builder, path: str, order: ReferenceOrder) -> None:
        self._builder, self._path, self._order = builder, path, order
        self._sections: list[tuple[str, int]] = []  # headings and levels of the enclosing sections
        self._current_section: tuple[str, int] | None = None  # the section the builder is in
        self._kinds: list[SentenceKind] = ["prose"]
        self._prose: Prose | None = None
        self._opened_by: Node | None = None
        self._last_character = ""  # the last character of the paragraph so far
        self._after_formula = False
        self._pending_floats: list[Node] = []
        self._parents: list[str] = []

    def read(self, root: Node) -> None:
        """Add everything below `root`; floats inside a paragraph come after it."""
        walks = [Walk(root)]
        while walks:
            for item, opening in walks[-1]:
                if isinstance(item, XmlText):
                    if self._prose is not None:
                        self._add_text(self._prose, item)
                elif opening:
                    self._enter(item, walks[-1])
                else:
                    self._leave(item)
                    if self._pending_floats and self._prose is None:
                        walks += map(Walk, reversed(self._pending_floats))
                        self._pending_floats = []
                        break
            else:
                walks.pop()

    def _enter(self, node: Node, walk: Walk) -> None:
        tag = node.tag
        if self._prose is not None and self._add_inline(self._prose, node):
            walk.skip()
            return
        if not self._holds_text(node):
            walk.skip()
            return
        if tag in _SECTIONS:
            self._open_section(node)
        if tag in _KINDS:
            self._kinds.append(_KINDS[tag])
        if self._prose is None and tag in _PARAGRAPHS:
            self._prose, self._opened_by, self._last_character = Prose(), node, ""
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
            self._sections.pop()

    def _open_section(self, node: Node) -> None:
        level = self._sections[-1][1] + 1 if self._sections else 1
        self._sections.append((section_title(node) or _SECTIONS[node.tag], level))
        self._go_to_section()
        title = node.find("title")
        if title is not None and any(is_citation(x, self._order) for x in title.descend("xref")):
            self._citing_heading(title)

    def _citing_heading(self, title: Node) -> None:
        """Keep a heading that cites as a sentence too, so that its citations are not lost."""
        prose, walk = Prose(), Walk(title)
        for item, opening in walk:
            if isinstance(item, XmlText):
                self._add_text(prose, item)
            elif opening and item is not title and self._add_inline(prose, item):
                walk.skip()
        self._builder.paragraph(prose, "heading")

    def _go_to_section(self) -> None:
        """Begin the enclosing section, again if another one has ended since."""
        section = self._sections[-1] if self._sections else _NO_SECTION
        if self._current_section is not section:
            self._current_section = section
            self._builder.section(*section)

    def _close_paragraph(self, prose: Prose, tag: str) -> None:
        self._prose = self._opened_by = None
        self._after_formula = False
        if prose and (prose.has_citations if tag in _CITING else not _OWN_DOI.fullmatch(prose.text)):
            self._go_to_section()
            self._builder.paragraph(prose, self._kinds[-1])

    def _holds_text(self, node: Node) -> bool:
        """Whether an element contains text: a formula on its own does not, nor does a table without citations."""
        if node.tag == "title":
            return self._prose is not None and self._parents[-1] == "caption"
        if node.tag == "table":
            return any(is_citation(link, self._order) for link in node.descend("xref"))
        return node.tag not in _NOT_PROSE and (node.tag not in _DISPLAYED or self._prose is not None)

    def _add_inline(self, prose: Prose, node: Node) -> bool:
        """Add what an element inside a paragraph stands for; False if its content is to be read instead."""
        tag = node.tag
        if tag in _FLOATS:
            self._pending_floats.append(node)
        elif is_citation(node, self._order):
            self._cite(prose, node)
        elif tag == "xref" and node.get("ref-type") in ("fn", "table-fn") and _is_mark(plain_text(node)):
            pass
        elif tag in _FORMULAS:
            words = _formula(node)
            self._after_formula = words == _EQUATION
            separator = " " if self._after_formula and self._last_character.isalnum() else ""
            self._add(prose, separator + words, node.start, node.end)
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
            elif tag == "sup" and self._last_character.isdigit() and _EXPONENT.match(plain_text(node)):
                self._add(prose, "^", node.start, node.start)
            return False
        return True

    def _breaks(self, tag: str) -> bool:
        """Whether a sentence ends where such an element begins or ends; not between a term and its definition."""
        return tag in _BREAKS and not (tag == "p" and self._parents[-1:] == ["def"])

    def _cite(self, prose: Prose, node: Node) -> None:
        shown = marker_text(node)
        if "marker" in node.attributes and self._last_character.isalnum():
            self._add(prose, " ", node.start, node.start)
        prose.cite(shown, cited_keys(node, self._order), self._path, node.start, node.end)
        self._last_character = shown[-1:]

    def _add_text(self, prose: Prose, text: XmlText) -> None:
        if self._after_formula:
            self._after_formula = False
            if text.text[:1].isalnum():
                self._add(prose, " ", text.start, text.start)
        self._add(prose, text.text, text.start, None if text.exact else text.end)

    def _add(self, prose: Prose, text: str, start: int, end: int | None = None) -> None:
        prose.add(text, self._path, start, end)
        self._last_character = text[-1:]


def section_title(node: Node) -> str:
    """The title of a section, figure or box, without notes."""
    return plain_text(node.find("title"), skip=("fn", "tex-math", "annotation"))


def _is_mark(shown: str) -> bool:
    """Whether the text of a link to a note is only a mark: "*", "12", "a"."""
    return sum(map(str.isalpha, shown)) <= 1


def _formula(node: Node) -> str:
    """An inline formula as words if it is short and linear, else "EQUATION"."""
    shown = "".join(run for run in texts(node, skip=_NOT_SHOWN) if not run.isspace())
    shown = " ".join(shown.translate(_INVISIBLE).split())
    if node.tag == "tex-math" or not shown or len(shown) > _MAX_FORMULA:
        return _EQUATION
    return shown


MAX_RANGE = 100  # references that one "a–b" may stand for; more is a typing error
_DASH = r"[-‐‑‒–—−]"
_NUMBER = re.compile(r"[\[(]?(\d{1,4})[\])]?")
_NUMBERS = re.compile(rf"[\[(]?(\d{{1,4}})\s?{_DASH}\s?(\d{{1,4}})[\])]?")
_ONE_DASH = re.compile(rf"\s?{_DASH}\s?")
_SEPARATORS = re.compile(r"[\s,;‐‑‒–—−-]*")

NodeOrText = Node | XmlText


@dataclass(frozen=True)
class ReferenceOrder:
    """The ids of the reference list in print order, which numbered citations refer to."""

    ids: tuple[str, ...]

    @cached_property
    def position(self) -> dict[str, int]:
        return {id: index for index, id in enumerate(self.ids)}

    def ids_from(self, start_id: str, extra: int) -> tuple[str, ...]:
        """The reference `start_id` and the `extra` ones after it; empty if the list is not that long."""
        start = self.position.get(start_id)
        if start is None or not 0 < extra < MAX_RANGE or start + extra >= len(self.ids):
            return ()
        return self.ids[start : start + extra + 1]


def is_citation(item: NodeOrText, order: ReferenceOrder) -> bool:
    """Whether an item is a cross-reference into the reference list."""
    if isinstance(item, XmlText) or item.tag != "xref":
        return False
    return item.get("ref-type") == "bibr" or any(id in order.position for id in item.get("rid").split())


def cited_keys(node: Node, order: ReferenceOrder) -> tuple[str, ...]:
    """The references a citation points to, in its order."""
    linked_ids = tuple(dict.fromkeys(node.get("rid").split()))
    # A link may lead to a figure as well: "R1 F1".
    reference_ids = tuple(id for id in linked_ids if id in order.position) or linked_ids
    numbers = _NUMBERS.fullmatch(plain_text(node)) if len(reference_ids) == 1 else None
    if numbers and order.position.get(reference_ids[0]) == int(numbers[1]) - 1:
        return order.ids_from(reference_ids[0], int(numbers[2]) - int(numbers[1])) or reference_ids
    return reference_ids


def marker_text(node: Node) -> str:
    """The citation as it is shown."""
    return node.attributes.get("marker") or plain_text(node)


def join_citations(root: Node, order: ReferenceOrder) -> None:
    """Rewrite the tree below `root`: each range, and each run of superscripts, becomes one citation."""
    walk = Walk(root)
    for item, opening in walk:
        if not opening or isinstance(item, XmlText):
            continue
        if is_citation(item, order):
            walk.skip()
        elif any(isinstance(child, Node) and child.tag in ("xref", "sup") for child in item.children):
            item.children[:] = _join_superscripts(_join_ranges(item.children, order), order)


def _join_ranges(children: Iterable[NodeOrText], order: ReferenceOrder) -> list[NodeOrText]:
    joined: list[NodeOrText] = []
    citation_index: int | None = None  # index of the last citation in `joined`
    for child in children:
        if isinstance(child, Node) and is_citation(child, order):
            if citation_index is not None and (whole := _range_citation(joined[citation_index:], child, order)):
                joined[citation_index:] = [whole]
                citation_index = None
                continue
            citation_index = len(joined)
        elif citation_index is not None and len(joined) - citation_index > 3:
            citation_index = None
        joined.append(child)
    return joined


def _range_citation(opening: list[NodeOrText], end_node: Node, order: ReferenceOrder) -> Node | None:
    start_node, *separators = opening
    if not isinstance(start_node, Node) or not _ONE_DASH.fullmatch("".join(map(_item_text, separators))):
        return None
    low, high = _NUMBER.fullmatch(plain_text(start_node)), _NUMBER.fullmatch(plain_text(end_node))
    if not low or not high:
        return None
    reference_ids = order.ids_from(start_node.get("rid"), int(high[1]) - int(low[1]))
    return (
        _build_citation(reference_ids, [*opening, end_node])
        if reference_ids and reference_ids[-1] == end_node.get("rid")
        else None
    )


def _join_superscripts(children: Iterable[NodeOrText], order: ReferenceOrder) -> list[NodeOrText]:
    joined: list[NodeOrText] = []
    run: list[NodeOrText] = []
    for child in children:
        if _is_raised(child, order) or (run and _is_separator(child)):
            run.append(child)
            continue
        joined += _join_run(run, order)
        run = []
        joined.append(child)
    return joined + _join_run(run, order)


def _join_run(run: list[NodeOrText], order: ReferenceOrder) -> list[NodeOrText]:
    end = len(run)
    while end and not _is_raised(run[end - 1], order):
        end -= 1
    return [_superscript_citation(run[:end], order), *run[end:]] if end else run


def _is_separator(item: NodeOrText) -> bool:
    return (isinstance(item, XmlText) or item.tag == "sup") and bool(_SEPARATORS.fullmatch(_item_text(item)))


def _is_raised(item: NodeOrText, order: ReferenceOrder) -> bool:
    """Whether this is a superscript with nothing but citations, or a citation entirely in superscript."""
    if isinstance(item, XmlText):
        return False
    if is_citation(item, order):
        return bool(plain_text(item)) and bool(_SEPARATORS.fullmatch(plain_text(item, skip=("sup",))))
    if item.tag != "sup" or not _SEPARATORS.fullmatch(plain_text(item, skip=("xref",))):
        return False
    links = list(item.descend("xref"))
    return bool(links) and all(is_citation(link, order) for link in links)


def _superscript_citation(run: list[NodeOrText], order: ReferenceOrder) -> Node:
    reference_ids: list[str] = []
    for item in run:
        if isinstance(item, Node):
            within = [item] if is_citation(item, order) else _join_ranges(item.children, order)
            for node in within:
                if isinstance(node, Node):
                    links = [node] if is_citation(node, order) else node.descend("xref")
                    reference_ids += [key for link in links for key in cited_keys(link, order)]
    whole = _build_citation(tuple(dict.fromkeys(reference_ids)), run)
    whole.attributes["marker"] = f"[{''.join(''.join(map(_item_text, run)).split())}]"
    return whole


def _build_citation(reference_ids: tuple[str, ...], parts: list[NodeOrText]) -> Node:
    attributes = {"ref-type": "bibr", "rid": " ".join(reference_ids)}
    return Node("xref", attributes, parts[0].start, parts[-1].end, parts)


def _item_text(item: NodeOrText) -> str:
    return item.text if isinstance(item, XmlText) else plain_text(item)
