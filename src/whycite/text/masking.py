"""A paragraph made ready for sentence splitting: what must not end a sentence is masked or left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Span", "behind_stop", "mask", "merged"]

Span = tuple[int, int]

_LONGEST_WORD = 400  # what is longer is no prose; nupunkt takes quadratic time on it

_WHITE = re.compile(r"\s")
_ENDERS = re.compile(r"[.!?…:]")
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}")
_PLACEHOLDER = re.compile(r"\bREF\b")  # what stands for a number, not the abbreviation "Ref."
_NUMBERS = re.compile(r"\[\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_BETWEEN = re.compile(r"[\s,;&–—()\[\]-]{0,4}")


def merged(ranges: Iterable[Span], length: int) -> list[Span]:
    """The ranges in order, those that overlap as one."""
    found: list[Span] = []
    for start, end in sorted(ranges):
        start, end = max(start, 0), min(end, length)
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


def behind_stop(text: str, marks: list[Span]) -> list[Span]:
    """Citations that stand after the full stop of their sentence: "shown.[3] We", "shown. (Doe, 2010) We"."""
    if "[" in text:
        marks = merged([*marks, *(found.span() for found in _NUMBERS.finditer(text))], len(text))
    behind: list[Span] = []
    at = 0
    while at < len(marks):
        start, end = marks[at]
        at += 1
        while at < len(marks) and _BETWEEN.fullmatch(text, end, marks[at][0]):
            end = marks[at][1]
            at += 1
        before = start
        while before and start - before < 4 and text[before - 1] in "([ ":
            before -= 1
        opened = "(" in text[before:start] or "[" in text[before:start]
        while opened and end < len(text) and text[end] in ")]":
            end += 1
        # A name outside brackets begins a sentence: "Doe (2010) showed".
        if text[start].isalpha() and not opened:
            continue
        if before and text[before - 1] in '.!?”"' and _ends_sentence(text, end):
            behind.append((before, end))
    return behind


def _ends_sentence(text: str, end: int) -> bool:
    """Whether nothing, or a word that can begin a sentence, follows."""
    if end == len(text):
        return True
    return text[end].isspace() and not text[end + 1 : end + 2].islower()


def mask(text: str, marks: list[Span], behind: list[Span]) -> str:
    """The text as nupunkt should see it: nothing ends inside a citation, those behind a stop are left out."""
    if not text.isprintable():
        text = _WHITE.sub(" ", text)
    parts, at = [], 0
    left_out = iter([*behind, (len(text), len(text))])
    gone = next(left_out)
    for start, end in marks:
        while gone[1] <= start:
            parts.append(text[at : gone[0]])
            at = gone[1]
            gone = next(left_out)
        if end <= gone[0]:
            parts += [text[at:start], _ENDERS.sub(",", text[start:end])]
            at = end
    while gone[0] < len(text):
        parts.append(text[at : gone[0]])
        at = gone[1]
        gone = next(left_out)
    parts.append(text[at:])
    plain = "".join(parts)
    if "REF" in plain:
        plain = _PLACEHOLDER.sub("one", plain)
    if len(plain) > _LONGEST_WORD and max(map(len, plain.split(" "))) > _LONGEST_WORD:
        plain = _LONG_WORD.sub(lambda word: _ENDERS.sub(",", word[0]), plain)
    return plain
