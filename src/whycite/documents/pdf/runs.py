"""What a PDF page holds, before any reading order: runs of characters in one font on one baseline."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Box", "Font", "Page", "Run"]

Box = tuple[float, float, float, float]  # x0, y0, x1, y1


@dataclass(frozen=True, slots=True, eq=False)
class Font:
    """What a font's name and flags tell."""

    name: str
    bold: bool
    italic: bool
    math: bool
    mono: bool
    capitals: bool  # small letters look like small capitals


@dataclass(slots=True)
class Run:
    """A word or part of one: characters without white space, in one font, on one baseline."""

    text: str
    x0: float
    x1: float
    y: float  # baseline, growing upwards
    size: float
    font: Font
    start: int  # range in the document's text; as long as `text` unless characters were composed
    end: int
    spaced: bool  # white space stands before it
    hyphen: bool = False  # pdfium took the hyphen after it for one at a line's end


@dataclass(slots=True)
class Page:
    """The runs of a page in the order of its content stream, its pictures and its horizontal rules."""

    number: int
    width: float
    height: float
    runs: list[Run]
    pictures: list[Box]
    rules: list[Box]
    scanned: bool = False  # an image covers most of it
    aside: str = ""  # what is written across the main direction
