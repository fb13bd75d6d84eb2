"""The verdict on a claim: the signs that its best passages give, how likely it is right, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whycite.verify import numbers, polarity
from whycite.verify.contradiction import claims_better, comparison_order, crossed_numbers, reversed_by
from whycite.verify.features import WORD_COLUMNS, PassageWeights
from whycite.verify.passages import PreparedDocument, RankedSentences
from whycite.verify.polarity import Polarity
from whycite.verify.quantities import quantities
from whycite.verify.verification import Verdict

__all__ = ["POINTING", "ReasonedVerdict", "Signs", "chances_of", "collect_signs", "judge", "stance_features"]


_TOP = 3  # passages that are looked at
_SAME_TOPIC = 0.5  # the share of a claim that a sentence has to hold, to be about the same
# The signs that tell backing from contradiction, once a passage is found.
POINTING = (
    *("stance", "denies", "apart", "agreed", "opposed", "negation", "opposed near", "negation near"),
    *("otherwise", "stated"),
)
_COVERAGE = WORD_COLUMNS.index("coverage")


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs as numbers, the passages they were taken from (best first), and what is to be said of them."""

    values: dict[str, float]
    top: tuple[int, ...]
    otherwise: bool  # a number of the claim stands otherwise in the best passages, and nowhere as in the claim
    denied: bool  # only the claim says "not", and what it denies is in the best passage
    opposed: str  # which words point the other way, in words
    contrary: str = ""  # how one of the best passages says the contrary in the claim's own words
    where: int = -1  # which one
    unordered: bool = False  # the claim says that one is better than another, and no passage does
    missing: tuple[str, ...] = ()  # numbers of the claim that the best passages do not have


def collect_signs(
    claim: str,
    prepared: PreparedDocument,
    ranked: RankedSentences,
    skipped: frozenset[int] = frozenset(),
    stance: float | None = None,
) -> Signs | None:
    """The signs that the best passages give, those that are skipped aside; None where none is left.

    `stance`: what is known of it already, else the ranker is asked.
    """
    top = [index for index in np.argsort(-ranked.logits, kind="stable").tolist() if index not in skipped][:_TOP]
    if not top:
        return None
    logits = ranked.logits[top]
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    polarities = [polarity.compare_polarity(claim, prepared.sentences[index]) for index in top]
    near = ranked.words[top, _COVERAGE]
    quantity_count = max(len(quantities(claim)), 1)
    agreements = [ranked.numbers[index] for index in top]
    stated = max(agreement.stated for agreement in agreements) / quantity_count
    otherwise = agreements[0].otherwise or (agreements[1].otherwise if len(agreements) > 1 else 0)
    otherwise = 0 if stated >= 1 else min(otherwise / quantity_count, 1 - stated)
    together, known_share = prepared.word_shares(claim, top)
    values = {
        "together": together,
        "known": known_share,
        "mean": float(logits.mean()),
        "coverage": float(near.max()),
        "cosine": float(np.nan_to_num(ranked.cosines[top]).max()),
        "stated": stated,
        "otherwise": otherwise,
        "absent": max(0.0, 1 - stated - otherwise) if quantities(claim) else 0.0,
        "denies": float(polarity.is_negated(claim)),
        **_polarity_signs(polarities, shares, near),
    }
    if stance is None:
        stance = prepared.stance(claim, top)
    if stance is not None:
        values["stance"] = stance
    words = next((direction.words for direction in polarities if direction.opposed or direction.negation), "")
    denied = polarities[0].negation and polarity.is_negated(claim) and float(near[0]) >= _SAME_TOPIC
    texts = [prepared.sentences[index] for index in top]
    contrary_index, contrary, unordered = _find_contrary(claim, texts)
    # That another passage has the number says nothing where that one is about something else.
    nearest = [
        agreement.stated for agreement, share in zip(agreements, near, strict=True) if share >= _SAME_TOPIC * near.max()
    ]
    stands_otherwise = otherwise > 0 or (agreements[0].otherwise > 0 and max(nearest) < quantity_count)
    missing = numbers.unstated(quantities(claim), [quantities(text) for text in texts])
    return Signs(
        values, tuple(top), stands_otherwise, denied, words, contrary, top[contrary_index], unordered, tuple(missing)
    )


def _find_contrary(claim: str, texts: Sequence[str]) -> tuple[int, str, bool]:
    """Which passage, best first, says the contrary, and how; whether the claim says who is better, and none of them."""
    if message := reversed_by(claim, texts[0]) or crossed_numbers(claim, texts[0]):
        return 0, message, False
    orders = [comparison_order(claim, text) for text in texts]
    decisive = next(
        (index for index, passage_order in enumerate(orders) if passage_order in ("same", "reversed")), None
    )
    if decisive is None:
        return 0, "", "other" in orders or claims_better(claim)
    return decisive, "the two are compared the other way round there" if orders[decisive] == "reversed" else "", False


def _polarity_signs(polarities: Sequence[Polarity], shares: np.ndarray, near: np.ndarray) -> dict[str, float]:
    opposed = np.array([min(direction.opposed, 2) for direction in polarities], np.float64)
    negation = np.array([direction.negation for direction in polarities], np.float64)
    return {
        "apart": float(shares @ np.array([direction.apart for direction in polarities])),
        "agreed": float(shares @ np.array([min(direction.agreed, 2) for direction in polarities], np.float64)),
        "opposed": float(shares @ opposed),
        "negation": float(shares @ negation),
        "opposed near": float(shares @ (opposed * near)),
        "negation near": float(shares @ (negation * near)),
    }


