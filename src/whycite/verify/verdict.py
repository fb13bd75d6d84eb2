"""The verdict on a claim: what its signs say, how likely that is right, and why, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from whycite.verify.model import Verdict
from whycite.verify.passages import Prepared, Ranked
from whycite.verify.signs import Signs

__all__ = ["Judged", "judge"]

_OTHERWISE = 0.2  # what is left of the chance of backing where a number stands otherwise: 77 % is not 7.7 %
_ABSENT = 0.6  # and where none of the claim's numbers is there
_CONTRADICTED = 0.5  # the least chance at which a contradiction is told: a wrong one does harm


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, the chance of each, and why."""

    verdict: Verdict
    chances: dict[str, float]
    reason: str


def judge(prepared: Prepared, ranked: Ranked, found: Signs, headings: tuple[str, ...]) -> Judged:
    """The verdict that the signs speak for."""
    chances = prepared.weights.chances(found.kind, found.values)
    kept = _OTHERWISE if found.otherwise else 1 - (1 - _ABSENT) * found.values["absent"]
    chances["not found"] += (1 - kept) * chances["backed"]
    chances["backed"] *= kept
    verdict: Verdict = "backed" if chances["backed"] >= chances["not found"] else "not found"
    if chances["contradicted"] >= max(_CONTRADICTED, *chances.values()):
        verdict = "contradicted"
    if verdict == "backed" and found.otherwise:
        verdict = "not found"
    return Judged(verdict, chances, _reason(verdict, ranked, found, headings))


def _reason(verdict: Verdict, ranked: Ranked, found: Signs, headings: tuple[str, ...]) -> str:
    best = found.top[0]
    where = f" in “{headings[best]}”" if headings[best] else ""
    numbers = next((ranked.numbers[at].words for at in found.top if ranked.numbers[at].words), "")
    if verdict == "backed":
        absent = "; but the claim’s numbers are not there" if found.values["absent"] >= 1 else ""
        return f"a sentence{where} says so{f': {numbers}' if numbers else absent}"
    if verdict == "contradicted":
        against = numbers if found.otherwise else found.opposed
        return f"a sentence{where} says otherwise" + (f": {against}" if against else "")
    if found.otherwise:
        return f"the nearest sentences have another number: {numbers}"
    if found.values["absent"]:
        return f"no sentence with the claim’s numbers says this; the nearest stands{where or ' above'}"
    return f"no sentence clearly says this; the nearest stands{where or ' above'}"
