"""Text put into a file's bytes: all others stay, whatever the encoding."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from whycite.documents.sources import decode

__all__ = ["Insertion", "can_hold", "insert", "newline_at", "text_of"]

_MARKED = [
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text that comes into a file at an offset of its decoded text."""

    at: int
    text: str


def text_of(data: bytes) -> str:
    """The text of a file as readers see it; of one that is neither UTF-8 nor marked, one character a byte."""
    return decode(data)[0]


def insert(data: bytes, insertions: Sequence[Insertion]) -> bytes:
    """The bytes with the texts put in; ValueError where the file's encoding lacks one of their letters.

    Texts for the same place come in the order they are given in.
    """
    text = text_of(data)
    skipped, codec = _codec(data)
    pieces, at, text_at = [data[:skipped]], skipped, 0
    for insertion in sorted(insertions, key=lambda insertion: insertion.at):
        between = text[text_at : insertion.at]
        size = len(between.encode(codec)) if codec else len(between)
        pieces += [data[at : at + size], insertion.text.encode(codec or "ascii")]
        at, text_at = at + size, insertion.at
    return b"".join([*pieces, data[at:]])


def can_hold(data: bytes, text: str) -> bool:
    """Whether a file's encoding has all letters of a text."""
    return text.isascii() or _codec(data)[1] is not None


def newline_at(text: str, at: int) -> str:
    """The line end in use next to an offset: that of the line before, else of the file's first line."""
    before = [match[0] for match in _LINE_END.finditer(text, max(0, at - 10_000), at)]
    first = None if before else _LINE_END.search(text)
    return before[-1] if before else first[0] if first else "\n"


def _codec(data: bytes) -> tuple[int, str | None]:
    """How many bytes a mark at the start takes, and the encoding; none where each byte is a character."""
    for mark, name in _MARKED:
        if data.startswith(mark):
            return len(mark), name
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return 0, None
    return 0, "utf-8"
