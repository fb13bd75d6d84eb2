"""The parts of a Word package beside its text: styles, notes, and the properties of the document."""

from __future__ import annotations

from collections.abc import Iterable

from whycite.documents.word.flow import Style, StyleSheet, attribute_number
from whycite.documents.word.package import Package
from whycite.documents.xmltree import Node, plain_text, texts

__all__ = ["core_title", "custom_properties", "outline_level", "read_notes", "read_styles"]

_MAX_CHAIN = 10  # styles of characters that are based on one another


def core_title(package: Package) -> str:
    """The title in the properties of a document, which often is that of a template."""
    root = package.root("docProps/core.xml")
    return plain_text(root.find("title")) if root else ""


def outline_level(node: Node) -> int:
    """The level of a heading, from 1; 0 for body text."""
    value = attribute_number(node, "val", 9)
    return value + 1 if value < 9 else 0


def read_styles(package: Package, main: str) -> tuple[StyleSheet, frozenset[str]]:
    """The styles of paragraphs, and the ids of those of characters that raise them."""
    roots = (package.root(part) for part in package.related(main, "styles"))
    styles = [style for root in roots if root for style in root.find_all("style")]
    return _style_sheet(styles), _raised_styles(styles)


def _style_sheet(nodes: Iterable[Node]) -> StyleSheet:
    styles: dict[str, Style] = {}
    for style in nodes:
        if style.attributes.get("type", "paragraph") != "paragraph":
            continue
        name, based_on = style.find("name"), style.find("basedOn")
        outline = style.find("pPr", "outlineLvl")
        numbering = style.find("pPr", "numPr", "numId")
        styles[style.attributes.get("styleId", "")] = Style(
            name.attributes.get("val", "") if name is not None else "",
            based_on.attributes.get("val", "") if based_on is not None else "",
            outline_level(outline) if outline is not None else None,
            numbering is not None and numbering.attributes.get("val") != "0",
        )
    return StyleSheet(styles)


def _raised_styles(nodes: Iterable[Node]) -> frozenset[str]:
    """The styles that raise characters, or are based on one that does."""
    styles: dict[str, tuple[str, str]] = {}  # how each places characters, and what it is based on
    for style in nodes:
        if style.get("type") == "character":
            place, based_on = style.find("rPr", "vertAlign"), style.find("basedOn")
            styles[style.get("styleId")] = (
                place.get("val") if place is not None else "",
                based_on.get("val") if based_on is not None else "",
            )
    raised = {id for id, (place, _) in styles.items() if place == "superscript"}
    for _ in range(_MAX_CHAIN if raised else 0):
        raised |= {id for id, (place, based_on) in styles.items() if not place and based_on in raised}
    return frozenset(raised)


def read_notes(package: Package, main: str, kind: str) -> tuple[str, dict[str, Node]]:
    """The part with the footnotes or endnotes, and the notes by id, without separators."""
    for part in package.related(main, f"{kind}s"):
        root = package.root(part)
        notes = {
            note.attributes.get("id", ""): note
            for note in (root.find_all(kind) if root else ())
            if note.attributes.get("type", "normal") == "normal"
        }
        return part, notes
    return "", {}


def custom_properties(package: Package) -> dict[str, str]:
    """The properties of a document that programs added."""
    root = package.root("docProps/custom.xml")
    return {
        property.get("name"): "".join(
            text for value in property.children if isinstance(value, Node) for text in texts(value)
        )
        for property in (root.find_all("property") if root else ())
    }
