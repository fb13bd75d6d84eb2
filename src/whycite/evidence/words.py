"""Words that say nothing on their own, and pieces of sentences trimmed so that they read well alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from whycite.text.wordlists import DETERMINERS, FUNCTION_WORDS, PREPOSITIONS, load_word_lists

__all__ = [
    "has_content_words",
    "last_word",
    "leads_on",
    "trim_entity",
    "trim_piece",
    "trim_sentence",
]


_WORDS = load_word_lists(__name__)
_EMPTY_WORDS = FUNCTION_WORDS | _WORDS["pointing_words"]

_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"[^\s(\[{]+$")
_MAX_WORD = 40  # characters from the end that are searched for the last word


def has_content_words(text: str, enough: int = 1) -> bool:
    """Whether the text has at least `enough` content words: no function words, numbers or labels ("1D")."""
    count = 0
    for word in _WORD.finditer(text):
        if _is_content_word(word[0]):
            count += 1
            if count >= enough:
                return True
    return False


def last_word(text: str) -> str:
    """The last word in lower case, without a final full stop."""
    match = _LAST_WORD.search(text, max(0, len(text) - _MAX_WORD))
    return match[0].lower().rstrip(".") if match else ""


def leads_on(text: str) -> bool:
    """Whether the text ends in a preposition or an article: "as suggested by", "we follow the"."""
    word = last_word(text)
    return word in PREPOSITIONS or word in DETERMINERS


def _is_content_word(word: str) -> bool:
    if len(word) == 1:  # the language R, vitamin C
        return word.isalpha() and word.isupper() and word not in "AI"
    return word.lower() not in _EMPTY_WORDS and sum(map(str.isalpha, word)) > 1


_EDGE = " ,;:.–—-/&*"
_LEADING = f"{_EDGE})]}}!?"
_TRAILING = f"{_EDGE}([{{"
_LEADING_WORDS = _WORDS["leading_words"]
_TRAILING_WORDS = _WORDS["trailing_words"]
_OPENING, _CLOSING = "([{", ")]}"


def trim_entity(text: str) -> str:
    """A name without the signs at its edges; empty if it contains an unpaired bracket."""
    text = _bare(text)
    return text if next(_half_brackets(text), None) is None else ""


def trim_piece(text: str) -> str:
    """A piece of a sentence without loose ends: signs, words that lead on, unpaired brackets."""
    text = trim_sentence(_without_aside(_bare(_within_brackets(text))))
    while (word := text.partition(" ")[0].rstrip(",")).lower() in _LEADING_WORDS:
        text = text[len(word) :].lstrip(_LEADING)
    return text


def trim_sentence(text: str) -> str:
    """A sentence without the signs at its edges, brackets around all of it, or words that lead on to a citation."""
    text = _bare(text)
    while (word := last_word(text)) in _TRAILING_WORDS:
        text = text[: -len(word)].rstrip(_TRAILING)
    inner = text[1:-1]
    if text.startswith("(") and text.endswith(")") and next(_half_brackets(inner), None) is None:
        return _bare(inner)
    return text


def _bare(text: str) -> str:
    return text.lstrip(_LEADING).rstrip(_TRAILING)


def _within_brackets(text: str) -> str:
    """The part next to the group if an unpaired bracket splits the text: "tools (BLAST" is about BLAST.

    Words that only lead on to the group do not count: "cells divide (as shown by" is about cells that divide.
    """
    halves = list(_half_brackets(text))
    begin = max((position + 1 for position in halves if text[position] in _CLOSING), default=0)
    opened = [position for position in halves if position >= begin]
    for start, end in reversed(list(pairwise([*opened, len(text)]))):
        part = text[start + 1 : end]
        if has_content_words(part) and not leads_on(_bare(part)):
            return part
    return text[begin : opened[0] if opened else len(text)]


def _without_aside(text: str) -> str:
    """The text without a leading bracket, which belongs to what came before."""
    end = text.find(")") if text.startswith("(") else -1
    return text[end + 1 :].lstrip(_LEADING) or text


def _half_brackets(text: str) -> Iterator[int]:
    """Positions of unpaired brackets."""
    opened: list[int] = []
    for position, sign in enumerate(text):
        if sign in _OPENING:
            opened.append(position)
        elif sign in _CLOSING:
            if opened:
                opened.pop()  # of any kind: "[0, 1)" is a pair
            else:
                yield position
    yield from opened
