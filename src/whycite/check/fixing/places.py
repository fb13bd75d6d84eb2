"""Where in the source a sentence's citation goes: at the end of the claim, before the full stop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Place", "places"]

# The end of a sentence: stops, then quotes, brackets and marks of emphasis that close behind them.
_END = re.compile(r"(?P<stops>(?:[.!?…]|[:;,])*+)(?P<closers>(?:''|[\"”’»)\]}*_])*+)\Z")
_LAST = 200  # characters looked at for it
_QUOTES = frozenset("'\"”’»")
# Stops that belong to the word before them and end the sentence too: "U.S.", "et al.".
_ABBREVIATION = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.)+[^\W\d_]\Z|\b(?:etc|al|Inc|Ltd|Co|Corp|Jr|Sr)\Z")
_DISPLAY_END = re.compile(r"\\end\s*\{(?P<name>[A-Za-z]+\*?)\}\Z|(?P<sign>\\\]|\$\$)\Z")
_OPENING = {"\\]": "\\[", "$$": "$$"}
_TYPST_DISPLAY = re.compile(r"\$\s(?:[^$\\]|\\.)*\s\$\Z", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*(%)")


@dataclass(frozen=True, slots=True)
class Place:
    """An offset for a citation; `lead` comes before it and its gap."""

    at: int
    lead: str = ""


def places(text: str, start: int, end: int, format: str) -> Iterator[Place]:
    """The offsets where the citation of the sentence text[start:end] could go, the best first."""
    end = start + len(text[start:end].rstrip())
    if (before := _before_display(text, start, end, format)) is not None:
        end = before
    if end <= start:
        return
    low = max(start, end - _LAST)
    tail = _END.search(text[low:end])
    assert tail is not None  # it matches nothing at the end of any text
    stops, closers = low + tail.start("stops"), low + tail.start("closers")
    if _escaped(text, start, stops):  # "\," is a space, "\}" and "\)" are no brackets of the text
        yield Place(end if format == "latex" or stops == closers == end else stops - 1)
        return
    word = stops - 2 if format == "latex" and _spaced(text, start, stops) else stops
    if closers < end and stops < closers and _QUOTES.issuperset(text[closers:end]):
        yield Place(end)  # what is quoted is left as it is
    if stops == closers:
        yield Place(word if stops == end else end)
        return
    if word <= start:
        return
    last = text[max(start, word - 30) : word]
    lead = "." if text[stops:closers] == "." and _ABBREVIATION.search(last) else ""
    yield Place(word, lead)
    if lead:
        yield Place(closers)


def _before_display(text: str, start: int, end: int, format: str) -> int | None:
    """Where the text before a formula on lines of its own ends, for a sentence that ends in one."""
    segment = text[start:end]
    if format == "typst":
        found = _TYPST_DISPLAY.search(segment)
        begin = found.start() if found else -1
    elif display := _DISPLAY_END.search(segment):
        sign = _OPENING[display["sign"]] if display["sign"] else f"\\begin{{{display['name']}}}"
        begin = segment.rfind(sign, 0, display.start())
    else:
        return None
    if begin < 0:
        return None
    before = segment[:begin].rstrip()
    line = max(before.rfind("\n"), before.rfind("\r")) + 1
    if format == "latex" and (comment := _COMMENT.search(before, line)):
        before = before[: comment.start(1)].rstrip()
    return start + len(before)


def _spaced(text: str, start: int, at: int) -> bool:
    """Whether a "\\@" stands before an offset, which is for the stop behind it."""
    return text.endswith("\\@", start, at) and not _escaped(text, start, at - 2)


def _escaped(text: str, start: int, at: int) -> bool:
    """Whether a backslash makes something else of the character."""
    slashes = len(text[start:at]) - len(text[start:at].rstrip("\\"))
    return slashes % 2 == 1
