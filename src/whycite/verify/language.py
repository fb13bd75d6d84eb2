"""Whether texts are in English, the one language in which claims are held against papers."""

from __future__ import annotations

import re

from whycite.evidence.words import FUNCTION_WORDS

__all__ = ["is_foreign", "is_foreign_claim"]

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 60  # words that tell a language
_ENGLISH = 0.15  # the least share of English function words; German text has 0.07, academic English above 0.3
_LATIN, _LETTERS = "\u024f", 10  # the last letter of its kind; how many letters tell a script
_FOREIGN = 2  # function words of other languages that tell the language of a sentence
# German, French, Spanish, Italian, Portuguese, Dutch: what is neither an English word nor a short name.
_OTHERS = frozenset(
    """
    der das dem den ein eine einer eines einem einen und oder ist sind wird werden wurde wurden nicht mit von für auf
    bei nach aus als auch durch zu zum zur sich dass über zwischen
    le la les un une du est sont dans pour par sur avec qui que ne pas ont aux cette ces leur été
    el los las unos unas con por para su sus del una uno como más esta este
    il lo gli di che è sono nel della delle dei degli alla più
    os um uma da dos em com não são pela pelo ao
    het een van zijn wordt worden niet voor op door bij naar ook dat deze
    """.split()
)
# English function words that are words of these languages, too.
_SHARED = frozenset("an as in on so was do no me he here also over of am at".split())
_IN_NAMES = re.compile(
    r"\b(?:[Vv]an (?:der|den|de|het)|[Dd]e novo|de facto|[Dd]e la [A-Z]\w+|[Ee]t al|Los Angeles|Las Vegas|"
    r"La Niña|El Niño)\b"
)


def is_foreign(text: str) -> bool:
    """Whether a text is long enough to tell that it is not English."""
    words = [word.lower() for word in _WORD.findall(text[:20_000])]
    return len(words) >= _ENOUGH and sum(word in FUNCTION_WORDS for word in words) < _ENGLISH * len(words)


def is_foreign_claim(claim: str) -> bool:
    """Whether a sentence is clearly not English: in letters of another script, or by words of other languages alone."""
    letters = [letter for letter in claim if letter.isalpha()]
    if len(letters) >= _LETTERS and 2 * sum(letter > _LATIN for letter in letters) > len(letters):
        return True
    words = {word.lower() for word in _WORD.findall(_IN_NAMES.sub(" ", claim))}
    english = {word for word in words & FUNCTION_WORDS if len(word) > 1} - _SHARED  # "m" may be metres
    return not english and len(words & _OTHERS) >= _FOREIGN
