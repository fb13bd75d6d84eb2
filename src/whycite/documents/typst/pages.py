"""A Typst file being read, and where the things in it end that are skipped as a whole."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

__all__ = ["Page"]

_COMMENT = re.compile(r"/\*|\*/")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_MATH = re.compile(r"\$((?:[^$\\]|\\.)*)\$", re.DOTALL)
_TICKS = re.compile(r"`+")
_LABEL = re.compile(r"<([^\W\d][\w:.-]*)>")


@dataclass
class Page:
    """A file being read; a search in vain is not made twice."""

    file: str
    text: str
    above: tuple[str, ...] = ()  # the files that include it
    _missing: set[str] = field(default_factory=set)
    _unclosed: int = sys.maxsize  # signs of raw text that does not close

    def line_number(self, at: int) -> int:
        """The number of the line an offset is in."""
        return self.text.count("\n", 0, at) + 1

    def comment_end(self, at: int) -> int:
        """Where the comment that begins here ends; block comments nest."""
        if self.text.startswith("//", at):
            end = self.text.find("\n", at)
            return end if end >= 0 else len(self.text)
        depth = 0
        for mark in _COMMENT.finditer(self.text, at):
            depth += 1 if mark[0] == "/*" else -1
            if not depth:
                return mark.end()
        return len(self.text)

    def string(self, at: int) -> re.Match[str] | None:
        """The string that begins here."""
        return self._whole(_STRING, at)

    def math(self, at: int) -> re.Match[str] | None:
        """The formula that begins here."""
        return self._whole(_MATH, at)

    def label(self, at: int) -> re.Match[str] | None:
        """The label that stands here."""
        return _LABEL.match(self.text, at)

    def raw(self, at: int) -> tuple[int, int, int]:
        """Where the text of raw text begins and ends, and where it ends itself; it may be empty."""
        ticks = _TICKS.match(self.text, at)
        size = len(ticks[0]) if ticks else 1
        start = at + size
        if size == 2:
            return start, start, start
        close = self.text.find("`" * size, start) if size < self._unclosed else -1
        if close < 0:
            self._unclosed = min(size, self._unclosed)  # nor is anything longer closed further on
            return start, start, start
        return start, close, close + size

    def _whole(self, form: re.Pattern[str], at: int) -> re.Match[str] | None:
        if form.pattern in self._missing:
            return None
        found = form.match(self.text, at)
        if found is None:
            self._missing.add(form.pattern)
        return found
