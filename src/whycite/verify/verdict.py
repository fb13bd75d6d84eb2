"""The verdict on a claim: the signs its best passages give, the chance of each verdict, and the reason.

The weights of the signs and the bars are fitted: `python -m whycite.lab.train.verifyweights DATA OUT.json UNSEEN.json`.
The shares below were set by hand; `python benchmarks/verify.py` measures what they do to altered claims, and
benchmarks/RESULTS.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whycite.verify import numbers, polarity
from whycite.verify.contradiction import claims_better, comparison_order, crossed_numbers, reversed_by
from whycite.verify.features import WORD_COLUMNS, PassageWeights
from whycite.verify.passages import PreparedDocument, RankedSentences
from whycite.verify.polarity import Polarity
from whycite.verify.quantities import quantities
from whycite.verify.verification import Role, Verdict

__all__ = [
    "POINTING",
    "ReasonedVerdict",
    "Signs",
    "chances_of",
    "claim_shares",
    "collect_signs",
    "judge",
    "stance_features",
    "without_own_finding",
]


_TOP_PASSAGES = 3  # passages that decide
_SAME_TOPIC = 0.5  # the share of a claim's words that a sentence on the same topic has
_MAX_POINTERS = 2  # words that point the same or the other way; more do not count
# The signs that separate backing from contradiction, once there is a passage.
POINTING = (
    *("stance", "denies", "apart", "agreed", "opposed", "negation", "opposed near", "negation near"),
    *("otherwise", "stated"),
)
_COVERAGE = WORD_COLUMNS.index("coverage")


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs as numbers, the passages they come from (best first), and what the reason may mention."""

    values: dict[str, float]
    top: tuple[int, ...]
    otherwise: bool  # the best passages give another value for a number of the claim, and none gives the same
    denied: bool  # only the claim says "not", and the best passage has what it denies
    opposed: str  # the words that point the other way, as a phrase
    contrary: str = ""  # how one of the best passages says the opposite in the claim's own words
    where: int = -1  # the index of that passage
    unordered: bool = False  # the claim says that one thing is better than another, but no passage does
    missing: tuple[str, ...] = ()  # numbers of the claim that none of the best passages has


def collect_signs(
    claim: str,
    prepared: PreparedDocument,
    ranked: RankedSentences,
    skipped: frozenset[int] = frozenset(),
    stance: float | None = None,
) -> Signs | None:
    """The signs of the best passages that are not skipped; None if there are none.

    `stance` is that of these passages; by default the ranker gives it.
    """
    order = np.argsort(-ranked.logits, kind="stable").tolist()
    top = [index for index in order if index not in skipped][:_TOP_PASSAGES]
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
    # A number in another passage says nothing if that passage is about something else.
    nearest = [
        agreement.stated for agreement, share in zip(agreements, near, strict=True) if share >= _SAME_TOPIC * near.max()
    ]
    stands_otherwise = otherwise > 0 or (agreements[0].otherwise > 0 and max(nearest) < quantity_count)
    missing = numbers.unstated(quantities(claim), [quantities(text) for text in texts])
    return Signs(
        values, tuple(top), stands_otherwise, denied, words, contrary, top[contrary_index], unordered, tuple(missing)
    )


def _find_contrary(claim: str, texts: Sequence[str]) -> tuple[int, str, bool]:
    """Which passage says the opposite and how, and whether the claim says which is better and no passage does."""
    if message := reversed_by(claim, texts[0]) or crossed_numbers(claim, texts[0]):
        return 0, message, False
    orders = [comparison_order(claim, text) for text in texts]
    decisive = next(
        (index for index, passage_order in enumerate(orders) if passage_order in ("same", "reversed")), None
    )
    if decisive is None:
        return 0, "", "other" in orders or claims_better(claim)
    return decisive, "it compares the two the other way round" if orders[decisive] == "reversed" else "", False


