"""The elements of a Typst file: strings, comments, labels, formulas, and the names it defines."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

from whycite.documents.latex.formulas import display_text, math_text
from whycite.documents.markup import EQUATION

__all__ = ["PrintedContent", "TypstNames", "TypstPage", "typst_math"]


_COMMENT = re.compile(r"/\*|\*/")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_FORMULA = re.compile(r"\$((?:[^$\\]|\\.)*)\$", re.DOTALL)
_TICKS = re.compile(r"`+")
_LABEL = re.compile(r"<([^\W\d][\w:.-]*)>")


@dataclass
class TypstPage:
    """A file being read; failed searches are not repeated."""

    file: str
    text: str
    including_files: tuple[str, ...] = ()  # the files that include it
    _missing: set[str] = field(default_factory=set)
    _unclosed: int = sys.maxsize  # length of the shortest run of backticks that does not close

    def line_number(self, offset: int) -> int:
        """The line number of an offset."""
        return self.text.count("\n", 0, offset) + 1

    def comment_end(self, start: int) -> int:
        """Where the comment that begins here ends; block comments nest."""
        if self.text.startswith("//", start):
            end = self.text.find("\n", start)
            return end if end >= 0 else len(self.text)
        depth = 0
        for mark in _COMMENT.finditer(self.text, start):
            depth += 1 if mark[0] == "/*" else -1
            if not depth:
                return mark.end()
        return len(self.text)

    def string(self, start: int) -> re.Match[str] | None:
        """The string that begins here."""
        return self._match_whole(_STRING, start)

    def math(self, start: int) -> re.Match[str] | None:
        """The formula that begins here."""
        return self._match_whole(_FORMULA, start)

    def label(self, start: int) -> re.Match[str] | None:
        """The label that begins here."""
        return _LABEL.match(self.text, start)

    def raw(self, opening: int) -> tuple[int, int, int]:
        """Where the content of raw text begins and ends, and where the raw text itself ends."""
        ticks = _TICKS.match(self.text, opening)
        size = len(ticks[0]) if ticks else 1
        start = opening + size
        if size == 2:
            return start, start, start
        close = self.text.find("`" * size, start) if size < self._unclosed else -1
        if close < 0:
            self._unclosed = min(size, self._unclosed)  # longer runs do not close either
            return start, start, start
        return start, close, close + size

    def _match_whole(self, form: re.Pattern[str], start: int) -> re.Match[str] | None:
        if form.pattern in self._missing:
            return None
        match = form.match(self.text, start)
        if match is None:
            self._missing.add(form.pattern)
        return match


_MAX_VALUE_LENGTH = 1000  # characters of a value or function that are read
_MAX_PRINTED = 1 << 18  # characters printed for all names together: values can be used any number of times
_VALUE = re.compile(
    r"[ \t]+(?P<name>[^\W\d][\w-]*)[ \t]*=[ \t]*"
    r"(?:\"(?P<string>[^\"\\\n]{0,1000})\"|(?:(?P<call>[^\W\d][\w.-]*)(?:\([^()\n]{0,200}\))?)?(?P<content>\[))"
)
_ALIAS = re.compile(r"[ \t]+(?P<name>[^\W\d][\w-]*)[ \t]*=[ \t]*cite(?:\.with\(|[ \t]*(?:[\r\n;]|$))")
_FUNCTION = re.compile(r"[ \t]+(?P<name>[^\W\d][\w-]*)\((?P<parameters>[^()\n]{1,200})\)[ \t]*=[ \t]*")
_CITE_CALL = re.compile(r"\bcite\(\s*(?:label\(\s*)?([^\W\d][\w-]*)")
_PARAMETER = re.compile(r"[^\W\d][\w-]*")
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_PIECES = re.compile(
    r"@(?P<key>\w(?:[\w:.-]*\w)?)|\\(?P<sign>[^\s\w])|(?P<space>~)|#[^\W\d][\w.-]*(?:\([^()\n]{0,200}\))?|[*_\[\]\\]"
)
_PRINTING_FUNCTIONS = frozenset(
    ("", "text", "emph", "strong", "smallcaps", "box", "highlight", "underline", "upper", "lower")
)


@dataclass(frozen=True, slots=True)
class PrintedContent:
    """What a name prints: words, and keys of references between them."""

    pieces: tuple[tuple[str, bool], ...]  # text, and whether it is a key


@dataclass
class TypstNames:
    """The names a draft has defined so far."""

    values: dict[str, PrintedContent] = field(default_factory=dict)
    citing_functions: set[str] = field(default_factory=set)  # functions that cite their argument
    _budget: int = _MAX_PRINTED

    def define(self, text: str, start: int) -> None:
        """Store what a statement defines; `start` is the end of its "let"."""
        if value := _VALUE.match(text, start):
            string = value["string"]
            if string is not None:
                self.values[value["name"]] = PrintedContent(((string, False),))
            elif (value["call"] or "") in _PRINTING_FUNCTIONS and (
                end := _closing_bracket(text, value.end())
            ) is not None:
                self.values[value["name"]] = _parse_content(text[value.end() : end])
        elif alias := _ALIAS.match(text, start):
            self.citing_functions.add(alias["name"])
        elif function := _FUNCTION.match(text, start):
            line_end = text.find("\n", function.end(), function.end() + _MAX_VALUE_LENGTH)
            cite_call = _CITE_CALL.search(
                text, function.end(), line_end if line_end >= 0 else function.end() + _MAX_VALUE_LENGTH
            )
            if cite_call and cite_call[1] in _PARAMETER.findall(function["parameters"]):
                self.citing_functions.add(function["name"])

    def expand(self, name: str) -> PrintedContent | None:
        """What a name prints, or None if all names together have printed too much."""
        value = self.values.get(name)
        if value is None:
            return None
        self._budget -= 1 + sum(len(piece) for piece, _ in value.pieces)
        return value if self._budget > 0 else None


def _closing_bracket(text: str, start: int) -> int | None:
    """Where the content that begins here ends; None if it is too long."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start, min(len(text), start + _MAX_VALUE_LENGTH)):
        depth += {"[": 1, "]": -1}.get(bracket[0], 0)
        if not depth:
            return bracket.start()
    return None


