"""Hyphens at line ends: which of them belong to the word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["Vocabulary"]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Words that follow or begin a compound with a hyphen far more often than they end or begin a divided word.
_AFTER = frozenset(
    "based like specific dependent independent free level wise related driven oriented aware sensitive scale term "
    "known type trained tuned processing defined rich poor linear negative positive trivial deterministic "
    "supervised invasive significant parametric uniform coding binding fold art tuning making solving matching "
    "expressing containing".split()
)
_BEFORE = frozenset(
    "non self well semi cross high low long short one two three four five six single so pseudo quasi".split()
)
_NUMBERS = frozenset("two three four five self".split())  # their words have a hyphen even if met once
_LINKS = frozenset(("and", "or", "to", "versus", "vs."))
# Beginnings that a word seldom keeps a hyphen after, though they are words themselves.
_PREFIXES = frozenset("over under inter super counter trans micro macro hyper infra intra extra auto".split())
# Words that are written together although their halves are words too.
_CLOSED = frozenset(
    """
    without within throughout however therefore something sometimes somewhat someone somewhere everything everyone
    everywhere anything anyone anywhere nothing nowhere nowadays otherwise likewise understand understanding overall
    keyword keywords database databases network networks framework frameworks background another themselves itself
    himself myself ourselves whereas whereby wherein whenever wherever whatever whether furthermore moreover
    nevertheless nonetheless hereafter thereafter thereby therein herein before below between become becomes overview
    output outputs input inputs update updates upper outcome outcomes offline online feedback guideline guidelines
    baseline baselines workshop workflow software hardware download upload threshold bandwidth timestamp checkpoint
    benchmark benchmarks meaningful widespread straightforward underlying highlight highlights outperform outperforms
    overcome bottleneck breakthrough drawback drawbacks lifetime viewpoint landscape manuscript subset subsets
    underline shortcoming shortcomings handbook notebook textbook website webpage newspaper worldwide
    """.split()
)


class Vocabulary:
    """The words of a document, from inside its lines, and what they say of a divided word."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for line in lines:
            words = [match[0].lower() for match in _WORD.finditer(line)]
            if line.endswith(("-", "\u2010", "\u00ad")):
                del words[-1:]  # half a word
            for word in words[1:]:  # the first may be the other half
                self._words[word] += 1
                if "-" in word:
                    self._words.update(word.split("-"))

    def is_suspended(self, before: str, after: str) -> bool:
        """Whether "before-" at a line's end shares the end of a word that follows "after": "pre- and postwar"."""
        return after in _LINKS and not self._words[(before[_start(before) :] + after).lower()]

    def keeps_hyphen(self, before: str, after: str) -> bool:
        """Whether "before-" at a line's end and "after" on the next are a word with a hyphen."""
        compound, _, left = before.rpartition("-")
        right = after
        if not left or not right or not left[-1].isalpha() or not right[0].isalpha():
            return True  # "10-fold", "COVID-19"
        right = _word(right)
        at = _start(left)
        if min(len(left), len(after.rstrip(".,;:)]"))) < 2 or left[:at][-1:].isdigit():
            return True  # "N-terminal", "PBS-T", "IR41a-expressing"
        left = left[at:]
        whole, hyphenated = self._words[(left + right).lower()], self._words[f"{left}-{right}".lower()]
        if whole != hyphenated:
            return hyphenated > whole
        if right[0].isupper() and not left.isupper():
            return True  # "Tree-Adjoining"
        if left.isupper() and len(left) > 1 and not right.isupper():
            return True  # "PATB-tokenized"
        left, right = left.lower(), right.lower()
        if left + right in _CLOSED or (left in _PREFIXES and not compound):
            return False
        if not self._words[right]:
            known = self._words[left] > 0
            return (known and right in _AFTER) or (len(right) > 4 and (left in _NUMBERS or bool(compound and known)))
        if compound or left in _BEFORE:
            return True  # "state-of-the-" "art"
        return self._words[left] > 0 and (right in _AFTER or min(len(left), len(right)) > 3)


def _word(text: str) -> str:
    match = _WORD.match(text)
    return match[0].partition("-")[0] if match else text


def _start(text: str) -> int:
    """Where the last word of a text begins."""
    at = len(text)
    while at and text[at - 1].isalpha():
        at -= 1
    return at
