"""Turns JATS cross-references into whole citations: "3–7" as five references, superscript runs as one marker."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from whycite.documents.xml.tree import Node, Text, Walk, plain

__all__ = ["Order", "is_citation", "join_citations", "keys", "marker"]

MAX_RANGE = 100  # references one "a–b" may stand for
_DASH = r"[-‐‑‒–—−]"
_NUMBER = re.compile(r"[\[(]?(\d{1,4})[\])]?")
_NUMBERS = re.compile(rf"[\[(]?(\d{{1,4}})\s?{_DASH}\s?(\d{{1,4}})[\])]?")
_ONE_DASH = re.compile(rf"\s?{_DASH}\s?")
_SEPARATORS = re.compile(r"[\s,;‐‑‒–—−-]*")

Item = Node | Text


@dataclass(frozen=True)
class Order:
    """The ids of the reference list in print order, which numbered citations count by."""

    ids: tuple[str, ...]

    @cached_property
    def position(self) -> dict[str, int]:
        return {id: at for at, id in enumerate(self.ids)}

    def run(self, first: str, more: int) -> tuple[str, ...]:
        """The reference `first` and the `more` after it; nothing where the list is not that long."""
        start = self.position.get(first)
        if start is None or not 0 < more < MAX_RANGE or start + more >= len(self.ids):
            return ()
        return self.ids[start : start + more + 1]


def is_citation(item: Item, order: Order) -> bool:
    """Whether an item is a cross-reference into the reference list."""
    if isinstance(item, Text) or item.tag != "xref":
        return False
    kind = item.get("ref-type")
    return kind == "bibr" or (not kind and item.get("rid") in order.position)


def keys(node: Node, order: Order) -> tuple[str, ...]:
    """The references a citation points at, in the order it names them."""
    named = tuple(dict.fromkeys(node.get("rid").split()))
    numbers = _NUMBERS.fullmatch(plain(node)) if len(named) == 1 else None
    if numbers and order.position.get(named[0]) == int(numbers[1]) - 1:
        return order.run(named[0], int(numbers[2]) - int(numbers[1])) or named
    return named


def marker(node: Node) -> str:
    """The citation as it is shown."""
    return node.attributes.get("marker") or plain(node)


def join_citations(root: Node, order: Order) -> None:
    """Rewrite the tree below `root`: ranges become one citation each, so do runs of superscript ones."""
    walk = Walk(root)
    for item, opening in walk:
        if not opening or isinstance(item, Text):
            continue
        if is_citation(item, order):
            walk.skip()
        elif any(isinstance(child, Node) and child.tag in ("xref", "sup") for child in item.children):
            item.children[:] = _join_superscripts(_join_ranges(item.children, order), order)


def _join_ranges(children: Iterable[Item], order: Order) -> list[Item]:
    joined: list[Item] = []
    last: int | None = None  # where in `joined` the last citation stands
    for child in children:
        if isinstance(child, Node) and is_citation(child, order):
            if last is not None and (whole := _range(joined[last:], child, order)):
                joined[last:] = [whole]
                last = None
                continue
            last = len(joined)
        elif last is not None and len(joined) - last > 3:
            last = None
        joined.append(child)
    return joined


def _range(opening: list[Item], last: Node, order: Order) -> Node | None:
    first, *between = opening
    if not isinstance(first, Node) or not _ONE_DASH.fullmatch("".join(map(_text, between))):
        return None
    low, high = _NUMBER.fullmatch(plain(first)), _NUMBER.fullmatch(plain(last))
    if not low or not high:
        return None
    named = order.run(first.get("rid"), int(high[1]) - int(low[1]))
    return _citation(named, [*opening, last]) if named and named[-1] == last.get("rid") else None


def _join_superscripts(children: Iterable[Item], order: Order) -> list[Item]:
    joined: list[Item] = []
    run: list[Item] = []
    for child in children:
        if _is_raised(child, order) or (run and _is_separator(child)):
            run.append(child)
            continue
        joined += _joined_run(run, order)
        run = []
        joined.append(child)
    return joined + _joined_run(run, order)


def _joined_run(run: list[Item], order: Order) -> list[Item]:
    end = len(run)
    while end and not _is_raised(run[end - 1], order):
        end -= 1
    return [_superscript(run[:end], order), *run[end:]] if end else run


def _is_separator(item: Item) -> bool:
    return (isinstance(item, Text) or item.tag == "sup") and bool(_SEPARATORS.fullmatch(_text(item)))


def _is_raised(item: Item, order: Order) -> bool:
    """Whether this is a superscript that holds citations and nothing else, or a citation all in superscript."""
    if isinstance(item, Text):
        return False
    if is_citation(item, order):
        return bool(plain(item)) and bool(_SEPARATORS.fullmatch(plain(item, skip=("sup",))))
    if item.tag != "sup" or not _SEPARATORS.fullmatch(plain(item, skip=("xref",))):
        return False
    links = list(item.descend("xref"))
    return bool(links) and all(is_citation(link, order) for link in links)


def _superscript(run: list[Item], order: Order) -> Node:
    named: list[str] = []
    for item in run:
        if isinstance(item, Node):
            within = [item] if is_citation(item, order) else _join_ranges(item.children, order)
            for node in within:
                if isinstance(node, Node):
                    links = [node] if is_citation(node, order) else node.descend("xref")
                    named += [key for link in links for key in keys(link, order)]
    whole = _citation(tuple(dict.fromkeys(named)), run)
    whole.attributes["marker"] = f"[{''.join(''.join(map(_text, run)).split())}]"
    return whole


def _citation(named: tuple[str, ...], parts: list[Item]) -> Node:
    attributes = {"ref-type": "bibr", "rid": " ".join(named)}
    return Node("xref", attributes, parts[0].start, parts[-1].end, parts)


def _text(item: Item) -> str:
    return item.text if isinstance(item, Text) else plain(item)
