"""A reading position in LaTeX text: a stack of files, macro expansions and captured arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from whycite.documents.latex.text import LatexText

__all__ = ["Cursor", "Frame", "Range"]

_BLANK = re.compile(r"(?:[ \t\r\n]|%[^\n\r]*(?:\r\n|\n|\r|$))*")
_CONTROL = re.compile(r"\\(?:[A-Za-z@]+|.)", re.DOTALL)
_LONGEST_OPTION = 2000  # characters; what is longer is text in brackets
_LONGEST_NOTE = 200


@dataclass(slots=True)
class Frame:
    """A stretch of text being read; `name` tells a file or macro that must not be entered again meanwhile."""

    source: LatexText
    pos: int
    end: int
    name: str = ""
    on_end: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of text found by the cursor."""

    source: LatexText
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


class Cursor:
    """Reads commands' arguments; an argument may lie behind the end of the macro that asks for it."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.active: dict[str, int] = {}  # names of files and macros being read

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def push(self, frame: Frame) -> None:
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
        """Go over white space and comments, out of exhausted expansions too; where it began in this frame."""
        while True:
            frame = self.frame
            start = frame.pos
            match = _BLANK.match(frame.source.text, start, frame.end)
            frame.pos = match.end() if match else start
            if frame.pos < frame.end or frame.source.is_file or frame.on_end or len(self.frames) == 1:
                return start
            self.pop()

    def peek(self) -> str:
        """The next character, or nothing at the end."""
        frame = self.frame
        return frame.source.text[frame.pos] if frame.pos < frame.end else ""

    def optional(self, opening: str = "[") -> Range | None:
        """The inside of an optional argument, if one comes next."""
        start = self.skip_blank()
        frame = self.frame
        if self.peek() == opening and (close := _closing_bracket(frame, opening)) is not None:
            found = Range(frame.source, frame.pos + 1, close)
            frame.pos = close + 1
            return found
        frame.pos = start  # the white space passed over may be the end of a paragraph
        return None

    def mandatory(self) -> Range | None:
        """A mandatory argument: a group, else a control sequence, else one character; None at the end."""
        begun = self.skip_blank()
        frame = self.frame
        text, start = frame.source.text, frame.pos
        if frame.source.paragraph_end(begun) < start:  # an argument forgotten at the end of a paragraph
            frame.pos = begun
            return None
        if start >= frame.end or text[start] == "}":
            return None
        if text[start] == "{":
            close = frame.source.closing_brace(start)
            if close is not None and close < frame.end:
                frame.pos = close + 1
                return Range(frame.source, start + 1, close)
            frame.pos = min(frame.source.paragraph_end(start), frame.end)
            return Range(frame.source, start + 1, frame.pos)
        match = _CONTROL.match(text, start, frame.end)
        frame.pos = match.end() if match else start + 1
        return Range(frame.source, start, frame.pos)

    def group(self) -> Range | None:
        """A mandatory argument in braces, or None where something else comes next."""
        start = self.skip_blank()
        if self.peek() == "{":
            return self.mandatory()
        self.frame.pos = start
        return None

    def short_group(self) -> Range | None:
        """A group that cannot hold a paragraph's end, as a heading or key: one that does was never closed."""
        inside = self.group()
        if inside is None or inside.end <= inside.source.paragraph_end(inside.start):
            return inside
        text = inside.source.text
        end = min((at for at in (text.find(sign, inside.start) for sign in "\r\n") if at >= 0), default=inside.end)
        self.frame.pos = end
        return Range(inside.source, inside.start, end)

    def raw_group(self) -> Range | None:
        """A group where % is no comment and braces do not nest: an address, a file name."""
        self.skip_blank()
        frame = self.frame
        close = frame.source.text.find("}", frame.pos, min(frame.end, frame.pos + _LONGEST_OPTION))
        if self.peek() != "{" or close < 0:
            return None
        found = Range(frame.source, frame.pos + 1, close)
        frame.pos = close + 1
        return found

    def control_word(self) -> str | None:
        """The name of the control sequence that comes next, bare or in braces."""
        found = self.mandatory()
        match = _CONTROL.match(found.text.strip()) if found else None
        if match and match[0] == "\\csname":
            return self._spelled_name()
        return match[0][1:] if match else None

    def _spelled_name(self) -> str | None:
        """The name spelled out between `\\csname` and `\\endcsname`."""
        frame = self.frame
        end = frame.source.text.find("\\endcsname", frame.pos, min(frame.end, frame.pos + 200))
        if end < 0:
            return None
        name = frame.source.text[frame.pos : end].strip()
        frame.pos = end + len("\\endcsname")
        return name or None


def _closing_bracket(frame: Frame, opening: str) -> int | None:
    """Where an optional argument ends, if it does within reason."""
    start = frame.pos + 1
    if opening == "[":
        close = frame.source.closing_bracket(frame.pos)
    else:
        close = frame.source.text.find({"(": ")", "<": ">"}[opening], start, start + _LONGEST_NOTE)
    limit = min(frame.end, start + _LONGEST_OPTION, frame.source.paragraph_end(start))
    return close if close is not None and 0 <= close < limit else None
