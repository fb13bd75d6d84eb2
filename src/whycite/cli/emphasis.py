"""Which words of a text a claim shares with it, for a reader's eye."""

from __future__ import annotations

import re
from functools import lru_cache

from whycite.evidence.words import FUNCTION_WORDS
from whycite.text.lemmas import lemma
from whycite.text.tokens import terms

__all__ = ["shared"]

_WORD = re.compile(r"[^\W_]+")


def shared(text: str, claim: str) -> list[tuple[int, int]]:
    """The ranges in `text` of the words that `claim` has too, whatever their number, case and accents."""
    wanted = {_form(word) for word in _WORD.findall(claim)} - {""}
    return [found.span() for found in _WORD.finditer(text) if _form(found[0]) in wanted]


@lru_cache(maxsize=4096)
def _form(word: str) -> str:
    """What a word is compared by; nothing for one that says nothing."""
    folded = "".join(terms(word))
    return "" if folded in FUNCTION_WORDS or len(folded) < 2 else lemma(folded)
