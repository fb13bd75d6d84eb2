"""TeX conditionals: what is switched off is not part of the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whycite.documents.latex.walker import Walker

__all__ = ["Conditionals"]

_BRANCH = re.compile(r"\\(if(?!f\b|thenelse\b)[A-Za-z@]*|else|fi)(?![A-Za-z@])|%[^\n\r]*|\\.", re.DOTALL)
_NUMBER = r"(-?\d[\d.]{0,9}(?:pt|mm|cm|em|ex|in)?|\\[A-Za-z@]{1,40})"
_COMPARISON = re.compile(rf"\s*{_NUMBER}(?:\s*([<>=])\s*{_NUMBER})? ?")
_MOST_ENDLESS = 20  # each costs a look at the rest of the text


class Conditionals:
    """Follows `\\iffalse`, `\\newif`, `\\ifx`; of a condition it cannot decide it takes the first branch."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self._switches: dict[str, bool] = {}
        self._endless = 0

    def handle(self, name: str) -> bool:
        """Whether the control word was a conditional's, and if so, follow it."""
        if name == "newif":
            switch = self.walker.control_word() or ""
            if switch.startswith("if"):
                self._switches[switch[2:]] = False
        elif name in {"if", "ifx", "ifdefined", "ifnum", "ifdim", "ifodd"}:
            if not self._decide(name):
                self._skip(stop_at_else=True)
        elif name == "iffalse" or (name.startswith("if") and self._switches.get(name[2:]) is False):
            self._skip(stop_at_else=True)
        elif name == "else":
            self._skip(stop_at_else=False)
        elif name.endswith("true") and name[:-4] in self._switches:
            self._switches[name[:-4]] = True
        elif name.endswith("false") and name[:-5] in self._switches:
            self._switches[name[:-5]] = False
        else:
            return name == "fi" or (name.startswith("if") and name not in {"iff", "ifthenelse"})
        return True

    def _decide(self, name: str) -> bool:
        """Whether a macro is defined, two are the same, or two numbers compare, as far as it can be told."""
        macros = self.walker.macros
        if name in {"ifnum", "ifdim", "ifodd"}:
            return self._compare()
        if name == "if":
            pair = [found.text if found else "" for found in (self.walker.mandatory(), self.walker.mandatory())]
            return len({macros[text[1:]].body if text[1:] in macros else text for text in pair}) == 1
        first = self.walker.control_word()
        if name == "ifdefined":
            return first in macros
        second = self.walker.control_word()
        if second in {"undefined", "@undefined", "relax"}:
            return first not in macros
        bodies = [macros[word].body if word in macros else word for word in (first, second)]
        return bodies[0] == bodies[1]

    def _compare(self) -> bool:
        """Go over a comparison; one that cannot be decided holds."""
        frame = self.walker.frame
        match = _COMPARISON.match(frame.source.text, frame.pos, frame.end)
        if match is None:
            return True
        frame.pos = match.end()
        left, sign, right = match.groups()
        if sign is None or not (left.lstrip("-").isdecimal() and right.lstrip("-").isdecimal()):
            return True
        return {"<": int(left) < int(right), "=": int(left) == int(right), ">": int(left) > int(right)}[sign]

    def _skip(self, *, stop_at_else: bool) -> None:
        """Go to the `\\else` or `\\fi` of this level; where there is none, the text is read on."""
        frame = self.walker.frame
        if self._endless >= _MOST_ENDLESS:
            return
        depth = 0
        for match in _BRANCH.finditer(frame.source.text, frame.pos, frame.end):
            word = match[1]
            if word is None:
                continue
            if word == "fi":
                depth -= 1
            elif word != "else":
                depth += 1
            if depth < 0 or (word == "else" and depth == 0 and stop_at_else):
                frame.pos = match.end()
                return
        self._endless += 1
        self.walker.warn(frame.source, max(frame.pos - 1, 0), "a conditional has no \\fi")
