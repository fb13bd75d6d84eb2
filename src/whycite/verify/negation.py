"""Whether a text denies something, and what."""

from __future__ import annotations

import re
from functools import lru_cache

from whycite.verify.lexical import forms

__all__ = ["denied", "negated", "negation_of"]

_REACH = 8  # words that a negation reaches
_AHEAD = (
    r"not|no|nor|never|neither|none|cannot|without|fail(?:s|ed|ing|ure)?|unable|lack(?:s|ed|ing)?|absence|unlikely|"
    r"hardly|rarely|independent of|rather than|[a-z]+n[’']t"
)
_AROUND = r"unaffected|unchanged|un(?:related|associated|altered)"
_NEGATION = re.compile(rf"\b(?:{_AHEAD}|{_AROUND})\b", re.IGNORECASE)
_NO_NEGATION = re.compile(
    r"\bnot only\b|\bnot (?:yet|necessarily|just|merely|until)\b|\bno(?:netheless| doubt)\b|\bwhether or not\b|\bno\.|"
    r"\bno (?:more|less|fewer) than\b",
    re.IGNORECASE,
)
_PIECE = re.compile(
    rf"(?P<around>\b(?:{_AROUND})\b)|(?P<ahead>\b(?:{_AHEAD})\b)|(?P<word>[^\W_]+)|(?P<sign>[,;:.()])", re.IGNORECASE
)
_ENDS = frozenset(", ; : . ( ) but although though whereas while because which who".split())


def negated(text: str) -> bool:
    """Whether a text denies something."""
    return bool(negation_of(text))


def negation_of(text: str) -> str:
    """The first word by which a text denies something, or nothing."""
    found = _NEGATION.search(_NO_NEGATION.sub(" ", text))
    return found[0].lower() if found else ""


@lru_cache(maxsize=4096)
def denied(text: str) -> frozenset[str]:
    """The words that negations of a text reach, as they are compared: those behind it in the same clause."""
    found: set[str] = set()
    before: list[str] = []
    left = 0
    for piece in _PIECE.finditer(_NO_NEGATION.sub(" ", text)):
        if piece["ahead"] or piece["around"]:
            left = _REACH
            if piece["around"]:
                found.update(before[-_REACH:])
        elif piece[0].lower() in _ENDS:
            left, before = 0, []
        else:
            said = forms(piece[0])
            before += said
            if left:
                found.update(said)
                left -= 1
    return frozenset(found)
