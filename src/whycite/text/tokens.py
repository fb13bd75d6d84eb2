"""Tokens: words as written, and terms for matching."""

from __future__ import annotations

import re

from whycite.text.normalise import clean, fold, spell_greek

__all__ = ["terms", "words"]

# Letters and digits, joined by hyphens, apostrophes and the points and commas of numbers. Each repetition starts with
# a separator, so matching takes linear time.
_WORD = re.compile(r"[^\W_]+(?:(?:[-‐‑'’]|(?<=\d)[.,](?=\d))[^\W_]+)*|\S")
_TERM = re.compile(r"[^\W_]+(?:(?<=\d)\.(?=\d)[^\W_]+)*")

_NAME_NUMBER = re.compile(r"(?<=[A-Z])-(?=\d)")
_MICRO = re.compile(r"μ(?=[a-zA-Z])")
_POSSESSIVE = re.compile(r"'s?(?![^\W_])|'(?=[^\W_])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def words(text: str) -> list[str]:
    """The words in their case, unstemmed, with every other sign as its own token (as ILCiteR counts tokens)."""
    return _WORD.findall(text)


def terms(text: str) -> list[str]:
    """The words and numbers for matching: no case, accents or punctuation; "IL-6" and "IL6" are one term.

    Parts of hyphenated words are separate terms, and so are Greek letters, by name: "TNFα" equals "TNF-alpha".
    """
    text = _MICRO.sub("u", _NAME_NUMBER.sub("", clean(text)))
    text = spell_greek(fold(text), padding=" ")
    return _TERM.findall(_THOUSANDS.sub("", _POSSESSIVE.sub("", text)))
