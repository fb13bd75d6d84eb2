"""Sentences that only repeat the claim as another's words: they back nothing."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from whycite.text.normalise import clean
from whycite.text.tokens import terms

__all__ = ["quotes"]

_QUOTED = re.compile(r'"([^"]{20,1000})"')
_ATTRIBUTED = re.compile(
    r"\bet al\b|\baccording to\b|\b(?:as|who|they|he|she) (?:wrote|stated?|put it|claim\w*|said|says|argue\w*)\b|"
    r"\b(?:wrote|claimed|asserted|stated) that\b|[(\[][^()\[\]]{0,80}\b(?:1[89]|20)\d\d[a-z]?[)\]]|\[\d{1,3}\]",
    re.IGNORECASE,
)
_LEAST = 6  # words; less is said twice by chance
_NEARLY = 0.9


def quotes(claim: str, sentence: str) -> bool:
    """Whether a sentence has the claim in quotation marks, or word for word (nearly) with a word on whose it is.

    A sentence that says the same in the same words as its own is the best backing there is, and no quotation.
    """
    ours = terms(claim)
    if len(ours) < _LEAST:
        return False
    if any(_alike(ours, terms(quoted)) for quoted in _QUOTED.findall(clean(sentence))):
        return True
    return _ATTRIBUTED.search(sentence) is not None and _holds(ours, terms(_ATTRIBUTED.sub(" ", sentence)))


def _alike(ours: list[str], theirs: list[str]) -> bool:
    if not theirs or len(theirs) > 3 * len(ours):
        return False
    common = sum(block.size for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks())
    return common >= _NEARLY * len(ours)


def _holds(ours: list[str], theirs: list[str]) -> bool:
    """Whether the claim stands in the sentence in one stretch, but for a word or two."""
    if len(theirs) > 4 * len(ours):
        return False
    match = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
    return match.size >= _NEARLY * len(ours)
