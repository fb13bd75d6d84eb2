"""A Markdown file being read, and what is open in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from whycite.documents.markdown.lines import LINE
from whycite.documents.markup.stretch import Span

__all__ = ["Page", "lines_of"]


@dataclass
class Page:
    """A file being read."""

    file: str
    text: str  # without comments
    spans: list[Span]  # its lines
    above: tuple[str, ...] = ()  # the files that include it
    at: int = 0  # the next line
    skip: int = 0  # lines that begin before this offset are left out
    fence: str = ""  # the signs that opened the code we are in
    fences: list[tuple[str, str]] = field(default_factory=list)  # signs and kind of directives that are read
    divs: list[str] = field(default_factory=list)  # the kinds of those that are open
    _missing: set[str] = field(default_factory=set)

    def find(self, what: str, start: int) -> int:
        """Where the next `what` is, or -1; a search in vain is remembered."""
        at = -1 if what in self._missing else self.text.find(what, start)
        if at < 0:
            self._missing.add(what)
        return at

    def line_number(self, at: int) -> int:
        """The number of the line an offset is in."""
        return self.text.count("\n", 0, at) + 1


def lines_of(text: str, start: int = 0) -> list[Span]:
    """The lines of a text from an offset on, with their ends."""
    return [match.span() for match in LINE.finditer(text, start) if match[0]]
