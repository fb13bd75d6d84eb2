"""Names in a claim: authors of papers, and things such as tools, genes and places."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from whycite.documents.latex.formulas import EQUATION
from whycite.documents.markup import POINTER
from whycite.text.tokens import fold, terms
from whycite.text.wordlists import FUNCTION_WORDS, load_word_lists

__all__ = ["author_matcher", "family_names", "proper_names"]

_NAMED_AUTHORS = 5  # authors of a paper looked for in a sentence; texts rarely name later ones
_OTHER_AUTHOR = 0.5  # if the sentence names an author other than the first
_NAME = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_PLACEHOLDERS = frozenset({POINTER, EQUATION})
_LABELS = load_word_lists(__name__)["labels"]


def family_names(authors: Sequence[str]) -> list[str]:
    """The family names of the authors that a sentence may name, folded for comparison."""
    return [fold(name.partition(",")[0]) for name in authors[:_NAMED_AUTHORS]]


def author_matcher(sentence: str) -> Callable[[Sequence[str]], float]:
    """A function that rates family names: 1 if the sentence names the first one, a half for the next four."""
    text = fold(sentence)
    names = set(_NAME.findall(text))

    def is_mentioned(family: str) -> bool:
        return len(family) > 2 and (family in names or (" " in family and f" {family} " in f" {text} "))

    def match(authors: Sequence[str]) -> float:
        if authors and is_mentioned(authors[0]):
            return 1.0
        return _OTHER_AUTHOR if any(map(is_mentioned, authors[1:])) else 0.0

    return match


def proper_names(claim: str) -> frozenset[str]:
    """The terms of words that are written like names: with a capital, which the first word must have further on."""
    words = [word.strip("()[].,;:'\"“”‘’") for word in claim.split()]
    names = [word for word in words[1:] if any(map(str.isupper, word))]
    names += [word for word in words[:1] if any(map(str.isupper, word[1:]))]
    return frozenset(
        term
        for name in names
        if len(name) > 1 and name not in _PLACEHOLDERS
        for term in terms(name)
        if not term.isdigit() and term not in FUNCTION_WORDS and term not in _LABELS
    )
