"""What the model cannot know of a draft: what its authors do themselves, and what they have cited before."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whycite.documents.model import Document
from whycite.evidence.words import FUNCTION_WORDS
from whycite.worthiness.examples import UNLABELLED, unmarked

__all__ = ["adjusted", "english", "names", "own_contribution"]

_PART = r"(?:section|chapter|paper|work|article|thesis|part|appendix|document|book|manuscript|report)"
_HERE = re.compile(
    rf"\b(?:this|the (?:next|following|previous|present|remaining)) {_PART}s?\b|\bthe rest of (?:this|the) {_PART}\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    rf"\b(?:we|I|this {_PART})\b(?: \w+ly| then| also| now| first| next| here| will| shall)*"
    r" (?:propose|present|introduce|describe|discuss|contribute|organi[sz]e|outline|conclude|report|begin|turn)s?\b",
    re.IGNORECASE,
)
# "AdaBoost", "BERT", "ResNet-50": names that are not written as other words are.
_NAME = re.compile(r"\b(?:[A-Z][a-z]+[A-Z][\w-]*|[A-Z]{2,}[\w-]*|[a-z]+[A-Z][\w-]*)")
_COMMON = re.compile(r"\b(?:the|of|and|is|that|to|in|with|for|are)\b", re.IGNORECASE)
_ENGLISH = 0.13  # share of words that are such; in drafts in English it is 0.2 or more
_LONG = 300  # words from which on that share alone tells
_ENOUGH, _SOME = 60, 0.15  # words from which on few function words tell, and how many are few
_CLEAR = 3  # different words of other languages that tell, where there are more of them than of English
_WORD = re.compile(r"[^\W\d_]+")
# Frequent words of other languages; none of them is a function word of English.
_OTHERS = frozenset(
    """
    der die das und ist nicht ein eine einer eines den dem des mit für auf sich von zu wird werden wir dass auch wurde
    schon aber oder als bei nach sind wie nur noch kann sie im zum zur über
    le la les une dans que pour pas sur du au aux sont nous cette avec qui est ces dont ont été
    el los las del una por con como para es se su más son entre este lo il di che non della delle sono dei nel gli è
    het een van dat niet voor zijn wordt ook deze aan os da dos em não uma com ao foi são mais
    och att det som på är av inte til og ikke af jeg vi med blev jest nie się na że jak oraz przez są które który
    """.split()
)
_FACTOR = 0.5  # of the odds


def adjusted(
    document: Document, probabilities: Sequence[float] | NDArray[np.float64], ask_again: bool = True
) -> NDArray[np.float64]:
    """The probabilities of a document's sentences, one each, with what its rules take away.

    Captions, tables, headings and acknowledgements are not asked for; what authors say of their own work is rarely;
    without `ask_again` neither is a method whose name stands in an earlier sentence that cites (SCOPE 6.4.2).
    """
    found = np.array(probabilities, np.float64)
    if len(found) != len(document.sentences):
        raise ValueError(f"{len(document.sentences)} sentences have {len(found)} probabilities")
    cited: set[str] = set()
    for at, sentence in enumerate(document.sentences):
        type = document.sections[sentence.section].type if sentence.section < len(document.sections) else None
        own = names(sentence.text)
        if sentence.kind not in ("prose", "footnote") or type in UNLABELLED:
            found[at] = 0.0
        else:
            known = not ask_again and bool(own) and own <= cited
            less = own_contribution(unmarked(sentence, document)) + known
            found[at] = _less(found[at], less)
        if sentence.citations:
            cited |= own
    return found


def own_contribution(text: str) -> bool:
    """Whether a sentence tells what its authors do here: "we propose", "in the next section"."""
    return bool(_OWN.search(text) or _HERE.search(text))


def names(text: str) -> set[str]:
    """What a sentence calls by names that are not written as other words are: "BERT", "AdaBoost"."""
    return set(_NAME.findall(text))


def english(texts: Sequence[str]) -> bool:
    """Whether a draft is in English, the one language that the bundled model has learned; what is too short counts."""
    words = sum(text.count(" ") + 1 for text in texts)
    if words == 0 or sum(len(_COMMON.findall(text)) for text in texts) / words >= _ENGLISH:
        return True
    return words < _LONG and not _foreign(" ".join(texts).lower())


def _foreign(text: str) -> bool:
    """Whether a short text is clearly in another language: one sentence of English may do without "the" and "of"."""
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > len(letters) / 2:  # beyond the Latin alphabets
        return True
    words = _WORD.findall(text)
    known, others = (sum(word in some for word in words) for some in (FUNCTION_WORDS, _OTHERS))
    if len(words) >= _ENOUGH and known < _SOME * len(words):
        return True
    return others > known and len(_OTHERS.intersection(words)) >= _CLEAR


def _less(probability: float, times: int) -> float:
    odds = probability * _FACTOR**times
    return odds / (odds + 1 - probability)
