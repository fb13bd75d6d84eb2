"""Which number belongs to which word, where claim and passage tell two of each: "93 % for mice and 95 % for rats"."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from whycite.verify.lexical import forms

__all__ = ["crossed"]

_TOKEN = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|[^\W\d_]+")
_FAR = 6  # tokens between a number and its word at most
_MOST = 12  # numbers and words that are looked at


@dataclass(frozen=True, slots=True)
class _Text:
    """Where a text has its numbers and its words, of those that it has once, and its tokens."""

    tokens: tuple[str, ...]
    numbers: dict[str, int]
    words: dict[str, int]


def crossed(claim: str, passage: str) -> str:
    """What a passage tells of two numbers that a claim has the other way round, in words; nothing if that is not clear.

    A pair of words that goes with the numbers as in the claim speaks against it.
    """
    ours, theirs = _text(claim), _text(passage)
    numbers = [number for number in ours.numbers if number in theirs.numbers][:_MOST]
    words = [word for word in ours.words if word in theirs.words][:_MOST]
    told = ""
    for pair in combinations(numbers, 2):
        found: list[dict[str, str]] = []
        for names in combinations(words, 2):
            here, there = _pairs(ours, pair, names), _pairs(theirs, pair, names)
            if here and here == there:
                found = []
                break
            if here and there and _parallel(ours, here):
                found.append(here)
        if found and not told:
            number, word = min(found[0].items(), key=lambda each: ours.numbers[each[0]])
            other = next(each for each in pair if each != number)
            told = f"{number} goes with “{ours.tokens[ours.words[word]]}” in the claim, {other} here"
    return told


def _text(text: str) -> _Text:
    tokens = list(_TOKEN.finditer(text))
    written = [token[0] for token in tokens]
    numbers = [token[0].replace(",", ".") if token["number"] else "" for token in tokens]
    words = ["" if token["number"] else "".join(forms(token[0])) for token in tokens]
    return _Text(tuple(written), _once(numbers), _once(words))


def _once(items: list[str]) -> dict[str, int]:
    counts = Counter(items)
    return {item: at for at, item in enumerate(items) if item and counts[item] == 1}


def _pairs(text: _Text, numbers: tuple[str, str], words: tuple[str, str]) -> dict[str, str]:
    """The word of each number where they take turns, each near its own; else nothing."""
    places = sorted(
        [(text.numbers[each], each, True) for each in numbers] + [(text.words[each], each, False) for each in words]
    )
    if places[0][2] == places[1][2] or [each[2] for each in places[:2]] != [each[2] for each in places[2:]]:
        return {}
    if any(places[at + 1][0] - places[at][0] > _FAR for at in (0, 2)):
        return {}
    return dict((one[1], other[1]) if one[2] else (other[1], one[1]) for one, other in (places[:2], places[2:]))


def _parallel(text: _Text, pairs: dict[str, str]) -> bool:
    """Whether two words are told in the same way: behind the same word, or beside their numbers."""
    before = {text.tokens[at - 1].lower() if (at := text.words[word]) else "" for word in pairs.values()}
    near = all(abs(text.words[word] - text.numbers[number]) == 1 for number, word in pairs.items())
    return near or len(before) == 1
