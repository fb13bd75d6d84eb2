"""LaTeX text with what the walker asks of it: origins of characters, matching braces, ends of environments."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["VERBATIM", "LatexText"]

VERBATIM = frozenset(
    "verbatim verbatim* Verbatim BVerbatim LVerbatim SaveVerbatim lstlisting minted comment filecontents filecontents* "
    "alltt code Code Sinput Soutput Schunk pycode sageblock luacode luacode* tcblisting".split()
)
_VERBATIM_NAMES = "|".join(re.escape(name) for name in sorted(VERBATIM))
# What can change brace depth, open or close an environment, or hide either of these.
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
    """A file's text, or the expansion of a macro in one; `starts`/`ends` say where each character came from."""

    def __init__(
        self, text: str, file: str, starts: Sequence[int] | None = None, ends: Sequence[int] | None = None
    ) -> None:
        self.text = text
        self.file = file
        self._starts = starts
        self._ends = ends
        self.is_file = starts is None  # characters stand for themselves

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The range of the file that a range of this text came from."""
        if self._starts is None or self._ends is None:
            return start, end
        if start >= end:
            at = min(start, len(self._starts) - 1)
            return (self._starts[at], self._starts[at]) if self._starts else (0, 0)
        return min(self._starts[start:end]), max(self._ends[start:end])

    def origins(self, start: int, end: int) -> tuple[Sequence[int], Sequence[int]]:
        """Where each character of a range starts and ends in the file."""
        if self._starts is None or self._ends is None:
            return range(start, end), range(start + 1, end + 1)
        return self._starts[start:end], self._ends[start:end]

    def runs(self, start: int, end: int) -> list[tuple[int, int]]:
        """The range cut where the characters stop standing one for one in the file."""
        if self._starts is None or self._ends is None:
            return [(start, end)]
        cuts = [start]
        for at in range(start + 1, end):
            if self._starts[at] != self._starts[at - 1] + 1 and self._starts[at] != self._starts[at - 1]:
                cuts.append(at)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def is_exact(self, start: int, end: int) -> bool:
        """Whether a run's characters stand one for one in the file."""
        return self._starts is None or self._starts[end - 1] - self._starts[start] == end - 1 - start

    def is_argument(self, at: int) -> bool:
        """Whether a character of an expansion was written in an argument, not in the macro's body."""
        return self._starts is not None and self._ends is not None and self._ends[at] - self._starts[at] == 1

    def closing_brace(self, at: int) -> int | None:
        """Where the brace opened at `at` is closed, if it is."""
        return self._landmarks.braces.get(at)

    def closing_bracket(self, at: int) -> int | None:
        """Where the square bracket opened at `at` is closed, outside of braces opened since."""
        return self._landmarks.brackets.get(at)

    def environment_end(self, name: str, begin: int) -> int | None:
        """Where the environment begun at `begin` ends (its `\\end`, the `\\]` of a `\\[`), if it does."""
        return self._landmarks.environments.get((name, begin))

    def paragraph_end(self, after: int) -> int:
        """Where the paragraph that goes on at `after` ends."""
        at = bisect_left(self._paragraph_ends, after)
        return self._paragraph_ends[at] if at < len(self._paragraph_ends) else len(self.text)

    def line(self, at: int) -> int:
        """The line of the file, from 1, that an offset of the file lies in."""
        return bisect_right(self._line_starts, at)

    @property
    def unclosed(self) -> list[int]:
        """Braces that are opened and never closed."""
        return self._landmarks.unclosed

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
    """What pairs with what; every look-up is constant time, whatever the input."""

    braces: dict[int, int] = field(default_factory=dict)
    brackets: dict[int, int] = field(default_factory=dict)
    environments: dict[tuple[str, int], int] = field(default_factory=dict)
    unclosed: list[int] = field(default_factory=list)


def _survey(text: str) -> _Landmarks:
    """One pass over the text that pairs braces, brackets and environments."""
    found = _Landmarks()
    open_brackets: list[list[int]] = [[]]  # for each depth of braces
    open_names: dict[str, list[int]] = {}
    endless: set[str] = set()  # verbatim environments that no longer end
    at: int | None = 0
    while at is not None:
        at = _survey_from(text, at, found, open_brackets, open_names, endless)
    return found


def _survey_from(
    text: str,
    at: int,
    found: _Landmarks,
    open_brackets: list[list[int]],
    open_names: dict[str, list[int]],
    endless: set[str],
) -> int | None:
    """Go on with the survey up to something that hides all landmarks in it, and say where that ends."""
    open_braces = found.unclosed
    for match in _LANDMARK.finditer(text, at):
        start, end, kind = match.start(), match.end(), match.lastgroup
        if kind is None:
            continue
        if kind == "brace":
            if text[start] == "{":
                open_braces.append(start)
                open_brackets.append([])
            elif open_braces:
                found.braces[open_braces.pop()] = start
                open_brackets.pop()
        elif kind == "bracket":
            if text[start] == "[":
                open_brackets[-1].append(start)
            else:
                found.brackets.update(dict.fromkeys(open_brackets[-1], start))
                open_brackets[-1].clear()
        elif kind == "address":
            found.braces[match.start("address") - 1] = end - 1
        elif kind == "verbatim":
            brace = text.index("{", start)
            found.braces[brace] = end - 1
            name = text[brace + 1 : end - 1]
            close = -1 if name in endless else text.find(f"\\end{{{name}}}", end)
            if close >= 0:
                found.environments[name, start] = close
                return close + len(name) + 6
            endless.add(name)
        elif kind == "mark":
            close = text.find(match["mark"], end, end + 500)
            if close >= 0:
                return close + 1
        elif kind == "name":
            name = match["name"]
            found.braces[text.index("{", start)] = end - 1
            if match["edge"] == "begin":
                open_names.setdefault(name, []).append(start)
                continue
            if open_names.get(name):
                found.environments[name, open_names[name].pop()] = start
        elif (sign := match[0]) in _OPENER:
            opener = _OPENER[sign]
            found.environments.update({(opener, begin): start for begin in open_names.pop(opener, [])})
        else:
            open_names.setdefault(sign, []).append(start)
    return None
