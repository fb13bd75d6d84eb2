"""Whether a claim and a passage point the same way: negation, and words with an opposite."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from whycite.verify.lexical import forms

__all__ = ["Polarity", "compare_polarity", "denied_words", "is_negated", "negation_of", "word_ways"]


_NEGATION_REACH = 8  # words after a negation, in the same clause, that it denies
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
    """The first negation in a text, or "" if there is none."""
    match = _NEGATION.search(_NO_NEGATION.sub(" ", text))
    return match[0].lower() if match else ""


@lru_cache(maxsize=4096)
def denied_words(text: str) -> frozenset[str]:
    """The forms of the words that a text denies: those after a negation in the same clause."""
    denied_forms: set[str] = set()
    clause_forms: list[str] = []
    reach = 0
    for piece in _PIECE.finditer(_NO_NEGATION.sub(" ", text)):
        if piece["ahead"] or piece["around"]:
            reach = _NEGATION_REACH
            if piece["around"]:
                denied_forms.update(clause_forms[-_NEGATION_REACH:])
        elif piece[0].lower() in _CLAUSE_ENDS:
            reach, clause_forms = 0, []
        else:
            piece_forms = forms(piece[0])
            clause_forms += piece_forms
            if reach:
                denied_forms.update(piece_forms)
                reach -= 1
    return frozenset(denied_forms)


_CONTEXT_REACH = 6  # words on either side used to compare two pointers
_MIN_STEM = 4  # letters; no stem in the data is shorter

_WORD = re.compile(r"[a-z]+(?:-regulat[a-z]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polarity:
    """The number of ways in which a passage points like the claim or the other way, and a phrase on these."""

    agreed: int = 0
    opposed: int = 0
    apart: float = 0.0  # share of the common words that only one of them denies
    negation: bool = False  # only one of them is negated
    words: str = ""  # "“increases” in the claim, “reduced” here"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A word that points some way, and the words around it with their weights: nearer ones count more."""

    word: str
    way: str
    up: bool
    context: Mapping[str, float]


def compare_polarity(claim: str, passage: str) -> Polarity:
    """Compare the ways in which a claim and a passage point.

    If a passage points both ways, the pointer whose context is most like that in the claim counts.
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
            # A word that is in both needs no mention, even if another one is nearer.
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
        return 0.0  # both deny the same, in different words
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
    """The words around a position; each counts by its nearest occurrence."""
    weights: dict[str, float] = {}
    for far in range(1, _CONTEXT_REACH + 1):
        for near in (position - far, position + far):
            if 0 <= near < len(words):
                for form in forms(words[near]):
                    weights.setdefault(form, 1 / (1 + far))
    return weights


def word_ways(word: str) -> Iterator[tuple[str, bool]]:
    """The ways in which a word points, and whether up: ("direction", True) for "increased"."""
    whole_words, stems = _opposites()
    yield from whole_words.get(word, ())
    for length in range(_MIN_STEM, len(word) + 1):
        yield from stems.get(word[:length], ())


_Ways = dict[str, list[tuple[str, bool]]]


@cache
def _opposites() -> tuple[_Ways, _Ways]:
    """The ways of whole words, and those of stems, from `data/opposites.toml`."""
    whole_words: _Ways = {}
    stems: _Ways = {}
    tables = tomllib.loads(files("whycite.verify").joinpath("data", "opposites.toml").read_text("utf-8"))
    for way, table in tables.items():
        for up, words in ((True, table["up"]), (False, table["down"])):
            for word in words.split():
                (stems if word.endswith("*") else whole_words).setdefault(word.rstrip("*"), []).append((way, up))
    return whole_words, stems
