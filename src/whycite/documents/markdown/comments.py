"""HTML comments made blank, so that nothing else has to know of them."""

from __future__ import annotations

import re

__all__ = ["without_comments"]

_MARK = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*$|(?P<ticks>`+)|<!--", re.MULTILINE)
_FENCES = {sign: re.compile(rf"^[ \t>]*({sign}{{3,}})[ \t\r]*$", re.MULTILINE) for sign in "`~"}
_BLANK = re.compile(r"\n[ \t\r]*\n")
_FURTHEST = 5000  # characters in which inline code must close


def without_comments(text: str) -> str:
    """The text with spaces for comments, of the same length; code is no place for comments."""
    if "<!--" not in text:
        return text
    parts: list[str] = []
    at = pos = 0
    while mark := _MARK.search(text, pos):
        if mark["fence"]:
            pos = _fence_end(text, mark["fence"], mark.end())
        elif mark["ticks"]:
            pos = _code_end(text, mark["ticks"], mark.end())
        else:
            close = text.find("-->", mark.end())
            pos = close + 3 if close >= 0 else len(text)
            parts += [text[at : mark.start()], " " * (pos - mark.start())]
            at = pos
    return "".join([*parts, text[at:]])


def _fence_end(text: str, fence: str, at: int) -> int:
    for close in _FENCES[fence[0]].finditer(text, at):
        if len(close[1]) >= len(fence):
            return close.end()
    return len(text)


def _code_end(text: str, ticks: str, at: int) -> int:
    """The end of inline code, or where it began if it does not close in its paragraph."""
    limit = min(len(text), at + _FURTHEST)
    blank = _BLANK.search(text, at, limit)
    limit = blank.start() if blank else limit
    pos = at
    while (pos := text.find(ticks, pos, limit)) >= 0:
        end = pos + len(ticks)
        if text[end : end + 1] != "`" and text[pos - 1] != "`":
            return end
        while text[end : end + 1] == "`":
            end += 1
        pos = end
    return at
