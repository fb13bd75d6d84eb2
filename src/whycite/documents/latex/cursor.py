"""LaTeX text that maps back to its file, and a cursor that reads commands and arguments from it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from whycite.documents.latex.commands import VERBATIM

__all__ = ["MAX_VERB", "Cursor", "LatexFrame", "LatexRange", "LatexText"]


_VERBATIM_NAMES = "|".join(re.escape(name) for name in sorted(VERBATIM))
# Anything that changes brace depth, opens or closes an environment, or hides either.
_LANDMARK = re.compile(
    rf"(?P<verbatim>\\begin\s*\{{(?:{_VERBATIM_NAMES})\}})"
    r"|\\(?:verb|lstinline|mintinline)(?![A-Za-z])\*?(?:\[[^\]\n]{0,200}\])?(?P<mark>[^A-Za-z\s*{])"
    r"|\\(?:url|href|path|nolinkurl)\s*(?:\[[^\]\n]{0,200}\])?\{(?P<address>[^{}\n]{0,2000})\}"
    r"|\\(?P<edge>begin|end)\s*\{(?P<name>[^{}\\\n]{1,60})\}"
    r"|(?P<display>\\[\[\]()])"
    r"|\\(?:.|\n|$)"
    r"|%[^\n\r]*"
    r"|(?P<brace>[{}])|(?P<bracket>[\[\]])"
)
_OPENER = {"\\]": "\\[", "\\)": "\\("}
_PARAGRAPH_END = re.compile(r"(?:\r?\n|\r(?!\n))[ \t]*(?:\r?\n|\r(?!\n))")


class LatexText:
    """The text of a file or of a macro expansion; `starts` and `ends` say where each character came from."""

    def __init__(
        self, text: str, file: str, starts: Sequence[int] | None = None, ends: Sequence[int] | None = None
    ) -> None:
        self.text = text
        self.file = file
        self._starts = starts
        self._ends = ends
        self.is_file = starts is None  # not an expansion

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The range of the file that a range of this text came from."""
        if self._starts is None or self._ends is None:
            return start, end
        if start >= end:
            index = min(start, len(self._starts) - 1)
            return (self._starts[index], self._starts[index]) if self._starts else (0, 0)
        return min(self._starts[start:end]), max(self._ends[start:end])

    def origins(self, start: int, end: int) -> tuple[Sequence[int], Sequence[int]]:
        """Where each character of a range starts and ends in the file."""
        if self._starts is None or self._ends is None:
            return range(start, end), range(start + 1, end + 1)
        return self._starts[start:end], self._ends[start:end]

    def runs(self, start: int, end: int) -> list[tuple[int, int]]:
        """The range, split where its characters stop matching the file one for one."""
        if self._starts is None or self._ends is None:
            return [(start, end)]
        cuts = [start]
        for index in range(start + 1, end):
            if self._starts[index] != self._starts[index - 1] + 1 and self._starts[index] != self._starts[index - 1]:
                cuts.append(index)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def is_exact(self, start: int, end: int) -> bool:
        """Whether the characters of a run match the file one for one."""
        return self._starts is None or self._starts[end - 1] - self._starts[start] == end - 1 - start

    def is_argument(self, index: int) -> bool:
        """Whether a character of an expansion comes from an argument, not from the macro's body."""
        return self._starts is not None and self._ends is not None and self._ends[index] - self._starts[index] == 1

    def closing_brace(self, start: int) -> int | None:
        """Where the brace opened at `start` closes, or None."""
        return self._landmarks.braces.get(start)

    def closing_bracket(self, start: int) -> int | None:
        """Where the square bracket opened at `start` closes, outside of braces opened since."""
        return self._landmarks.brackets.get(start)

    def environment_end(self, name: str, begin: int) -> int | None:
        """Where the environment begun at `begin` ends (its `\\end`, the `\\]` of a `\\[`), or None."""
        return self._landmarks.environments.get((name, begin))

    def paragraph_end(self, offset: int) -> int:
        """Where the paragraph at `offset` ends."""
        index = bisect_left(self._paragraph_ends, offset)
        return self._paragraph_ends[index] if index < len(self._paragraph_ends) else len(self.text)

    def line(self, offset: int) -> int:
        """The line number, from 1, of an offset in the file."""
        return bisect_right(self._line_starts, offset)

    @property
    def unclosed_braces(self) -> list[int]:
        """Braces that are opened and never closed."""
        return self._landmarks.unclosed_braces

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]

    @cached_property
    def _paragraph_ends(self) -> list[int]:
        return [match.start() for match in _PARAGRAPH_END.finditer(self.text)]

    @cached_property
    def _landmarks(self) -> _Landmarks:
        return _survey(self.text)


