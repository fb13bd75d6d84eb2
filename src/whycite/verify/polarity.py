"""Whether claim and passage point the same way: negation, and words that have an opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from whycite.verify.lexical import forms

__all__ = ["Polarity", "compare_polarity", "denied_words", "is_negated", "negation_of", "word_ways"]


_REACH = 8  # words that a negation reaches
_FORWARD = (
    r"not|no|nor|never|neither|none|cannot|without|fail(?:s|ed|ing|ure)?|unable|lack(?:s|ed|ing)?|absence|unlikely|"
    r"hardly|rarely|independent of|rather than|[a-z]+n[’']t"
)
_BOTH_WAYS = r"unaffected|unchanged|un(?:related|associated|altered)"
_NEGATION = re.compile(rf"\b(?:{_FORWARD}|{_BOTH_WAYS})\b", re.IGNORECASE)
_NO_NEGATION = re.compile(
    r"\bnot only\b|\bnot (?:yet|necessarily|just|merely|until)\b|\bno(?:netheless| doubt)\b|\bwhether or not\b|\bno\.|"
    r"\bno (?:more|less|fewer) than\b",
    re.IGNORECASE,
)
_PIECE = re.compile(
    rf"(?P<around>\b(?:{_BOTH_WAYS})\b)|(?P<ahead>\b(?:{_FORWARD})\b)|(?P<word>[^\W_]+)|(?P<sign>[,;:.()])",
    re.IGNORECASE,
)
_CLAUSE_ENDS = frozenset(", ; : . ( ) but although though whereas while because which who".split())


def is_negated(text: str) -> bool:
    """Whether a text denies something."""
    return bool(negation_of(text))


def negation_of(text: str) -> str:
    """The first word by which a text denies something, or nothing."""
    match = _NEGATION.search(_NO_NEGATION.sub(" ", text))
    return match[0].lower() if match else ""


@lru_cache(maxsize=4096)
def denied_words(text: str) -> frozenset[str]:
    """The words that negations of a text reach, as they are compared: those behind it in the same clause."""
    denied_forms: set[str] = set()
    clause_forms: list[str] = []
    reach = 0
    for piece in _PIECE.finditer(_NO_NEGATION.sub(" ", text)):
        if piece["ahead"] or piece["around"]:
            reach = _REACH
            if piece["around"]:
                denied_forms.update(clause_forms[-_REACH:])
        elif piece[0].lower() in _CLAUSE_ENDS:
            reach, clause_forms = 0, []
        else:
            piece_forms = forms(piece[0])
            clause_forms += piece_forms
            if reach:
                denied_forms.update(piece_forms)
                reach -= 1
    return frozenset(denied_forms)


_CONTEXT_REACH = 6  # words on either side

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
    context: Mapping[str, float]


def compare_polarity(claim: str, passage: str) -> Polarity:
    """Which way a claim points against which way a passage does.

    Where a passage points both ways, what counts is the pointer whose surroundings are most like those in the claim.
    """
    passage_pointers = _pointers(passage)
    agreed = opposed = 0
    words = []
    for pointer in _pointers(claim):
        rivals = [rival for rival in passage_pointers if rival.way == pointer.way]
        if not rivals:
            continue
        nearest = max(rivals, key=lambda rival: (_context_overlap(pointer, rival), rival.up == pointer.up))
        if nearest.up == pointer.up:
            agreed += 1
        else:
            opposed += 1
            # A word that stands in both is nothing to tell of, even where another one stands nearer.
            if all(rival.up != pointer.up for rival in rivals):
                words.append(f"“{pointer.word}” in the claim, “{nearest.word}” here")
    claim_negation, passage_negation = negation_of(claim), negation_of(passage)
    negation = bool(claim_negation) != bool(passage_negation)
    if negation and not any(f"“{(claim_negation or passage_negation).split()[0]}”" in message for message in words):
        words.append(f"only the {'claim' if claim_negation else 'passage'} says “{claim_negation or passage_negation}”")
    return Polarity(agreed, opposed, _denied_share(claim, passage), negation, "; ".join(words))


def _context_overlap(pointer: _Pointer, rival: _Pointer) -> float:
    return sum(weight * rival.context.get(form, 0.0) for form, weight in pointer.context.items())


def _denied_share(claim: str, passage: str) -> float:
    claim_denials, passage_denials = denied_words(claim), denied_words(passage)
    if claim_denials & passage_denials:
        return 0.0  # both deny the same, if not all of it in the same order
    shared = set(forms(claim)) & set(forms(passage))
    return len(shared & (claim_denials | passage_denials)) / max(len(shared), 1)


def _pointers(text: str) -> list[_Pointer]:
    words = [word.lower() for word in _WORD.findall(text)]
    pointers = []
    for position, word in enumerate(words):
        if ways := dict(word_ways(word)):
            context = _context(words, position)
            pointers += [_Pointer(word, way, up, context) for way, up in ways.items()]
    return pointers


def _context(words: list[str], position: int) -> dict[str, float]:
    """The words around one; each counts by the nearest place it has."""
    weights: dict[str, float] = {}
    for far in range(1, _CONTEXT_REACH + 1):
        for near in (position - far, position + far):
            if 0 <= near < len(words):
                for form in forms(words[near]):
                    weights.setdefault(form, 1 / (1 + far))
    return weights


def word_ways(word: str) -> Iterator[tuple[str, bool]]:
    """The ways in which a word points, and whether up."""
    yield from _WHOLE.get(word, ())
    for length in range(4, len(word) + 1):
        yield from _STEMS.get(word[:length], ())


_WHOLE: dict[str, list[tuple[str, bool]]] = {}
_STEMS: dict[str, list[tuple[str, bool]]] = {}
for _way, _lists in _OPPOSITES.items():
    for _up, _word_list in zip((True, False), _lists, strict=True):
        for _entry in _word_list.split():
            (_STEMS if _entry.endswith("*") else _WHOLE).setdefault(_entry.rstrip("*"), []).append((_way, _up))
