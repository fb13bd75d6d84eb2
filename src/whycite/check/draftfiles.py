"""The files of a draft: lines and columns of offsets, and comments like `% whycite: ignore`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from whycite.documents.model import Sentence
from whycite.documents.sources import decode

__all__ = ["DraftFile", "DraftFiles"]

_LINE = re.compile(r"\r\n|\n|\r")
_DIRECTIVE = r"whycite:[ \t]*(ignore(?:-file|-start|-end)?)(?![\w-])"
_COMMENTS = {
    "latex": re.compile(rf"(?<!\\)%[ \t%]*{_DIRECTIVE}"),
    "markdown": re.compile(rf"<!--\s*{_DIRECTIVE}"),
    "typst": re.compile(rf"(?<!:)//[ \t/]*{_DIRECTIVE}"),
}


class DraftFile:
    """A file of a draft."""

    def __init__(self, text: str, format: str) -> None:
        self._starts = [0, *(end.end() for end in _LINE.finditer(text))]
        self.is_ignored = False  # by `ignore-file`
        self._ignored_lines: set[int] = set()  # by `ignore`
        self._ignore_starts: list[int] = []
        self._ignore_ends: list[int] = []
        if pattern := _COMMENTS.get(format):
            self._read_directives(text, pattern)

    def _read_directives(self, text: str, pattern: re.Pattern[str]) -> None:
        for comment in pattern.finditer(text):
            directive, line = comment[1], self.line(comment.start())
            if directive == "ignore-file":
                self.is_ignored = True
            elif directive == "ignore-start":
                if len(self._ignore_starts) == len(self._ignore_ends):
                    self._ignore_starts.append(comment.start())
            elif directive == "ignore-end":
                if len(self._ignore_starts) > len(self._ignore_ends):
                    self._ignore_ends.append(comment.start())
            else:
                self._ignored_lines.add(line)
                # On a line of its own, it applies to the next line, too.
                if not text[self._starts[line - 1] : comment.start()].strip():
                    self._ignored_lines.add(line + 1)

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, from 1."""
        line = self.line(offset)
        return line, offset - self._starts[line - 1] + 1

    def ignores(self, start: int, end: int) -> bool:
        """Whether a comment excludes the text from start to end."""
        if self.is_ignored or any(
            line in self._ignored_lines for line in range(self.line(start), self.line(max(start, end - 1)) + 1)
        ):
            return True
        range_count = bisect_right(self._ignore_starts, start)
        return range_count > 0 and (range_count > len(self._ignore_ends) or start < self._ignore_ends[range_count - 1])


class DraftFiles:
    """The files of a draft, by the names in its sentences; each is read once."""

    def __init__(self, format: str, contents: Mapping[str, str] | None = None) -> None:
        self._format = format
        self._contents = contents or {}
        self._files: dict[str, DraftFile] = {}

    def file_of(self, sentence: Sentence) -> DraftFile:
        """The file of a sentence; one that is not on disk (in an archive) is a single line."""
        if sentence.file not in self._files:
            self._files[sentence.file] = DraftFile(self._text(sentence.file), self._format)
        return self._files[sentence.file]

    def _text(self, file: str) -> str:
        if file in self._contents:
            return self._contents[file]
        try:
            return decode(Path(file).read_bytes())[0]
        except OSError:
            return ""