@dataclass(slots=True)
class _Landmarks:
    """Which opening belongs to which closing; look-ups take constant time, whatever the input."""

    braces: dict[int, int] = field(default_factory=dict)
    brackets: dict[int, int] = field(default_factory=dict)
    environments: dict[tuple[str, int], int] = field(default_factory=dict)
    unclosed_braces: list[int] = field(default_factory=list)


def _survey(text: str) -> _Landmarks:
    """One pass over the text that pairs braces, brackets and environments."""
    landmarks = _Landmarks()
    open_brackets: list[list[int]] = [[]]  # per depth of braces
    open_names: dict[str, list[int]] = {}
    endless_names: set[str] = set()  # verbatim environments without another end
    position: int | None = 0
    while position is not None:
        position = _survey_from(text, position, landmarks, open_brackets, open_names, endless_names)
    return landmarks


def _survey_from(
    text: str,
    position: int,
    landmarks: _Landmarks,
    open_brackets: list[list[int]],
    open_names: dict[str, list[int]],
    endless_names: set[str],
) -> int | None:
    """Continue the survey up to something that hides all landmarks in it; returns where that ends."""
    open_braces = landmarks.unclosed_braces
    for match in _LANDMARK.finditer(text, position):
        start, end, kind = match.start(), match.end(), match.lastgroup
        if kind is None:
            continue
        if kind == "brace":
            if text[start] == "{":
                open_braces.append(start)
                open_brackets.append([])
            elif open_braces:
                landmarks.braces[open_braces.pop()] = start
                open_brackets.pop()
        elif kind == "bracket":
            if text[start] == "[":
                open_brackets[-1].append(start)
            else:
                landmarks.brackets.update(dict.fromkeys(open_brackets[-1], start))
                open_brackets[-1].clear()
        elif kind == "address":
            landmarks.braces[match.start("address") - 1] = end - 1
        elif kind == "verbatim":
            brace = text.index("{", start)
            landmarks.braces[brace] = end - 1
            name = text[brace + 1 : end - 1]
            close = -1 if name in endless_names else text.find(f"\\end{{{name}}}", end)
            if close >= 0:
                landmarks.environments[name, start] = close
                return close + len(name) + 6
            endless_names.add(name)
        elif kind == "mark":
            close = text.find(match["mark"], end, end + MAX_VERB)
            if close >= 0:
                return close + 1
        elif kind == "name":
            name = match["name"]
            landmarks.braces[text.index("{", start)] = end - 1
            if match["edge"] == "begin":
                open_names.setdefault(name, []).append(start)
                continue
            if open_names.get(name):
                landmarks.environments[name, open_names[name].pop()] = start
        elif (sign := match[0]) in _OPENER:
            opener = _OPENER[sign]
            landmarks.environments.update({(opener, begin): start for begin in open_names.pop(opener, [])})
        else:
            open_names.setdefault(sign, []).append(start)
    return None


_BLANK = re.compile(r"(?:[ \t\r\n]|%[^\n\r]*(?:\r\n|\n|\r|$))*")
_CONTROL = re.compile(r"\\(?:[A-Za-z@]+|.)", re.DOTALL)
_MAX_OPTION = 2000  # characters; anything longer is text in brackets, not an optional argument
_MAX_NOTE = 200  # characters of an argument in parentheses or angle brackets
_MAX_NAME = 200  # characters of a name between \csname and \endcsname
MAX_VERB = 500  # characters of inline code


@dataclass(slots=True)
class LatexFrame:
    """A stretch of text being read; `name` is the file or macro, which must not be entered again meanwhile."""

    source: LatexText
    pos: int
    end: int
    name: str = ""
    on_end: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class LatexRange:
    """A stretch of text found by the cursor."""

    source: LatexText
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