def _polarity_signs(polarities: Sequence[Polarity], shares: np.ndarray, near: np.ndarray) -> dict[str, float]:
    opposed = np.array([min(direction.opposed, _MAX_POINTERS) for direction in polarities], np.float64)
    agreed = np.array([min(direction.agreed, _MAX_POINTERS) for direction in polarities], np.float64)
    negation = np.array([direction.negation for direction in polarities], np.float64)
    return {
        "apart": float(shares @ np.array([direction.apart for direction in polarities])),
        "agreed": float(shares @ agreed),
        "opposed": float(shares @ opposed),
        "negation": float(shares @ negation),
        "opposed near": float(shares @ (opposed * near)),
        "negation near": float(shares @ (negation * near)),
    }


_MIN_CHANCE = 1e-6  # keeps logarithms of odds finite

# The share of the chance of backing that remains if …
_SHARE_OTHER_NUMBER = 0.2  # a passage has another value: 77 % is not 7.7 %
_SHARE_NO_NUMBERS = 0.6  # none of the claim's numbers is there
_SHARE_MISSING = 0.4  # one of the claim's numbers is missing, or no passage says which is better
_SHARE_DENIED = 0.5  # the claim denies what a passage says; the rest goes to contradiction
_SHARE_CONTRARY = 0.25  # a passage seems to say the opposite; half of the rest goes to contradiction
_CONTRARY_IS_CONTRADICTION = 0.5
# The least chances at which a verdict is given.
# The share of the claim's words that a finding needs, of that in the best passage, to back a claim if that passage only
# names it as a hypothesis or cites others for it. Set by hand on the examples in tests/verify/test_roles.py.
_NEEDED_SHARE = 0.8
_BAR_BACKED = 0.5  # for weights without fitted bars
_BAR_CONTRADICTED = 0.7  # higher, since a wrong contradiction does harm
_TRANSFER = 0.8  # how much of a lead over an even chance remains on fields other than those of the training data


@dataclass(frozen=True, slots=True)
class ReasonedVerdict:
    """A verdict, the probability that it is right, the chance of each verdict, the reason, and the decisive passage."""

    verdict: Verdict
    sure: float
    chances: dict[str, float]
    reason: str
    decisive: int | None = None  # the index of the passage that it rests on


def judge(
    prepared: PreparedDocument, ranked: RankedSentences, signs: Signs, headings: tuple[str, ...]
) -> ReasonedVerdict:
    """The verdict that follows from the signs."""
    chances = chances_of(signs, prepared.kind, prepared.weights)
    highest = max(chances.values())
    against = chances["contradicted"] >= highest
    least = max(prepared.weights.bars.get(prepared.kind, _BAR_BACKED), highest)
    doubted = signs.otherwise or signs.contrary or signs.unordered or signs.missing
    verdict: Verdict = "backed" if chances["backed"] >= least and not doubted else "not found"
    if against and chances["contradicted"] >= _BAR_CONTRADICTED:
        verdict = "contradicted"
    # "not found" is also right where something contradicts the claim.
    sure = 1 - chances["backed"] if verdict == "not found" else chances[verdict]
    reason = _reason(verdict, ranked, signs, headings, against)
    decisive = None if verdict == "not found" else _decisive(verdict, signs)
    return ReasonedVerdict(verdict, 0.5 + _TRANSFER * (sure - 0.5), chances, reason, decisive)


def _decisive(verdict: Verdict, signs: Signs) -> int:
    """The passage that a verdict rests on."""
    return signs.where if verdict == "contradicted" and signs.contrary else signs.top[0]


def claim_shares(ranked: RankedSentences, passages: Sequence[int]) -> list[float]:
    """The share of the claim's words in each passage."""
    return [float(ranked.words[index, _COVERAGE]) for index in passages]


def without_own_finding(
    judged: ReasonedVerdict, top: Sequence[int], near: Sequence[float], roles: Sequence[Role], sources: Sequence[str]
) -> ReasonedVerdict:
    """The verdict "backed" as what it is if the best passage is no finding of the paper itself.

    `near` is the share of the claim's words in each of the passages `top`, best first; `sources` names whom they cite.
    """
    role = roles[0]
    if judged.verdict != "backed" or _is_finding(role):
        return judged
    needed = _NEEDED_SHARE * near[0]
    finding = next((place for place in range(1, len(top)) if _is_finding(roles[place]) and near[place] >= needed), None)
    if finding is not None:
        return replace(judged, decisive=top[finding])
    if role == "hypothesis":
        reason = "the paper names this only as a hypothesis or an open question"
        return replace(judged, verdict="not found", reason=reason, decisive=None)
    whom = f"citing {sources[0]}" if sources[0] else "as what others found"
    return replace(judged, verdict="secondary", reason=f"a sentence says so, {whom}: cite that", decisive=top[0])


