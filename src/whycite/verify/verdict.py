"""The verdict on a claim: what its signs say, how likely that is right, and why, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from whycite.verify.model import Verdict
from whycite.verify.passages import Prepared, Ranked
from whycite.verify.signs import POINTING, Signs
from whycite.verify.weights import Weights

__all__ = ["Judged", "chances_of", "judge", "pointing"]

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
class Judged:
    """A verdict, how likely it is right, the chance of each, and why."""

    verdict: Verdict
    sure: float
    chances: dict[str, float]
    reason: str


def judge(prepared: Prepared, ranked: Ranked, found: Signs, headings: tuple[str, ...]) -> Judged:
    """The verdict that the signs speak for."""
    chances = chances_of(found, prepared.kind, prepared.weights)
    most = max(chances.values())
    against = chances["contradicted"] >= most
    least = max(prepared.weights.bars.get(prepared.kind, _BACKED), most)
    doubted = found.otherwise or found.contrary or found.unordered or found.missing
    verdict: Verdict = "backed" if chances["backed"] >= least and not doubted else "not found"
    if against and chances["contradicted"] >= _CONTRADICTED:
        verdict = "contradicted"
    # That nothing backs the claim is right as well where something speaks against it.
    sure = 1 - chances["backed"] if verdict == "not found" else chances[verdict]
    return Judged(verdict, 0.5 + _SURE * (sure - 0.5), chances, _reason(verdict, ranked, found, headings, against))


def chances_of(found: Signs, kind: str, weights: Weights) -> dict[str, float]:
    """The chance of each verdict; where a stance is known, it parts what is found into backing and contradiction."""
    chances = weights.chances(kind, found.values)
    if "stance" in found.values:
        signs = pointing(found.values, kind, weights)
        parted = weights.chances("stance", signs)
        # Two judges: one that knows the stance and one that does not, which has seen claims of more kinds.
        odds = (math.log(max(parted["backed"], _TINY) / max(parted["contradicted"], _TINY)) + signs["odds"]) / 2
        there, backed = 1 - chances["not found"], 1 / (1 + math.exp(-odds))
        chances |= {"backed": there * backed, "contradicted": there * (1 - backed)}
    kept = _OTHERWISE if found.otherwise else 1 - (1 - _ABSENT) * found.values["absent"]
    if found.missing or found.unordered:
        kept = min(kept, _MISSING)
    chances["not found"] += (1 - kept) * chances["backed"]
    chances["backed"] *= kept
    for sign, (kept, rest) in ((found.denied, (_DENIED, 1.0)), (found.contrary, _CONTRARY)):
        if sign:
            chances["contradicted"] += (1 - kept) * rest * chances["backed"]
            chances["not found"] += (1 - kept) * (1 - rest) * chances["backed"]
            chances["backed"] *= kept
    return chances


def pointing(values: Mapping[str, float], kind: str, weights: Weights) -> dict[str, float]:
    """The signs that tell backing from contradiction; "odds": what all signs but the stance say of it."""
    chances = weights.chances(kind, values)
    odds = math.log(max(chances["backed"], _TINY) / max(chances["contradicted"], _TINY))
    return {"odds": odds} | {name: value for name, value in values.items() if name in POINTING}


def _reason(verdict: Verdict, ranked: Ranked, found: Signs, headings: tuple[str, ...], against: bool) -> str:
    best = found.where if found.contrary and not found.otherwise else found.top[0]
    where = f" in “{headings[best]}”" if headings[best] else ""
    numbers = next((ranked.numbers[at].words for at in found.top if ranked.numbers[at].words), "")
    if verdict == "backed":
        absent = "; but the claim’s numbers are not there" if found.values["absent"] >= 1 else ""
        return f"a sentence{where} says so{f': {numbers}' if numbers else absent}"
    told = numbers if found.otherwise else found.contrary or found.opposed
    if verdict == "contradicted":
        return f"a sentence{where} says otherwise{f': {told}' if told else ''}"
    if found.otherwise:
        return f"the nearest sentences have another number: {numbers}"
    if against or found.contrary:
        return f"no sentence clearly says this, and one{where} may say otherwise{f': {told}' if told else ''}"
    if found.missing:
        return f"none of the nearest sentences has {' or '.join(found.missing)}; the nearest stands{where or ' above'}"
    if found.unordered:
        return f"no sentence clearly says which of the two is better; the nearest stands{where or ' above'}"
    if found.values["absent"]:
        return f"no sentence with the claim’s numbers says this; the nearest stands{where or ' above'}"
    return f"no sentence clearly says this; the nearest stands{where or ' above'}"