class Cursor:
    """Reads the arguments of commands, which may lie beyond the end of the macro that needs them."""

    def __init__(self) -> None:
        self.frames: list[LatexFrame] = []
        self.active: dict[str, int] = {}  # names of files and macros being read

    @property
    def frame(self) -> LatexFrame:
        return self.frames[-1]

    def push(self, frame: LatexFrame) -> None:
        self.frames.append(frame)
        if frame.name:
            self.active[frame.name] = self.active.get(frame.name, 0) + 1

    def pop(self) -> None:
        frame = self.frames.pop()
        if frame.name:
            self.active[frame.name] -= 1
        if frame.on_end:
            frame.on_end()

    def skip_blank(self) -> int:
        """Skip white space and comments, also out of finished expansions; returns where that began in this frame."""
        while True:
            frame = self.frame
            start = frame.pos
            match = _BLANK.match(frame.source.text, start, frame.end)
            frame.pos = match.end() if match else start
            if frame.pos < frame.end or frame.source.is_file or frame.on_end or len(self.frames) == 1:
                return start
            self.pop()

    def peek(self) -> str:
        """The next character, or "" at the end."""
        frame = self.frame
        return frame.source.text[frame.pos] if frame.pos < frame.end else ""

    def optional_argument(self, opening: str = "[") -> LatexRange | None:
        """The content of an optional argument, if one comes next."""
        start = self.skip_blank()
        frame = self.frame
        if self.peek() == opening and (close := _closing_bracket(frame, opening)) is not None:
            argument = LatexRange(frame.source, frame.pos + 1, close)
            frame.pos = close + 1
            return argument
        frame.pos = start  # the skipped white space may end a paragraph
        return None

    def mandatory_argument(self) -> LatexRange | None:
        """A mandatory argument: a group, else a control sequence, else one character; None at the end."""
        blank_start = self.skip_blank()
        frame = self.frame
        text, start = frame.source.text, frame.pos
        if frame.source.paragraph_end(blank_start) < start:  # the argument is missing at the end of a paragraph
            frame.pos = blank_start
            return None
        if start >= frame.end or text[start] == "}":
            return None
        if text[start] == "{":
            close = frame.source.closing_brace(start)
            if close is not None and close < frame.end:
                frame.pos = close + 1
                return LatexRange(frame.source, start + 1, close)
            frame.pos = min(frame.source.paragraph_end(start), frame.end)
            return LatexRange(frame.source, start + 1, frame.pos)
        match = _CONTROL.match(text, start, frame.end)
        frame.pos = match.end() if match else start + 1
        return LatexRange(frame.source, start, frame.pos)

    def group(self) -> LatexRange | None:
        """A mandatory argument in braces, or None if something else comes next."""
        start = self.skip_blank()
        if self.peek() == "{":
            return self.mandatory_argument()
        self.frame.pos = start
        return None

    def short_group(self) -> LatexRange | None:
        """A group that cannot contain a blank line, such as a heading or key; one that does was never closed."""
        group = self.group()
        if group is None or group.end <= group.source.paragraph_end(group.start):
            return group
        text = group.source.text
        end = min(
            (position for position in (text.find(sign, group.start) for sign in "\r\n") if position >= 0),
            default=group.end,
        )
        self.frame.pos = end
        return LatexRange(group.source, group.start, end)

    def raw_group(self) -> LatexRange | None:
        """A group in which % is not a comment and braces do not nest: an address, a file name."""
        self.skip_blank()
        frame = self.frame
        close = frame.source.text.find("}", frame.pos, min(frame.end, frame.pos + _MAX_OPTION))
        if self.peek() != "{" or close < 0:
            return None
        group = LatexRange(frame.source, frame.pos + 1, close)
        frame.pos = close + 1
        return group

    def control_word(self) -> str | None:
        """The name of the control sequence that comes next, bare or in braces."""
        argument = self.mandatory_argument()
        match = _CONTROL.match(argument.text.strip()) if argument else None
        if match and match[0] == "\\csname":
            return self._spelled_name()
        return match[0][1:] if match else None

    def _spelled_name(self) -> str | None:
        """The name spelled out between `\\csname` and `\\endcsname`."""
        frame = self.frame
        end = frame.source.text.find("\\endcsname", frame.pos, min(frame.end, frame.pos + _MAX_NAME))
        if end < 0:
            return None
        name = frame.source.text[frame.pos : end].strip()
        frame.pos = end + len("\\endcsname")
        return name or None


def _closing_bracket(frame: LatexFrame, opening: str) -> int | None:
    """Where an optional argument ends, or None if it is too long to be one."""
    start = frame.pos + 1
    if opening == "[":
        close = frame.source.closing_bracket(frame.pos)
    else:
        close = frame.source.text.find({"(": ")", "<": ">"}[opening], start, start + _MAX_NOTE)
    limit = min(frame.end, start + _MAX_OPTION, frame.source.paragraph_end(start))
    return close if close is not None and 0 <= close < limit else None