def _is_finding(role: Role) -> bool:
    return role not in ("hypothesis", "others")


def chances_of(signs: Signs, kind: str, weights: PassageWeights) -> dict[str, float]:
    """The chance of each verdict; a known stance divides what was found into backing and contradiction."""
    chances = weights.chances(kind, signs.values)
    if "stance" in signs.values:
        stance_values = stance_features(signs.values, kind, weights)
        parted = weights.chances("stance", stance_values)
        # The mean of two judges: one knows the stance, the other was fitted to more kinds of claims.
        odds = (_log_odds(parted) + stance_values["odds"]) / 2
        presence, backed = 1 - chances["not found"], 1 / (1 + math.exp(-odds))
        chances |= {"backed": presence * backed, "contradicted": presence * (1 - backed)}
    backing_share = _SHARE_OTHER_NUMBER if signs.otherwise else 1 - (1 - _SHARE_NO_NUMBERS) * signs.values["absent"]
    if signs.missing or signs.unordered:
        backing_share = min(backing_share, _SHARE_MISSING)
    chances["not found"] += (1 - backing_share) * chances["backed"]
    chances["backed"] *= backing_share
    for applies, backing_share, rest in (
        (signs.denied, _SHARE_DENIED, 1.0),
        (signs.contrary, _SHARE_CONTRARY, _CONTRARY_IS_CONTRADICTION),
    ):
        if applies:
            chances["contradicted"] += (1 - backing_share) * rest * chances["backed"]
            chances["not found"] += (1 - backing_share) * (1 - rest) * chances["backed"]
            chances["backed"] *= backing_share
    return chances


def stance_features(values: Mapping[str, float], kind: str, weights: PassageWeights) -> dict[str, float]:
    """The signs that separate backing from contradiction; "odds" sums up all signs but the stance."""
    odds = _log_odds(weights.chances(kind, values))
    return {"odds": odds} | {name: value for name, value in values.items() if name in POINTING}


def _log_odds(chances: Mapping[str, float]) -> float:
    """The logarithm of the odds of backing against contradiction."""
    return math.log(max(chances["backed"], _MIN_CHANCE) / max(chances["contradicted"], _MIN_CHANCE))


def _reason(verdict: Verdict, ranked: RankedSentences, signs: Signs, headings: tuple[str, ...], against: bool) -> str:
    best = signs.where if signs.contrary and not signs.otherwise else signs.top[0]
    where = f" in “{headings[best]}”" if headings[best] else ""
    closest = f"; the closest one is{where}" if where else ""
    numbers = next((ranked.numbers[index].words for index in signs.top if ranked.numbers[index].words), "")
    if verdict == "backed":
        absent = ", but without the claim’s numbers" if signs.values["absent"] >= 1 else ""
        return f"a sentence{where} says so{f': {numbers}' if numbers else absent}"
    detail = numbers if signs.otherwise else signs.contrary or signs.opposed
    if verdict == "contradicted":
        return f"a sentence{where} says otherwise{f': {detail}' if detail else ''}"
    if signs.otherwise:
        return f"the closest sentences give another number: {numbers}"
    if against or signs.contrary:
        return f"no sentence clearly says this, and one{where} may say otherwise{f': {detail}' if detail else ''}"
    if signs.missing:
        return f"none of the closest sentences mentions {' or '.join(signs.missing)}{closest}"
    if signs.unordered:
        return f"no sentence clearly says which of the two is better{closest}"
    if signs.values["absent"]:
        return f"no sentence with the claim’s numbers says this{closest}"
    return f"no sentence clearly says this{closest}"
