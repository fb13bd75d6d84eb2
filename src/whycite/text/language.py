"""Is a text English? The bundled models have learnt no other language, so text in others is reported, not judged.

Short texts are taken for English until something says otherwise: a false alarm does more harm than a miss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whycite.text.wordlists import FUNCTION_WORDS, load_words

__all__ = ["is_english_draft", "is_foreign_sentence", "is_foreign_text"]

_WORD = re.compile(r"[^\W\d_]+")
_LAST_LATIN_LETTER = "\u024f"

# Long texts: function words are more than 0.3 of academic English and 0.07 of German; the ten commonest words are 0.2
# or more of a draft in English.
_MIN_WORDS = 60  # shorter texts may lack function words by chance
_MIN_FUNCTION_WORD_SHARE = 0.15
_MAX_CHARACTERS = 20_000  # enough to tell; the rest of a long text is not read
_COMMON_WORD = re.compile(r"\b(?:the|of|and|is|that|to|in|with|for|are)\b", re.IGNORECASE)
_MIN_COMMON_WORD_SHARE = 0.13
_LONG_DRAFT = 300  # words; in a draft this long the share of common words decides alone

# Short texts: different foreign words needed in a draft, and in a sentence.
_MIN_FOREIGN_WORDS_IN_DRAFT = 3
_MIN_FOREIGN_WORDS_IN_SENTENCE = 2
_MIN_LETTERS_IN_SENTENCE = 10  # fewer letters of another script may be a formula
# English function words that are words of other languages, too.
_SHARED_WORDS = frozenset("an as in on so was do no me he here also over of am at".split())
_NAMES = re.compile(
    r"\b(?:[Vv]an (?:der|den|de|het)|[Dd]e novo|de facto|[Dd]e la [A-Z]\w+|[Ee]t al|Los Angeles|Las Vegas|"
    r"La Niña|El Niño)\b"
)


def is_english_draft(sentences: Sequence[str]) -> bool:
    """Whether a draft is in English; one too short to tell is."""
    word_count = sum(sentence.count(" ") + 1 for sentence in sentences)
    common_count = sum(len(_COMMON_WORD.findall(sentence)) for sentence in sentences)
    if word_count == 0 or common_count / word_count >= _MIN_COMMON_WORD_SHARE:
        return True
    if word_count >= _LONG_DRAFT:
        return False
    text = " ".join(sentences).lower()
    if _is_other_script(text) or _has_few_function_words(words := _WORD.findall(text)):
        return False
    foreign = load_words("whycite.text", "foreign-words") | load_words("whycite.text", "weaker-foreign-words")
    foreign_count = sum(word in foreign for word in words)
    english_count = sum(word in FUNCTION_WORDS for word in words)
    return foreign_count <= english_count or len(foreign.intersection(words)) < _MIN_FOREIGN_WORDS_IN_DRAFT


def is_foreign_text(text: str) -> bool:
    """Whether a text is long enough to tell, and not in English."""
    return _has_few_function_words([word.lower() for word in _WORD.findall(text[:_MAX_CHARACTERS])])


def is_foreign_sentence(sentence: str) -> bool:
    """Whether a sentence is clearly not English: in another script, or with foreign words and no English ones."""
    if _is_other_script(sentence, _MIN_LETTERS_IN_SENTENCE):
        return True
    words = {word.lower() for word in _WORD.findall(_NAMES.sub(" ", sentence))}
    english = {word for word in words & FUNCTION_WORDS if len(word) > 1} - _SHARED_WORDS  # "m" may be metres
    return not english and len(words & load_words("whycite.text", "foreign-words")) >= _MIN_FOREIGN_WORDS_IN_SENTENCE


def _is_other_script(text: str, min_letters: int = 1) -> bool:
    """Whether more than half of the letters are beyond the Latin alphabets."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) >= min_letters and 2 * sum(letter > _LAST_LATIN_LETTER for letter in letters) > len(letters)


def _has_few_function_words(words: Sequence[str]) -> bool:
    english_count = sum(word in FUNCTION_WORDS for word in words)
    return len(words) >= _MIN_WORDS and english_count < _MIN_FUNCTION_WORD_SHARE * len(words)
