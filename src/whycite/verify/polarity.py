"""Whether claim and passage point the same way: negation, and words that have an opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whycite.verify.lexical import forms
from whycite.verify.negation import denied, negation_of

__all__ = ["Polarity", "compare", "pointing"]

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
_WORD = re.compile(r"[a-z]+(?:-regulat[a-z]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polarity:
    """In how many ways a passage points as the claim does, in how many the other way, and that in words."""

    agreed: int = 0
    opposed: int = 0
    apart: float = 0.0  # of the words they share, the share that one of them denies and the other does not
    negation: bool = False  # one of them is negated, the other is not
    words: str = ""  # "“increases” in the claim, “reduced” here"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A word that points some way, and the words around it with what each counts: the nearer, the more."""

    word: str
    way: str
    up: bool
    around: Mapping[str, float]


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
        nearest = max(rivals, key=lambda other: (_alike(ours, other), other.up == ours.up))
        if nearest.up == ours.up:
            agreed += 1
        else:
            opposed += 1
            # A word that stands in both is nothing to tell of, even where another one stands nearer.
            if all(other.up != ours.up for other in rivals):
                words.append(f"“{ours.word}” in the claim, “{nearest.word}” here")
    said, theirs_said = negation_of(claim), negation_of(passage)
    negation = bool(said) != bool(theirs_said)
    if negation and not any(f"“{(said or theirs_said).split()[0]}”" in told for told in words):
        words.append(f"only the {'claim' if said else 'passage'} says “{said or theirs_said}”")
    return Polarity(agreed, opposed, _apart(claim, passage), negation, "; ".join(words))


def _alike(one: _Pointer, other: _Pointer) -> float:
    return sum(weight * other.around.get(form, 0.0) for form, weight in one.around.items())


def _apart(claim: str, passage: str) -> float:
    ours, theirs = denied(claim), denied(passage)
    if ours & theirs:
        return 0.0  # both deny the same, if not all of it in the same order
    shared = set(forms(claim)) & set(forms(passage))
    return len(shared & (ours | theirs)) / max(len(shared), 1)


def _pointers(text: str) -> list[_Pointer]:
    words = [word.lower() for word in _WORD.findall(text)]
    found = []
    for at, word in enumerate(words):
        if ways := dict(pointing(word)):
            around = _around(words, at)
            found += [_Pointer(word, way, up, around) for way, up in ways.items()]
    return found


def _around(words: list[str], at: int) -> dict[str, float]:
    """The words around one; each counts by the nearest place it has."""
    found: dict[str, float] = {}
    for far in range(1, _AROUND + 1):
        for near in (at - far, at + far):
            if 0 <= near < len(words):
                for form in forms(words[near]):
                    found.setdefault(form, 1 / (1 + far))
    return found


def pointing(word: str) -> Iterator[tuple[str, bool]]:
    """The ways in which a word points, and whether up."""
    yield from _WHOLE.get(word, ())
    for length in range(4, len(word) + 1):
        yield from _STEMS.get(word[:length], ())


_WHOLE: dict[str, list[tuple[str, bool]]] = {}
_STEMS: dict[str, list[tuple[str, bool]]] = {}
for _way, _lists in _OPPOSITES.items():
    for _up, _listed in zip((True, False), _lists, strict=True):
        for _each in _listed.split():
            (_STEMS if _each.endswith("*") else _WHOLE).setdefault(_each.rstrip("*"), []).append((_way, _up))
