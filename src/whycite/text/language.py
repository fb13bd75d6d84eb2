"""Is a text English, and is it language at all, not code or the codes of a font?

The bundled models have learnt English only, so text in other languages is reported, not judged.

Short texts are taken for English until something says otherwise: a false alarm does more harm than a miss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whycite.text.wordlists import FUNCTION_WORDS, load_words

__all__ = [
    "is_english_draft",
    "is_foreign_sentence",
    "is_foreign_text",
    "is_language",
    "reads_as_prose",
    "reads_as_sentences",
]


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
