"""Whether claim and passage point the same way: negation, and words that have an opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whycite.verify.lexical import forms

__all__ = ["Polarity", "compare", "negated"]

_AROUND = 6  # words on either side

# Stems of words that point up and down, a pair of lists for each way that things can point.
_OPPOSITES: dict[str, tuple[str, str]] = {
    "direction": (
        "increas* elevat* rais* rise* rising rose higher greater more larger enhanc* upregulat* up-regulat* "
        "activat* promot* stimulat* induc* facilitat* amplif* augment* accelerat* gain* boost* strengthen* "
        "potentiat* hyperactiv* overexpress* over-express* enrich* exacerbat*",
        "decreas* reduc* lower* fewer less smaller diminish* downregulat* down-regulat* inhibit* suppress* "
        "block* repress* impair* attenuat* declin* fall* fell loss lost slow* weaken* abolish* prevent* deplet* "
        "hypoactiv* underexpress* abrogat* ameliorat* alleviat* dampen* disrupt*",
    ),
    "quality": ("improv* better superior outperform* best beneficial", "worse* inferior deteriorat* harm* degrad*"),
    "sign": ("positive positively", "negative negatively inverse inversely"),
    "need": (
        "necessary required requires require essential indispensable need needs needed",
        "dispensable unnecessary",
    ),
    "presence": ("presence present with", "absence absent without lack lacks lacking lacked devoid"),
    "sensitivity": ("sensitiv* susceptib* vulnerab*", "resistan* tolera* protect*"),
    "time": ("early earlier before faster quick* short*", "late later after slower delay* long* prolong*"),
    "likeness": ("similar* same identical equal* comparable", "differ* distinct dissimilar* unlike unequal"),
    "height": ("high highly maximal strong stronger", "low minimal weak weaker"),
    "cause": ("caus*", "hinder*"),
    "frequency": ("common frequent", "rare infrequent"),
    "dependence": ("dependent", "independent"),
    "course": ("acute", "chronic"),
    "ligand": ("agonist*", "antagonist*"),
    "excitation": ("excitatory", "inhibitory"),
    "tumour": ("malignant", "benign"),
    "stability": ("stabil*", "destabil* unstable"),
    "front": ("anterior", "posterior"),
    "back": ("dorsal", "ventral"),
    "distance": ("proximal", "distal"),
    "stream": ("upstream", "downstream"),
    "ability": ("able can capable success* sufficient", "unable cannot incapable fail* insufficient"),
}
_NEGATION = re.compile(
    r"\b(?:not|no|nor|never|neither|none|cannot|without|fail(?:s|ed|ing|ure)?|unable|lack(?:s|ed|ing)?|absence|"
    r"unlikely|hardly|rarely|unaffected|unchanged|un(?:related|associated|altered)|independent of|rather than)\b|"
    r"n[’']t\b",
    re.IGNORECASE,
)
_NO_NEGATION = re.compile(
    r"\bnot only\b|\bnot (?:yet|necessarily|just|merely|until)\b|\bno(?:netheless| doubt)\b|\bwhether or not\b|\bno\.|"
    r"\bno (?:more|less|fewer) than\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+(?:-regulat[a-z]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polarity:
    """In how many ways a passage points as the claim does, in how many the other way, and that in words."""

    agreed: int = 0
    opposed: int = 0
    negation: bool = False  # one of them is negated, the other is not
    words: str = ""  # "“increases” in the claim, “reduced” here"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A word that points some way, and the words around it."""

    word: str
    way: str
    up: bool
    around: frozenset[str]


def compare(claim: str, passage: str) -> Polarity:
    """Which way a claim points against which way a passage does.

    Where a passage points both ways, what counts is the pointer whose surroundings are most like those in the claim.
    """
    theirs = _pointers(passage)
    agreed = opposed = 0
    words = []
    for ours in _pointers(claim):
        rivals = [other for other in theirs if other.way == ours.way]
        if not rivals:
            continue
        nearest = max(rivals, key=lambda other: (len(ours.around & other.around), other.up == ours.up))
        if nearest.up == ours.up:
            agreed += 1
        else:
            opposed += 1
            words.append(f"“{ours.word}” in the claim, “{nearest.word}” here")
    negation = negated(claim) != negated(passage)
    if negation:
        words.append(f"only the {'claim' if negated(claim) else 'passage'} says “not”")
    return Polarity(agreed, opposed, negation, "; ".join(words))


def negated(text: str) -> bool:
    """Whether a text denies something."""
    return _NEGATION.search(_NO_NEGATION.sub(" ", text)) is not None


def _pointers(text: str) -> list[_Pointer]:
    words = [word.lower() for word in _WORD.findall(text)]
    found = []
    for at, word in enumerate(words):
        if ways := dict(_pointing(word)):
            around = frozenset(forms(" ".join(words[max(0, at - _AROUND) : at] + words[at + 1 : at + 1 + _AROUND])))
            found += [_Pointer(word, way, up, around) for way, up in ways.items()]
    return found


def _pointing(word: str) -> Iterator[tuple[str, bool]]:
    yield from _WHOLE.get(word, ())
    for length in range(4, len(word) + 1):
        yield from _STEMS.get(word[:length], ())


_WHOLE: dict[str, list[tuple[str, bool]]] = {}
_STEMS: dict[str, list[tuple[str, bool]]] = {}
for _way, _lists in _OPPOSITES.items():
    for _up, _listed in zip((True, False), _lists, strict=True):
        for _each in _listed.split():
            (_STEMS if _each.endswith("*") else _WHOLE).setdefault(_each.rstrip("*"), []).append((_way, _up))