_TINY = 1e-6

_OTHERWISE = 0.2  # what is left of the chance of backing where a number stands otherwise: 77 % is not 7.7 %
_ABSENT = 0.6  # and where none of the claim's numbers is there
_DENIED = 0.5  # and where the claim denies what a passage says
_CONTRARY = 0.25, 0.5  # and where a passage seems to say the contrary, and how much of the rest is for that
_MISSING = 0.4  # and where one of the claim's numbers is in none of them, or who is better
_SURE = 0.8  # how much of a lead over chance lasts on claims of other fields than those that were learnt from
_BACKED = 0.5  # the least chance at which backing is told, where none was fitted
_CONTRADICTED = 0.7  # the least chance at which a contradiction is told: a wrong one does harm


@dataclass(frozen=True, slots=True)
class ReasonedVerdict:
    """A verdict, how likely it is right, the chance of each, and why."""

    verdict: Verdict
    sure: float
    chances: dict[str, float]
    reason: str


def judge(
    prepared: PreparedDocument, ranked: RankedSentences, signs: Signs, headings: tuple[str, ...]
) -> ReasonedVerdict:
    """The verdict that the signs speak for."""
    chances = chances_of(signs, prepared.kind, prepared.weights)
    highest = max(chances.values())
    against = chances["contradicted"] >= highest
    least = max(prepared.weights.bars.get(prepared.kind, _BACKED), highest)
    doubted = signs.otherwise or signs.contrary or signs.unordered or signs.missing
    verdict: Verdict = "backed" if chances["backed"] >= least and not doubted else "not found"
    if against and chances["contradicted"] >= _CONTRADICTED:
        verdict = "contradicted"
    # That nothing backs the claim is right as well where something speaks against it.
    sure = 1 - chances["backed"] if verdict == "not found" else chances[verdict]
    return ReasonedVerdict(
        verdict, 0.5 + _SURE * (sure - 0.5), chances, _reason(verdict, ranked, signs, headings, against)
    )


def chances_of(signs: Signs, kind: str, weights: PassageWeights) -> dict[str, float]:
    """The chance of each verdict; where a stance is known, it parts what is found into backing and contradiction."""
    chances = weights.chances(kind, signs.values)
    if "stance" in signs.values:
        stance_values = stance_features(signs.values, kind, weights)
        parted = weights.chances("stance", stance_values)
        # Two judges: one that knows the stance and one that does not, which has seen claims of more kinds.
        odds = (math.log(max(parted["backed"], _TINY) / max(parted["contradicted"], _TINY)) + stance_values["odds"]) / 2
        presence, backed = 1 - chances["not found"], 1 / (1 + math.exp(-odds))
        chances |= {"backed": presence * backed, "contradicted": presence * (1 - backed)}
    backing_share = _OTHERWISE if signs.otherwise else 1 - (1 - _ABSENT) * signs.values["absent"]
    if signs.missing or signs.unordered:
        backing_share = min(backing_share, _MISSING)
    chances["not found"] += (1 - backing_share) * chances["backed"]
    chances["backed"] *= backing_share
    for sign, (backing_share, rest) in ((signs.denied, (_DENIED, 1.0)), (signs.contrary, _CONTRARY)):
        if sign:
            chances["contradicted"] += (1 - backing_share) * rest * chances["backed"]
            chances["not found"] += (1 - backing_share) * (1 - rest) * chances["backed"]
            chances["backed"] *= backing_share
    return chances


def stance_features(values: Mapping[str, float], kind: str, weights: PassageWeights) -> dict[str, float]:
    """The signs that tell backing from contradiction; "odds": what all signs but the stance say of it."""
    chances = weights.chances(kind, values)
    odds = math.log(max(chances["backed"], _TINY) / max(chances["contradicted"], _TINY))
    return {"odds": odds} | {name: value for name, value in values.items() if name in POINTING}


def _reason(verdict: Verdict, ranked: RankedSentences, signs: Signs, headings: tuple[str, ...], against: bool) -> str:
    best = signs.where if signs.contrary and not signs.otherwise else signs.top[0]
    where = f" in “{headings[best]}”" if headings[best] else ""
    numbers = next((ranked.numbers[index].words for index in signs.top if ranked.numbers[index].words), "")
    if verdict == "backed":
        absent = "; but the claim’s numbers are not there" if signs.values["absent"] >= 1 else ""
        return f"a sentence{where} says so{f': {numbers}' if numbers else absent}"
    detail = numbers if signs.otherwise else signs.contrary or signs.opposed
    if verdict == "contradicted":
        return f"a sentence{where} says otherwise{f': {detail}' if detail else ''}"
    if signs.otherwise:
        return f"the nearest sentences have another number: {numbers}"
    if against or signs.contrary:
        return f"no sentence clearly says this, and one{where} may say otherwise{f': {detail}' if detail else ''}"
    if signs.missing:
        return f"none of the nearest sentences has {' or '.join(signs.missing)}; the nearest stands{where or ' above'}"
    if signs.unordered:
        return f"no sentence clearly says which of the two is better; the nearest stands{where or ' above'}"
    if signs.values["absent"]:
        return f"no sentence with the claim’s numbers says this; the nearest stands{where or ' above'}"
    return f"no sentence clearly says this; the nearest stands{where or ' above'}"
