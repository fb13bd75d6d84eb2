"""The verdict on a claim: what its signs say, how likely that is right, and why, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from whycite.verify.model import Verdict
from whycite.verify.passages import Prepared, Ranked
from whycite.verify.signs import Signs

__all__ = ["Judged", "judge"]

_OTHERWISE = 0.2  # what is left of the chance of backing where a number stands otherwise: 77 % is not 7.7 %
_ABSENT = 0.6  # and where none of the claim's numbers is there
_DENIED = 0.5  # and where the claim denies what a passage says
_SURE = 0.8  # how much of a lead over chance lasts on claims of other fields than those that were learnt from
_BACKED = 0.6  # the least chance at which backing is told: below, it is a guess
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
    chances = _chances(prepared, found.values)
    kept = _OTHERWISE if found.otherwise else 1 - (1 - _ABSENT) * found.values["absent"]
    chances["not found"] += (1 - kept) * chances["backed"]
    chances["backed"] *= kept
    if found.denied:
        chances["contradicted"] += (1 - _DENIED) * chances["backed"]
        chances["backed"] *= _DENIED
    against = chances["contradicted"] >= max(chances.values())
    verdict: Verdict = "backed" if chances["backed"] >= _BACKED and not found.otherwise else "not found"
    if against and chances["contradicted"] >= _CONTRADICTED:
        verdict = "contradicted"
    # That nothing backs the claim is right as well where something speaks against it.
    sure = 1 - chances["backed"] if verdict == "not found" else chances[verdict]
    return Judged(verdict, 0.5 + _SURE * (sure - 0.5), chances, _reason(verdict, ranked, found, headings, against))


def _chances(prepared: Prepared, values: dict[str, float]) -> dict[str, float]:
    """The chance of each verdict; where a stance is known, it parts what is found into backing and contradiction."""
    chances = prepared.weights.chances(prepared.kind, values)
    if "stance" in values:
        there = 1 - chances["not found"]
        chances |= {name: there * chance for name, chance in prepared.weights.chances("stance", values).items()}
    return chances


def _reason(verdict: Verdict, ranked: Ranked, found: Signs, headings: tuple[str, ...], against: bool) -> str:
    best = found.top[0]
    where = f" in “{headings[best]}”" if headings[best] else ""
    numbers = next((ranked.numbers[at].words for at in found.top if ranked.numbers[at].words), "")
    if verdict == "backed":
        absent = "; but the claim’s numbers are not there" if found.values["absent"] >= 1 else ""
        return f"a sentence{where} says so{f': {numbers}' if numbers else absent}"
    told = numbers if found.otherwise else found.opposed
    if verdict == "contradicted":
        return f"a sentence{where} says otherwise{f': {told}' if told else ''}"
    if found.otherwise:
        return f"the nearest sentences have another number: {numbers}"
    if against:
        return f"no sentence clearly says this, and one{where} may say otherwise{f': {told}' if told else ''}"
    if found.values["absent"]:
        return f"no sentence with the claim’s numbers says this; the nearest stands{where or ' above'}"
    return f"no sentence clearly says this; the nearest stands{where or ' above'}"
