"""What the style of a paragraph makes of it: a heading and its level, a caption, an item of a list, code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from whycite.documents.word.flow import ParagraphRole

__all__ = ["Style", "StyleSheet", "role_by_name"]

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko)[ _](\d)", re.IGNORECASE
)
_MAX_CHAIN = 30  # styles that are based on one another
# Names of built-in styles, and of those that pandoc and LibreOffice write.
_ROLES: dict[str, ParagraphRole] = {
    "title": "title", "subtitle": "front", "author": "front", "authors": "front", "date": "front",
    "affiliation": "front", "keywords": "front", "abstract": "abstract", "caption": "caption",
    "image caption": "caption", "table caption": "caption", "captioned figure": "caption",
    "illustration": "caption", "drawing": "caption",
    "bibliography": "reference", "endnote bibliography": "reference", "citavi bibliography entry": "reference",
    "source code": "code", "preformatted text": "code", "html preformatted": "code", "macro": "code",
    "list paragraph": "item", "list bullet": "item", "list number": "item", "list": "item", "compact": "item",
    "toc heading": "contents", "contents heading": "contents", "table of figures": "contents",
    "header": "contents", "footer": "contents",
}  # fmt: skip
_CONTENTS = re.compile(r"(?:toc|contents|index|user index|figure index|bibliography index) ?\d", re.IGNORECASE)


def role_by_name(name: str) -> tuple[ParagraphRole, int] | None:
    """What a style of this name says of a paragraph, and the level of a heading; None if it says nothing."""
    name = name.replace("_20_", " ").strip().lower()
    if heading := _HEADING.fullmatch(name):
        return "heading", int(heading[1])
    if name == "abstract title":
        return "heading", 1
    if _CONTENTS.fullmatch(name):
        return "contents", 0
    return (_ROLES[name], 0) if name in _ROLES else None


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its name, what it is based on, and what it sets itself."""

    name: str
    based_on: str = ""
    outline: int | None = None  # the level of a heading, from 1; 0 if it is said to be none
    numbered: bool = False


class StyleSheet:
    """The paragraph styles of a document by id."""

    def __init__(self, styles: dict[str, Style]) -> None:
        self._styles = styles

    def role(self, id: str) -> tuple[ParagraphRole, int]:
        """What a paragraph of this style is, and the level of a heading."""
        for style in self._chain(id):
            role = role_by_name(style.name)
            if role and role[0] != "heading":
                return role
            if style.outline is not None:
                return ("heading", style.outline) if style.outline else ("body", 0)
            if role:
                return role
        return "body", 0

    def is_numbered(self, id: str) -> bool:
        """Whether the word processor numbers paragraphs of this style."""
        return any(style.numbered for style in self._chain(id))

    def _chain(self, id: str) -> Iterable[Style]:
        for _ in range(_MAX_CHAIN):
            if id not in self._styles:
                return
            yield self._styles[id]
            id = self._styles[id].based_on
