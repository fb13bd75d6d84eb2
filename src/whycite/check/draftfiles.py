"""The files of a draft: lines and columns of offsets, and comments like `% whycite: ignore`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from whycite.documents.model import Sentence
from whycite.documents.reading import source_text

__all__ = ["DraftFile", "DraftFiles"]

_LINE = re.compile(r"\r\n|\n|\r")
_DIRECTIVE = r"whycite:[ \t]*(ignore(?:-file|-start|-end)?)(?:[ \t]*\[([^\]\r\n]*)\]|(?![\w-]))"
_COMMENTS = {
    "latex": re.compile(rf"(?<!\\)%[ \t%]*{_DIRECTIVE}"),
    "markdown": re.compile(rf"<!--\s*{_DIRECTIVE}"),
    "typst": re.compile(rf"(?<!:)//[ \t/]*{_DIRECTIVE}"),
}
_EVERYTHING = ""  # in place of a rule: sentences that are not checked at all


class _IgnoredText:
    """The parts of a file that comments exclude from the check, or from one rule."""

    def __init__(self) -> None:
        self.is_whole = False  # by `ignore-file`
        self.lines: set[int] = set()  # by `ignore`
        self._starts: list[int] = []
        self._ends: list[int] = []

    def begin(self, offset: int) -> None:
        """Exclude what follows; within an excluded passage it means nothing."""
        if len(self._starts) == len(self._ends):
            self._starts.append(offset)

    def end(self, offset: int) -> None:
        """Include what follows again."""
        if len(self._starts) > len(self._ends):
            self._ends.append(offset)

    def contains(self, start: int, lines: range) -> bool:
        """Whether text that starts at an offset and covers these lines is excluded."""
        if self.is_whole or not self.lines.isdisjoint(lines):
            return True
        range_count = bisect_right(self._starts, start)
        return range_count > 0 and (range_count > len(self._ends) or start < self._ends[range_count - 1])


class DraftFile:
    """A file of a draft."""

    def __init__(self, text: str, format: str) -> None:
        self._text = text
        self._starts = [0, *(end.end() for end in _LINE.finditer(text))]
        self._ignored: dict[str, _IgnoredText] = {}  # by rule
        self.rule_lines: dict[str, int] = {}  # the first line that names each rule
        if pattern := _COMMENTS.get(format):
            self._read_directives(text, pattern)

    def _read_directives(self, text: str, pattern: re.Pattern[str]) -> None:
        for comment in pattern.finditer(text):
            directive, line = comment[1], self.line(comment.start())
            rules = [_EVERYTHING] if comment[2] is None else [rule for rule in re.split(r"[,\s]+", comment[2]) if rule]
            for rule in rules:
                if rule != _EVERYTHING:
                    self.rule_lines.setdefault(rule, line)
                ignored = self._ignored.setdefault(rule, _IgnoredText())
                if directive == "ignore-file":
                    ignored.is_whole = True
                elif directive == "ignore-start":
                    ignored.begin(comment.start())
                elif directive == "ignore":
                    ignored.lines.add(line)
                    # On a line of its own, it applies to the next line, too.
                    if not text[self._starts[line - 1] : comment.start()].strip():
                        ignored.lines.add(line + 1)
            if directive == "ignore-end":
                # Without rules, it ends whatever was begun.
                for rule in rules if comment[2] is not None else list(self._ignored):
                    self._ignored[rule].end(comment.start())

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, from 1."""
        line = self.line(offset)
        return line, offset - self._starts[line - 1] + 1

    def text_after(self, offset: int, length: int) -> str:
        """The next characters of the file."""
        return self._text[offset : offset + length]

    def ignores(self, start: int, end: int) -> bool:
        """Whether a comment excludes the text from start to end."""
        return _EVERYTHING in self._rules(start, end)

    def ignored_rules(self, start: int, end: int) -> frozenset[str]:
        """The rules that comments exclude for the text from start to end."""
        return self._rules(start, end) - {_EVERYTHING}

    def _rules(self, start: int, end: int) -> frozenset[str]:
        lines = range(self.line(start), self.line(max(start, end - 1)) + 1)
        return frozenset(rule for rule, ignored in self._ignored.items() if ignored.contains(start, lines))


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

    def rule_places(self) -> Iterator[tuple[str, str, int]]:
        """Each rule that comments of the files read so far name, with the file and its first line there."""
        for name, file in self._files.items():
            for rule, line in file.rule_lines.items():
                yield rule, name, line

    def _text(self, file: str) -> str:
        if file in self._contents:
            return self._contents[file]
        return source_text(file) or ""
