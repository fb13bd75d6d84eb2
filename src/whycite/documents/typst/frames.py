"""What is open at a place in a Typst file: content, calls, statements; and what content in them is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Frame", "Purpose", "purpose_of"]

Shape = Literal["content", "line", "call", "block", "statement", "control"]
Purpose = Literal["text", "dropped", "caption", "footnote", "heading", "title", "abstract", "author", "cell"]

_SCRAPS = ("table", "table.cell", "table.header", "table.footer", "figure")
_BY_NAME: dict[str, Purpose] = {
    "footnote": "footnote",
    "heading": "heading",
    "title": "title",
    "abstract": "abstract",
    "figure.caption": "caption",
    **dict.fromkeys(
        "image raw bibliography cite hide todo comment outline metadata counter state else math.equation mitex mi "
        "pagebreak colbreak h v line rect circle".split(),
        "dropped",
    ),
    **dict.fromkeys(_SCRAPS, "cell"),
}
_PROSE_ARGUMENTS = ("", "body")


@dataclass(slots=True)
class Frame:
    """Something that is open; `statement` and `authors` are those of what it stands in."""

    shape: Shape
    start: int  # of the "#" or bracket
    name: str = ""  # of the function or the keyword
    argument: str = ""  # the named argument we are in
    statement: str = ""  # let, set, show, import
    authors: bool = False  # in an argument that names authors
    scrap: bool = False  # in a table or figure: of its content only what cites is kept
    purpose: Purpose = "text"
    level: int = 1  # of a heading
    brackets: int = 0  # that are open in the text
    strings: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @property
    def is_markup(self) -> bool:
        return self.shape in ("content", "line")

    @property
    def holds_scraps(self) -> bool:
        """Whether content in this is at most a cell."""
        return self.scrap or self.name in _SCRAPS


def purpose_of(name: str, argument: str, statement: str, authors: bool = False) -> Purpose:
    """What a content block is for, by the function, the named argument and the statement it stands in."""
    if statement == "let":
        return "title" if name == "title" else "abstract" if name == "abstract" else "dropped"
    if statement == "set":
        return "title" if name == "document" and argument == "title" else "dropped"
    if statement == "show":
        if authors:
            return "author" if argument in ("", "name") else "dropped"
        return "title" if argument == "title" else "abstract" if argument == "abstract" else "dropped"
    if statement:
        return "dropped"
    if argument == "caption":
        return "caption"
    if argument not in _PROSE_ARGUMENTS:
        return "dropped"
    return _BY_NAME.get(name, "text")
