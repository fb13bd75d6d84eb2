"""Whether a paper fits a claim, as a chance that does not depend on other papers.

Which paper comes first is another question (`whycite.cite.scoring`): several good papers share first place, and each
of them fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from math import exp, log
from types import MappingProxyType

from whycite.documents.markup import EQUATION, POINTER
from whycite.text.tokens import fold, squeeze, terms
from whycite.text.wordlists import FUNCTION_WORDS, load_tables, load_words

__all__ = [
    "BAR",
    "BIBLIOGRAPHY",
    "LIBRARY",
    "SIGNS",
    "ClaimWords",
    "FitSigns",
    "FitWeights",
    "InsertionWeights",
    "author_matcher",
    "best_chance",
    "family_names",
    "fit_chance",
    "insertion_chance",
    "insertion_signs",
    "may_insert",
    "nothing_fits",
    "proper_names",
    "title_matches",
]

_MIN_TITLE_SHARE = 1 / 3  # of a title's words that a claim must have before the title is said to match
_MIN_TITLE_WORDS = 3  # so that a title of one word, which many claims have, counts as a third
_NAMED_AUTHORS = 5  # authors of a paper looked for in a sentence; texts rarely name later ones
_OTHER_AUTHOR = 0.5  # if the sentence names an author other than the first
_NAME = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_PLACEHOLDERS = frozenset({POINTER, EQUATION})
_LABELS = load_words("whycite.cite", "labels")


@dataclass(frozen=True, slots=True)
class FitSigns:
    """What speaks for a paper and a claim, without regard to other papers."""

    meaning: float  # best cosine of the claim with the title and abstract, or with a text that cites the paper
    title: float  # share of the title's words that the claim has
    author: float  # whether the claim names an author: 1 for the first, a half for the next four
    named: float  # whether the claim has names at all
    missing: float  # share of these that neither the paper nor a text that cites it has
    # Known only with the draft, 0 without it: log(1 + number).
    section: float = 0.0  # citations of the paper in other sentences of the section
    nearer: float = 0.0  # other citing sentences of the draft that are nearer to the paper's title and abstract


SIGNS = tuple(field.name for field in fields(FitSigns))


class ClaimWords:
    """The words of a claim that papers are compared with."""

    def __init__(self, claim: str) -> None:
        self._words = _terms(claim) - FUNCTION_WORDS
        self._names = proper_names(claim)
        self._squeezed_names = {name: name.replace(".", "").encode("utf-8", "replace") for name in self._names}
        self._match_authors = author_matcher(claim)

    def signs(self, meaning: float, title: str, authors: Sequence[str], texts: Iterable[str]) -> FitSigns:
        """The signs for a paper; `texts` are its abstract and what others say when they cite it."""
        title_words = _terms(title)
        content_words = title_words - FUNCTION_WORDS
        missing = self._names - title_words
        for text in (*texts, "; ".join(authors)):
            if not missing:
                break
            squeezed = squeeze(text)
            if squeezed is None or any(self._squeezed_names[name] in squeezed for name in missing):
                missing -= _terms(text)
        return FitSigns(
            meaning=meaning,
            title=len(self._words & content_words) / max(_MIN_TITLE_WORDS, len(content_words)),
            author=self._match_authors(family_names(authors)),
            named=float(bool(self._names)),
            missing=len(missing) / len(self._names) if self._names else 0.0,
        )


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    """Cached: the sentences of a draft are compared with the same papers."""
    return frozenset(terms(text))


@dataclass(frozen=True, slots=True)
class FitWeights:
    """A logistic regression on the signs."""

    weights: Mapping[str, float]
    bias: float


@dataclass(frozen=True, slots=True)
class InsertionWeights:
    """A logistic regression on logarithms, and the chance from which `check --fix` inserts a paper."""

    fits: float  # of the odds that the paper fits
    rival: float  # of the odds that the best of the other candidates fits
    share: float  # of its share among the candidates
    bias: float
    bar: float


_TABLES = load_tables(__name__)
# Entries of a bibliography are few and all from the draft's own field; in a library, a near text means more.
BIBLIOGRAPHY, LIBRARY = (
    FitWeights(MappingProxyType({name: _TABLES[source][name] for name in SIGNS}), _TABLES[source]["bias"])
    for source in ("bibliography", "library")
)
BAR: float = _TABLES["bar"]  # the chance below which a paper does not fit
INSERTION = InsertionWeights(**_TABLES["insertion"])
_LEAST = 1e-6  # of shares whose logarithm is taken
_LEAST_CHANCE = 0.01  # the odds of less say no more


def fit_chance(signs: FitSigns, weights: FitWeights) -> float:
    """The chance that a paper fits a claim, if as many papers fit as do not."""
    return _logistic(weights.bias + sum(weights.weights[name] * getattr(signs, name) for name in SIGNS))


def title_matches(signs: FitSigns) -> bool:
    """Whether to say that a title matches: the claim has enough of its words."""
    return signs.title >= _MIN_TITLE_SHARE


def best_chance(chances: Iterable[float | None]) -> float | None:
    """The chance of an answer: that of the paper that fits best; None if nothing is known of any."""
    return max((chance for chance in chances if chance is not None), default=None)


def nothing_fits(chance: float | None) -> bool:
    """Whether to say that nothing fits; not where nothing is known."""
    return chance is not None and chance < BAR


def insertion_chance(fits: float, rival: float, share: float, weights: InsertionWeights = INSERTION) -> float:
    """The chance that a paper is the one to cite: it must fit, and better than the others."""
    fit_odds, rival_odds, log_share = insertion_signs(fits, rival, share)
    return _logistic(weights.bias + weights.fits * fit_odds + weights.rival * rival_odds + weights.share * log_share)


def insertion_signs(fits: float, rival: float, share: float) -> tuple[float, float, float]:
    """The logarithms that the chance is computed from."""
    return _log_odds(fits), _log_odds(rival), log(max(share, _LEAST))


def may_insert(fits: float | None, rival: float | None, share: float) -> bool:
    """Whether `check --fix` inserts a paper; without a rival, no other paper is at hand."""
    if fits is None or nothing_fits(fits):
        return False
    return insertion_chance(fits, rival or 0.0, share) >= INSERTION.bar


def _log_odds(chance: float) -> float:
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return log(chance) - log(1 - chance)


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value)) if value > 0 else exp(value) / (1 + exp(value))


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
