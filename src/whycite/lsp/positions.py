"""Offsets of a text as positions of the protocol, which count lines from 0 and columns in units of the client."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from lsprotocol.types import Position, PositionEncodingKind, Range

__all__ = ["TextMap", "text_map"]

_LINE_END = re.compile(r"\r\n|\n|\r")  # no others: a form feed or a line separator does not end a line
_UNIT_SIZES = {PositionEncodingKind.Utf8: ("utf-8", 1), PositionEncodingKind.Utf16: ("utf-16-le", 2)}


class TextMap:
    """A text and where its lines start."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self._ends = [end.start() for end in _LINE_END.finditer(text)] + [len(text)]
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self._codec, self._size = _UNIT_SIZES.get(PositionEncodingKind(encoding), ("utf-32-le", 4))

    def position(self, offset: int) -> Position:
        """The position of an offset; one beyond the text is its end."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return Position(line, len(before) if before.isascii() else self._units(before))

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def offset(self, position: Position) -> int:
        """The offset of a position; one beyond a line is the line's end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[position.line], self._ends[position.line]
        line = self.text[start:end]
        if line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(character)
        return end

    def line_end(self, offset: int) -> int:
        """The offset of the end of a line, before its line break."""
        return self._ends[bisect_right(self._starts, max(0, min(offset, len(self.text)))) - 1]

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._size


@lru_cache(maxsize=32)
def text_map(text: str, encoding: str) -> TextMap:
    """The map of a text, which several answers share."""
    return TextMap(text, encoding)
