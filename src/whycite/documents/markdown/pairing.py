"""The marks inside a Markdown paragraph, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

__all__ = ["Kind", "Token", "pair"]

Kind = Literal["shown", "dropped", "cited", "key", "doi", "open", "close", "emphasis", "display", "break"]


@dataclass(slots=True)
class Token:
    """A mark at a range of the text; what stands between marks is text as it is."""

    kind: Kind
    start: int
    end: int
    text: str = ""  # what the range reads as
    keys: tuple[str, ...] = ()
    mate: int = -1  # index of the other bracket
    opening: str = ""  # what stands before an opening bracket: "!", "^" or nothing


def pair(text: str, tokens: list[Token]) -> list[Token]:
    """The tokens, brackets and signs of emphasis paired, less those that have no partner."""
    if tokens:
        _pair_brackets(tokens)
        _pair_emphasis(text, tokens)
        tokens = _without_text(text, tokens)
    return tokens


def _without_text(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens less those that read as what stands there; partners find each other at their new places."""
    kept = [
        token.mate >= 0
        if token.kind in ("open", "close")
        else token.kind != "shown" or token.text != text[token.start : token.end]
        for token in tokens
    ]
    places = list(accumulate(kept, initial=0))
    remaining = [token for token, stays in zip(tokens, kept, strict=True) if stays]
    if len(remaining) == len(tokens):
        return remaining
    for token in remaining:
        if token.mate >= 0:
            token.mate = places[token.mate]
    return remaining


def _pair_brackets(tokens: Sequence[Token]) -> None:
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(index)
        elif token.kind == "close" and opened:
            token.mate = opened.pop()
            tokens[token.mate].mate = index


def _pair_emphasis(text: str, tokens: Sequence[Token]) -> None:
    """Make the signs of emphasis that have a partner disappear, and the others text."""
    opened: dict[str, list[Token]] = {"*": [], "_": []}
    left: dict[int, int] = {}  # signs of a run that have no partner yet, by where it begins
    for token in tokens:
        if token.kind != "emphasis":
            continue
        sign = text[token.start]
        opens, closes = _flanks(text, token.start, token.end)
        left[token.start] = token.end - token.start
        while closes and left[token.start] and opened[sign]:
            other = opened[sign][-1]
            paired = min(left[other.start], left[token.start])
            left[other.start] -= paired
            left[token.start] -= paired
            if not left[other.start]:
                opened[sign].pop()
        if opens and left[token.start]:
            opened[sign].append(token)
    for token in tokens:
        if token.kind == "emphasis":
            token.kind, token.text = "shown", text[token.start] * left[token.start]


def _flanks(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a run of signs can begin and can end emphasis, by what stands around it."""
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    solid_before, solid_after = not before.isspace(), not after.isspace()
    left = solid_after and (after.isalnum() or not solid_before or not before.isalnum())
    right = solid_before and (before.isalnum() or not solid_after or not after.isalnum())
    if text[start] == "_":
        return left and (not right or not before.isalnum()), right and (not left or not after.isalnum())
    return left, right
