"""Words that a claim and the sentences of a document share: BM25, and the share of the claim they cover."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import lemma, terms
from whycite.text.wordlists import FUNCTION_WORDS

__all__ = ["SentenceLexicon", "forms", "says_in_same_words"]

Floats = NDArray[np.float64]

_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "edly", "ed", "ively", "ive", "ly", "es", "s", "e")
_MIN_STEM = 4  # letters; a shorter rest is not the same word


def forms(text: str) -> list[str]:
    """The content words of a text without their endings, to compare them."""
    return [_form(term) for term in terms(text) if term not in FUNCTION_WORDS]


@lru_cache(maxsize=1 << 16)
def _form(term: str) -> str:
    word = lemma(term)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word.removesuffix(ending)
    return word


class SentenceLexicon:
    """The words of a document's sentences; how rare a word is depends on these sentences alone."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._forms = [forms(sentence) for sentence in sentences]
        self._index = Bm25Index(self._forms)
        self.lengths: Floats = np.array([len(sentence_forms) for sentence_forms in self._forms], np.float64)
        counts: dict[str, int] = {}
        for sentence_forms in self._forms:
            for form in set(sentence_forms):
                counts[form] = counts.get(form, 0) + 1
        self._weights = {form: float(np.log1p(len(sentences) / count)) for form, count in counts.items()}
        self._unseen = float(np.log1p(2 * len(sentences)))

    def bm25(self, claim: str) -> Floats:
        """The score of each sentence, relative to a sentence with every word of the claim."""
        claim_forms = forms(claim)
        maximum = sum(self._weights.get(form, self._unseen) for form in set(claim_forms))
        return self._index.scores(claim_forms)["plus"] / max(maximum, 1e-9)

    def coverage(self, claim: str) -> Floats:
        """The share of the claim's words in each sentence; rare words count more."""
        weights = {form: self._weights.get(form, self._unseen) for form in set(forms(claim))}
        total = sum(weights.values()) or 1.0
        return np.array(
            [
                sum(weights[form] for form in weights.keys() & set(sentence_forms)) / total
                for sentence_forms in self._forms
            ]
        )


# Words that decide what a sentence with the same content words says.
_DECIDING = frozenset(
    "not no nor never neither without cannot unable unlikely unknown whether if fail fails failed lack lacks lacked "
    "may might could can will would should must all every each most many several some few only always often sometimes "
    "than before after more less higher lower".split()
)
_LONGEST = 3  # times the claim; a longer sentence says more than the claim


def says_in_same_words(claim: str, sentence: str) -> bool:
    """Whether a sentence has all content words of a claim, and the same words that decide what it says of them."""
    claim_forms, claim_terms, sentence_terms = set(forms(claim)), terms(claim), terms(sentence)
    return (
        bool(claim_forms)
        and claim_forms <= set(forms(sentence))
        and _DECIDING.intersection(claim_terms) == _DECIDING.intersection(sentence_terms)
        and len(sentence_terms) <= _LONGEST * len(claim_terms)
    )