def _parse_content(content: str) -> PrintedContent:
    pieces: list[tuple[str, bool]] = []
    position = 0
    for mark in _PIECES.finditer(content):
        pieces.append((content[position : mark.start()] + (mark["sign"] or " " * bool(mark["space"])), False))
        if mark["key"]:
            pieces.append((mark["key"], True))
        position = mark.end()
    return PrintedContent(tuple(piece for piece in [*pieces, (content[position:], False)] if piece[0]))


_MAX_FORMULA_LENGTH = 60  # characters, as in LaTeX
_QUOTED_TEXT = re.compile(r'"([^"\\]*)"')
_MATH_WORD = re.compile(r"(?<![A-Za-z\\])([A-Za-z]{2,})(?:\.[a-z]+)*")
_MATH_CALL = re.compile(r"[A-Za-z]{2,}\(|[#&/]")
_MATH_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "=>": "⇒", "~=": "≅", "...": "…"}
_TEX_NAMES = {
    "dot": "cdot",
    "plus": "pm",
    "minus": "mp",
    "eq": "neq",
    "approx": "approx",
    "tilde": "sim",
    "prop": "propto",
}


def typst_math(source: str) -> str:
    """The formula as it reads in a sentence, or EQUATION if it is displayed or not simple."""
    if source[:1].isspace() and source[-1:].isspace():
        return display_text(source)
    if not source or len(source) > _MAX_FORMULA_LENGTH or _MATH_CALL.search(source):
        return EQUATION
    for sign, character in _MATH_SIGNS.items():
        source = source.replace(sign, character)
    texts = _QUOTED_TEXT.findall(source)
    if any("\\" in text for text in texts):
        return EQUATION
    source = _QUOTED_TEXT.sub(
        lambda quoted: f" {quoted[1]} " if len(quoted[1]) < 2 else f" \x00{quoted[1]}\x00 ", source
    )
    parts = source.split("\x00")
    parts[::2] = [_MATH_WORD.sub(lambda word: f"\\{_TEX_NAMES.get(word[1], word[1])}{{}}", part) for part in parts[::2]]
    return math_text("".join(parts))
