"""What a place in a file stands in, and whether a citation may stand there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator

from whycite.documents.latex.text import LatexText

__all__ = ["Surroundings"]

# Commands whose argument is set as text; in those of others a citation may break.
_TEXT = frozenset(
    "emph textbf textit textsl textsc textrm textsf texttt textmd textup textnormal text mbox footnote footnotetext "
    "caption captionof subcaption textcolor colorbox parbox enquote enquote* textquote blockquote abstract abstracts "
    "added replaced underline sidenote item noindent par label".split()
)
_OWNER = re.compile(r"\\([A-Za-z@]+\*?)\s*(?:(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|<[^<>]{0,30}>)\s*)*\Z")
_BRACE = re.compile(r"\{")
_BRACKET = re.compile(r"\\[A-Za-z@]+\*?\s*(?:\{[^{}]{0,300}\}\s*)?(\[)")
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n")
_MARKDOWN = re.compile(r"\\.|(`+)(?:(?!\1)[^`]|`(?!\1))*?\1(?!`)|\[|\]", re.DOTALL)


class Surroundings:
    """A file's text, and what each place in it stands in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._source = LatexText(text, "")
        self._starts: list[int] = []
        self._above: list[int] = []  # for each brace, the index of the one around it, or -1
        self._paired = False

    def obstacle(self, at: int, format: str, allowed: Collection[str] = ()) -> str:
        """Why a citation must not stand at an offset; empty where it may. `allowed` commands may hold citations."""
        if format == "latex":
            return self._in_latex(at, allowed)
        return _in_markdown(self.text, at) if format == "markdown" else ""

    def owners(self, at: int) -> Iterator[str]:
        """The commands in whose arguments an offset lies, the innermost first; a bare group has the name ""."""
        self._pair()
        index = bisect_left(self._starts, at) - 1
        while index >= 0:
            start = self._starts[index]
            if (self._source.closing_brace(start) or 0) >= at:
                owner = _OWNER.search(self.text[max(0, start - 700) : start])
                yield owner[1] if owner else ""
            index = self._above[index]

    def _pair(self) -> None:
        """Find what is around each brace, once."""
        if self._paired:
            return
        self._paired = True
        opened: list[tuple[int, int]] = []  # index and end of those that are open
        for brace in _BRACE.finditer(self.text):
            close = self._source.closing_brace(brace.start())
            if close is None:
                continue
            while opened and opened[-1][1] < brace.start():
                opened.pop()
            self._above.append(opened[-1][0] if opened else -1)
            opened.append((len(self._starts), close))
            self._starts.append(brace.start())

    def _in_latex(self, at: int, allowed: Collection[str]) -> str:
        line = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        if _COMMENT.search(self.text, line, at):
            return "the sentence ends in a line with a comment"
        for owner in self.owners(at):
            if owner and owner not in _TEXT and owner not in allowed:
                return f"the sentence ends in the argument of \\{owner}, where a citation may not be possible"
        for bracket in _BRACKET.finditer(self.text, max(0, at - 3000), at):
            close = self._source.closing_bracket(bracket.start(1))
            if close is not None and close >= at:
                return "the sentence ends in an optional argument"
        return ""


def _in_markdown(text: str, at: int) -> str:
    start, end = 0, len(text)
    for blank in _PARAGRAPH.finditer(text):
        if blank.end() <= at:
            start = blank.end()
        else:
            end = max(at, blank.start())
            break
    opened: list[int] = []
    for mark in _MARKDOWN.finditer(text, start, end):
        if mark.start() < at < mark.end() and mark[0][0] == "`":
            return "the sentence ends in code"
        if mark[0] == "[":
            opened.append(mark.start())
        elif mark[0] == "]" and opened:
            begun = opened.pop()
            link = text.startswith(("(", "["), mark.end()) and text[begun - 1 : begun] not in ("!", "^")
            if begun < at <= mark.start() and link:
                return "the sentence ends in the text of a link"
    return ""
