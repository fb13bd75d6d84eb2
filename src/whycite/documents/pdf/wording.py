"""Whether text is wording: sentences of a language, not code, labels, or the codes of a font that nobody knows."""

from __future__ import annotations

import re

from whycite.text.wordlists import FUNCTION_WORDS, load_words

__all__ = ["is_language", "reads_as_prose", "reads_as_sentences"]


_LETTERS = re.compile(r"[^\W\d_]+")
_CODE_SIGN = re.compile(r"[{}\[\]=<>;_\\|&+*#@$^~]|\w\(")
_FREQUENT = (
    FUNCTION_WORDS | load_words("whycite.text", "foreign-words") | load_words("whycite.text", "weaker-foreign-words")
)
_IN_SENTENCES = frozenset(
    "is are was were be been has have had that this these which we it its not can may will by from with to as".split()
)
_MIN_IN_SENTENCES = 2  # of these in a line; names and addresses have hardly any
_MIN_PROSE_WORDS = 5  # fewer are a label, a name or a keyword
_MIN_PROSE_LETTERS = 0.75  # of the characters; numbers and signs make up less than a quarter of prose
_MIN_FREQUENT = 0.2  # of the words of prose; a third and more in English, fewer in a single line
_MAX_CODE_SIGNS = 0.03  # of the characters; a line of code has one a word
_MIN_LANGUAGE_WORDS = 20  # fewer may lack frequent words by chance
_MIN_FREQUENT_IN_LANGUAGE = 0.04  # of the words of any text, lists of references among them; codes have hardly any


def reads_as_prose(text: str) -> bool:
    """Whether a line or a few read as part of sentences: words, frequent ones among them, hardly a sign."""
    words = _LETTERS.findall(text.lower())
    length = len(text.replace(" ", ""))
    return (
        len(words) >= _MIN_PROSE_WORDS
        and sum(map(len, words)) >= _MIN_PROSE_LETTERS * length
        and sum(word in _FREQUENT for word in words) >= _MIN_FREQUENT * len(words)
        and len(_CODE_SIGN.findall(text)) <= _MAX_CODE_SIGNS * length
    )


def reads_as_sentences(text: str) -> bool:
    """Whether a line reads as prose that is not made of names, as titles and addresses are."""
    return reads_as_prose(text) and sum(word in _IN_SENTENCES for word in text.lower().split()) >= _MIN_IN_SENTENCES


def is_language(text: str) -> bool:
    """Whether a text is in a language that is known here, or in another script, or too short to tell."""
    words = [word for word in _LETTERS.findall(text.lower()) if len(word) > 1]
    if len(words) < _MIN_LANGUAGE_WORDS:
        return 2 * sum(map(str.isalnum, text)) > len(text.replace(" ", ""))
    return sum(word in _FREQUENT for word in words) >= _MIN_FREQUENT_IN_LANGUAGE * len(words)
