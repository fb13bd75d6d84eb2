"""The author list that stands before a date: "Smith, Lee, and van der Berg et al."."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from whycite.documents.markers.index import PARTICLES, NameIndex, fold

__all__ = ["Authors", "Token", "authors_before", "before_space"]

_ET_AL = re.compile(r"(?:\bet\.?\s?al(?:ii|ia)?\.?|\band\s(?:colleagues|co-?workers|others|associates))['’]?s?$")
_LINKS = frozenset(["and", "&", "und", "et"])
_SMALL = frozenset(["of", "the", "for", "on"])  # inside the names of organisations
_TOKENS = 24  # the most words and separators an author list is searched back for
_LONGEST = 60  # characters of one word


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an author list."""

    start: int
    end: int
    kind: str  # "name", "initial", "link" (and, &), "comma"


@dataclass(frozen=True, slots=True)
class Authors:
    """An author list as the text has it."""

    tokens: Sequence[Token]  # in reading order, the last one a name
    et_al: bool


def before_space(text: str, at: int) -> int:
    """The position before at most three white characters; a blank line is no gap inside a citation."""
    for _ in range(3):
        if at and text[at - 1].isspace():
            at -= 1
    return at


def authors_before(text: str, at: int, index: NameIndex) -> Authors | None:
    """The author list that ends at a position, if there is one."""
    tail = _ET_AL.search(text, max(0, at - 24), at)
    if tail:
        at = before_space(text, tail.start())
        at -= at > 0 and text[at - 1] == ","
    elif text[max(0, at - 2) : at] in ("'s", "’s"):
        at -= 2
    elif at and text[at - 1] in "'’":
        at -= 1
    tokens = list(_tokens_before(text, at))[::-1] or list(_known_name(text, at, index))
    while tokens and tokens[0].kind != "name":
        tokens.pop(0)
    while tokens and tokens[-1].kind in ("comma", "link"):
        tokens.pop()
    return Authors(tokens, tail is not None) if any(token.kind == "name" for token in tokens) else None


def _tokens_before(text: str, at: int) -> Iterator[Token]:
    """The words and separators before a position that can belong to an author list, last first."""
    for _ in range(_TOKENS):
        end = before_space(text, at)
        if not end:
            return
        last = text[end - 1]
        if last in ",&":
            at = end - 1
            yield Token(at, end, "comma" if last == "," else "link")
        elif last == "." and end > 1 and text[end - 2].isupper() and not text[end - 3 : end - 2].isalpha():
            at = end - 2
            yield Token(at, end, "initial")
        elif _in_word(last):
            at = end
            while at and end - at < _LONGEST and _in_word(text[at - 1]):
                at -= 1
            word = text[at:end]
            if word in _LINKS:
                yield Token(at, end, "link")
            elif _is_name(word):
                yield Token(at, end, "initial" if len(word) < 3 and word.isupper() else "name")
            else:
                return
        else:
            return


def _known_name(text: str, at: int, index: NameIndex) -> Iterator[Token]:
    """A name of the list that does not look like one: "pandas development team", "some-lab"."""
    end = at
    longer: Collection[str] = ()
    for _ in range(_TOKENS):
        start = at
        while start and at - start < _LONGEST and _in_word(text[start - 1]):
            start -= 1
        name = fold(text[start:end])
        if at == end:
            longer = index.ending(name)
        if name in longer or (at == end and len(name) > 5 and index.knows(name)):
            yield Token(start, end, "name")
            return
        at = before_space(text, start)
        if start == at or not longer:
            return


def _in_word(character: str) -> bool:
    return character.isalpha() or character in "-'’‐′" or category(character) == "Mn"


def _is_name(word: str) -> bool:
    return any(map(str.isupper, word)) or not word.isascii() or word in PARTICLES or word in _SMALL
