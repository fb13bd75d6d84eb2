"""Pieces of sentences made to read for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from whycite.evidence.words import content_words, last_word, leads_on

__all__ = ["entity", "piece", "sentence"]

_EDGE = " ,;:.–—-/&*"
_LEADING = f"{_EDGE})]}}!?"
_TRAILING = f"{_EDGE}([{{"
_FIRST = frozenset("and or but nor yet so whereas while whilst".split())
# Not the words that may belong to a verb ("carried out") or end a clause ("to do so").
_LAST = frozenset(
    """
    and or but nor whereas while whilst although though because that e.g i.e see also cf such as by of in from to for
    with at via per than like into following a an the this these our their its
    """.split()
)
_OPENING, _CLOSING = "([{", ")]}"


def entity(text: str) -> str:
    """A name without the signs at its edges; nothing where half a bracket stands in it."""
    text = _bare(text)
    return text if next(_halves(text), None) is None else ""


def piece(text: str) -> str:
    """A piece of a sentence without loose ends: signs, words that lead on, brackets whose other half is elsewhere."""
    text = sentence(_behind_aside(_bare(_within_brackets(text))))
    while (first := text.partition(" ")[0].rstrip(",")).lower() in _FIRST:
        text = text[len(first) :].lstrip(_LEADING)
    return text


def sentence(text: str) -> str:
    """A sentence without the signs at its edges, the brackets around all of it or words that lead on to a citation."""
    text = _bare(text)
    while (word := last_word(text)) in _LAST:
        text = text[: -len(word)].rstrip(_TRAILING)
    inner = text[1:-1]
    if text.startswith("(") and text.endswith(")") and next(_halves(inner), None) is None:
        return _bare(inner)
    return text


def _bare(text: str) -> str:
    return text.lstrip(_LEADING).rstrip(_TRAILING)


def _within_brackets(text: str) -> str:
    """The part next to the group when half a bracket cuts the text: "tools (BLAST" is about BLAST.

    What leads on to the group stays an aside: "cells divide (as shown by" is about cells that divide.
    """
    halves = list(_halves(text))
    begin = max((at + 1 for at in halves if text[at] in _CLOSING), default=0)
    opened = [at for at in halves if at >= begin]
    for start, end in reversed(list(pairwise([*opened, len(text)]))):
        part = text[start + 1 : end]
        if content_words(part) and not leads_on(_bare(part)):
            return part
    return text[begin : opened[0] if opened else len(text)]


def _behind_aside(text: str) -> str:
    """The text without the bracket it begins with: that goes with what stood before."""
    end = text.find(")") if text.startswith("(") else -1
    return text[end + 1 :].lstrip(_LEADING) or text


def _halves(text: str) -> Iterator[int]:
    """Where brackets stand that are not closed or not opened here."""
    opened: list[int] = []
    for at, sign in enumerate(text):
        if sign in _OPENING:
            opened.append(at)
        elif sign in _CLOSING:
            if opened:
                opened.pop()  # of whatever kind: "[0, 1)" is whole
            else:
                yield at
    yield from opened
