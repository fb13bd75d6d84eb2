"""The files of a draft as text: lines and columns of offsets, and what its comments ask to leave alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from whycite.documents.model import Sentence
from whycite.documents.sources import decode

__all__ = ["Text", "Texts"]

_LINE = re.compile(r"\r\n|\n|\r")
_ASKED = r"whycite:[ \t]*(ignore(?:-file|-start|-end)?)(?![\w-])"
_COMMENTS = {
    "latex": re.compile(rf"(?<!\\)%[ \t%]*{_ASKED}"),
    "markdown": re.compile(rf"<!--\s*{_ASKED}"),
    "typst": re.compile(rf"(?<!:)//[ \t/]*{_ASKED}"),
}


class Text:
    """One file."""

    def __init__(self, text: str, format: str) -> None:
        self._starts = [0, *(end.end() for end in _LINE.finditer(text))]
        self.whole = False  # whether all of it is left alone
        self._lines: set[int] = set()  # whose sentences are left alone
        self._from: list[int] = []
        self._to: list[int] = []
        if pattern := _COMMENTS.get(format):
            self._read(text, pattern)

    def _read(self, text: str, pattern: re.Pattern[str]) -> None:
        for comment in pattern.finditer(text):
            asked, line = comment[1], self.line(comment.start())
            if asked == "ignore-file":
                self.whole = True
            elif asked == "ignore-start":
                if len(self._from) == len(self._to):
                    self._from.append(comment.start())
            elif asked == "ignore-end":
                if len(self._from) > len(self._to):
                    self._to.append(comment.start())
            else:
                self._lines.add(line)
                # Alone on its line it means the next one; behind a sentence it does not.
                if not text[self._starts[line - 1] : comment.start()].strip():
                    self._lines.add(line + 1)

    def line(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return bisect_right(self._starts, offset)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, counted from 1."""
        line = self.line(offset)
        return line, offset - self._starts[line - 1] + 1

    def ignores(self, start: int, end: int) -> bool:
        """Whether a comment asks to leave the text from start to end alone."""
        if self.whole or any(
            line in self._lines for line in range(self.line(start), self.line(max(start, end - 1)) + 1)
        ):
            return True
        begun = bisect_right(self._from, start)
        return begun > 0 and (begun > len(self._to) or start < self._to[begun - 1])


class Texts:
    """The files of a draft by the names that its sentences give; each is read once."""

    def __init__(self, format: str, known: Mapping[str, str] | None = None) -> None:
        self._format = format
        self._known = known or {}
        self._opened: dict[str, Text] = {}

    def of(self, sentence: Sentence) -> Text:
        """The file of a sentence; one that is not on disk (in an archive) has one line."""
        if sentence.file not in self._opened:
            self._opened[sentence.file] = Text(self._text(sentence.file), self._format)
        return self._opened[sentence.file]

    def _text(self, file: str) -> str:
        if file in self._known:
            return self._known[file]
        try:
            return decode(Path(file).read_bytes())[0]
        except OSError:
            return ""
