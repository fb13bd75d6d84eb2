"""Tokens: words as written, and terms for matching."""

from __future__ import annotations

import re

from whycite.text.normalise import clean, fold, spell_greek

__all__ = ["squeeze", "terms", "words"]

# Letters and digits, joined by hyphens, apostrophes and the points and commas of numbers. Each repetition starts with
# a separator, so matching takes linear time.
_WORD = re.compile(r"[^\W_]+(?:(?:[-‐‑'’]|(?<=\d)[.,](?=\d))[^\W_]+)*|\S")
_TERM = re.compile(r"[^\W_]+(?:(?<=\d)\.(?=\d)[^\W_]+)*")

_NAME_NUMBER = re.compile(r"(?<=[A-Z])-(?=\d)")
_MICRO = re.compile(r"μ(?=[a-zA-Z])")
_POSSESSIVE = re.compile(r"'s?(?![^\W_])|'(?=[^\W_])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


def words(text: str) -> list[str]:
    """The words in their case, unstemmed, with every other sign as its own token (as ILCiteR counts tokens)."""
    return _WORD.findall(text)


def terms(text: str) -> list[str]:
    """The words and numbers for matching: no case, accents or punctuation; "IL-6" and "IL6" are one term.

    Parts of hyphenated words are separate terms, and so are Greek letters, by name: "TNFα" equals "TNF-alpha".
    """
    text = clean(text)
    # Most texts have few of these signs, and looking for them is faster than replacing them.
    if "-" in text:
        text = _NAME_NUMBER.sub("", text)
    if "μ" in text:
        text = _MICRO.sub("u", text)
    text = spell_greek(fold(text), padding=" ")
    if "'" in text:
        text = _POSSESSIVE.sub("", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _TERM.findall(text)


def squeeze(text: str) -> bytes | None:
    """The letters and digits of a text, which include every one of its terms without points, to rule terms out fast.

    None if only `terms` can tell: with accents, Greek letters or apostrophes, terms are not what is written.
    """
    return None if "'" in text or not text.isascii() else text.encode().lower().translate(None, _ASCII_SIGNS)
