"""Directives, divs and code cells: which hold prose, and the captions and files they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.markup.stretch import Span

__all__ = ["CAPTIONED", "TRANSPARENT", "cell_captions", "children", "div_kind"]

# Directives whose text is part of the paper.
TRANSPARENT = frozenset(
    "note warning tip important caution danger hint seealso attention error admonition figure epigraph proof prf "
    "theorem lemma dropdown margin sidebar aside topic grid grid-item card tab-set tab-item exercise solution abstract "
    "div container quote pull-quote blockquote subfigure highlights keypoints plain-language-summary".split()
)
# Directives whose argument is a caption.
CAPTIONED = frozenset("table list-table csv-table".split())
_CELL = re.compile(r"[ \t]*(?:#|//|%%|--)\|[ \t]*(?:fig|tbl|lst)-(?:sub)?cap:[ \t]*([\"']?)([^\n]*[^\s])")
_HEADER = re.compile(r"\b(?:fig|tbl|tab)\.cap[ \t]*=[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)')")
_CHILD = re.compile(r"\bchild[ \t]*=[ \t]*(?:c\()?([^)\n}]{1,2000})")
_QUOTED = re.compile(r"[\"']([^\"'\n]{1,300})[\"']")
_FLOAT = re.compile(r"#(?:fig|tbl|lst)[-:]")


def cell_captions(text: str, start: int, end: int) -> Iterator[Span]:
    """Where captions stand in a line of a code cell: "#| fig-cap: …", or "fig.cap = …" in its head."""
    cell = _CELL.match(text, start, end)
    if cell:
        yield cell.start(2), cell.end(2) - (1 if cell[1] and cell[2].endswith(cell[1]) else 0)
        return
    for header in _HEADER.finditer(text, start, end):
        yield header.span(1) if header[1] is not None else header.span(2)


def children(info: str) -> list[str]:
    """The files a code cell of R Markdown stands for."""
    child = _CHILD.search(info) if "child" in info else None
    return _QUOTED.findall(child[1]) if child else []


def div_kind(info: str) -> str:
    """What a fenced div is: "refs", "caption" where its text is one, "code", or nothing special."""
    if "#refs" in info:
        return "refs"
    directive = re.match(r"\{([A-Za-z][\w:.+-]{0,39})\}", info)
    if directive:
        name = directive[1].lower().partition(":")[0]
        return "caption" if name == "figure" else "" if name in TRANSPARENT else "code"
    return "caption" if _FLOAT.search(info) else ""
