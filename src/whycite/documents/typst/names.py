"""What a Typst draft names with "#let": words to print, and functions that cite."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Names", "Value"]

_LONGEST = 1000  # characters of a value, or of a function that is looked at
_MOST = 1 << 18  # characters printed for all names together
_VALUE = re.compile(
    r"[ \t]+(?P<name>[^\W\d][\w-]*)[ \t]*=[ \t]*"
    r"(?:\"(?P<string>[^\"\\\n]{0,1000})\"|(?:(?P<call>[^\W\d][\w.-]*)(?:\([^()\n]{0,200}\))?)?(?P<content>\[))"
)
_ALIAS = re.compile(r"[ \t]+(?P<name>[^\W\d][\w-]*)[ \t]*=[ \t]*cite(?:\.with\(|[ \t]*(?:[\r\n;]|$))")
_FUNCTION = re.compile(r"[ \t]+(?P<name>[^\W\d][\w-]*)\((?P<parameters>[^()\n]{1,200})\)[ \t]*=[ \t]*")
_CITED = re.compile(r"\bcite\(\s*(?:label\(\s*)?([^\W\d][\w-]*)")
_PARAMETER = re.compile(r"[^\W\d][\w-]*")
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_PIECES = re.compile(
    r"@(?P<key>\w(?:[\w:.-]*\w)?)|\\(?P<sign>[^\s\w])|(?P<space>~)|#[^\W\d][\w.-]*(?:\([^()\n]{0,200}\))?|[*_\[\]\\]"
)
_PRINTS = frozenset(("", "text", "emph", "strong", "smallcaps", "box", "highlight", "underline", "upper", "lower"))


@dataclass(frozen=True, slots=True)
class Value:
    """What a name prints: words and, in their places, keys of references."""

    pieces: tuple[tuple[str, bool], ...]  # each with whether it is a key


@dataclass
class Names:
    """The names a draft has defined so far."""

    values: dict[str, Value] = field(default_factory=dict)
    citing: set[str] = field(default_factory=set)  # functions that cite what they are given
    _left: int = _MOST

    def define(self, text: str, at: int) -> None:
        """Learn what the statement defines whose "let" ends here."""
        if value := _VALUE.match(text, at):
            shown = value["string"]
            if shown is not None:
                self.values[value["name"]] = Value(((shown, False),))
            elif (value["call"] or "") in _PRINTS and (end := _closing(text, value.end())) is not None:
                self.values[value["name"]] = _read(text[value.end() : end])
        elif alias := _ALIAS.match(text, at):
            self.citing.add(alias["name"])
        elif function := _FUNCTION.match(text, at):
            line = text.find("\n", function.end(), function.end() + _LONGEST)
            cited = _CITED.search(text, function.end(), line if line >= 0 else function.end() + _LONGEST)
            if cited and cited[1] in _PARAMETER.findall(function["parameters"]):
                self.citing.add(function["name"])

    def expand(self, name: str) -> Value | None:
        """What a name prints, unless all names together have printed too much."""
        value = self.values.get(name)
        if value is None:
            return None
        self._left -= 1 + sum(len(piece) for piece, _ in value.pieces)
        return value if self._left > 0 else None


def _closing(text: str, at: int) -> int | None:
    """Where the content ends whose bracket is before this place; None: not soon."""
    depth = 1
    for bracket in _BRACKET.finditer(text, at, min(len(text), at + _LONGEST)):
        depth += {"[": 1, "]": -1}.get(bracket[0], 0)
        if not depth:
            return bracket.start()
    return None


def _read(content: str) -> Value:
    pieces: list[tuple[str, bool]] = []
    at = 0
    for mark in _PIECES.finditer(content):
        pieces.append((content[at : mark.start()] + (mark["sign"] or " " * bool(mark["space"])), False))
        if mark["key"]:
            pieces.append((mark["key"], True))
        at = mark.end()
    return Value(tuple(piece for piece in [*pieces, (content[at:], False)] if piece[0]))
