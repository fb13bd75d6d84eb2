"""The picture of a paper between the documents that cite it and its references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

from whycite.web.api.papers import LibraryPaper

__all__ = ["CitationGraph", "GraphEdge", "GraphNode", "citation_graph"]

_MAX_SIDE = 8  # nodes on each side
_WIDTH, _HEIGHT, _STEP = 260, 46, 58  # of a node, and from one to the next
_GAP = 50  # between two columns
_LABEL = 30  # characters


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A paper, at a place in the picture."""

    x: int
    y: int
    key: str  # empty if it has no page
    label: str
    detail: str
    title: str


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A citation: a line between two papers, and the anchor of the sentence or list entry that it stands for."""

    path: str
    target: str
    title: str


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Papers and the citations between them; `hidden` counts those that found no room."""

    width: int
    height: int
    node_width: int
    node_height: int
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    hidden: int


def citation_graph(page: LibraryPaper) -> CitationGraph | None:
    """The surroundings of a paper; None if it neither cites nor is cited."""
    citing: dict[str, int] = {}  # the first sentence of each source
    for number, sentence in enumerate(page["citing"]):
        citing.setdefault(sentence["source"]["key"] or sentence["source"]["title"], number)
    references = page["references"]
    if not citing and not references:
        return None
    sources = [*citing.values()][:_MAX_SIDE]
    cited = references[:_MAX_SIDE]
    rows = max(len(sources), len(cited), 1)
    own_column = 1 if sources else 0
    middle = _node(
        own_column, 0, rows - 1, page["paper"]["key"], page["paper"]["title"], _who(page["paper"]["authors"])
    )
    nodes, edges = [middle], []
    for row, number in enumerate(sources):
        source = page["citing"][number]["source"]
        node = _node(0, row, rows - len(sources), source["key"], source["title"], str(source["year"] or ""))
        nodes.append(node)
        edges.append(GraphEdge(_curve(node, middle), f"citing-{number + 1}", page["citing"][number]["sentence"]))
    for row, reference in enumerate(cited):
        paper = reference["paper"]
        detail = " ".join(filter(None, (_who(paper["authors"]), str(paper["year"] or ""))))
        node = _node(own_column + 1, row, rows - len(cited), paper["key"], paper["title"], detail)
        nodes.append(node)
        title = f"has among its references: {paper['title'] or paper['key']}"
        edges.append(GraphEdge(_curve(middle, node), f"reference-{row + 1}", title))
    hidden = len(citing) - len(sources) + len(references) - len(cited)
    width = max(node.x for node in nodes) + _WIDTH + 10
    return CitationGraph(width, rows * _STEP + 10, _WIDTH, _HEIGHT, tuple(nodes), tuple(edges), hidden)


def _node(column: int, row: int, empty_rows: int, key: str, title: str, detail: str) -> GraphNode:
    name = title or key
    return GraphNode(
        10 + column * (_WIDTH + _GAP),
        10 + row * _STEP + empty_rows * _STEP // 2,  # the shorter columns are centred
        key,
        shorten(name, _LABEL, placeholder=" …") if " " in name[:_LABEL] else name[:_LABEL],
        shorten(detail, _LABEL, placeholder=" …"),
        name,
    )


def _who(authors: Sequence[str]) -> str:
    names = [author.split(",")[0] for author in authors]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def _curve(source: GraphNode, target: GraphNode) -> str:
    start_x, start_y = source.x + _WIDTH, source.y + _HEIGHT // 2
    end_x, end_y = target.x, target.y + _HEIGHT // 2
    middle = (start_x + end_x) // 2
    return f"M{start_x} {start_y} C{middle} {start_y} {middle} {end_y} {end_x} {end_y}"
