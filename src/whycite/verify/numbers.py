"""Whether a passage states the numbers of a claim: 77 % against 7.7 % is not backed, 0.77 is 77 %."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whycite.verify.quantities import Quantity, quantities

__all__ = ["Agreement", "compare", "compared"]

_NEAR = 0.05  # how far off a number may be that is only said to be about right
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many quantities of a claim a passage states, how many it states otherwise, and that in words."""

    stated: int = 0
    otherwise: int = 0
    absent: int = 0
    words: str = ""  # "77 % in the claim, 7.7 % here"


def compare(claim: str, passage: str) -> Agreement:
    """The numbers of a claim against those of a passage."""
    return compared(quantities(claim), quantities(passage))


def compared(asked: Sequence[Quantity], there: Sequence[Quantity]) -> Agreement:
    """The quantities of a claim against those of a passage."""
    stated, otherwise, absent = [], [], 0
    for quantity in asked:
        if any(_agree(quantity, other) for other in there):
            stated.append(quantity)
            continue
        rivals = [other for other in there if _comparable(quantity, other)]
        # A quantity that another one of the claim states is spoken for: "from 10 % to 20 %".
        rivals = [other for other in rivals if not any(_agree(each, other) for each in asked)]
        if rivals:
            otherwise.append((quantity, min(rivals, key=lambda other: _distance(quantity, other))))
        else:
            absent += 1
    words = [f"{ours.text} in the claim, {theirs.text} here" for ours, theirs in otherwise]
    if stated:
        words.append(f"{_listed([quantity.text for quantity in stated])} here too")
    return Agreement(len(stated), len(otherwise), absent, "; ".join(words))


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are of the same thing, so that they should be equal."""
    return one.unit == other.unit != ""


def _agree(one: Quantity, other: Quantity) -> bool:
    if one.unit == other.unit:
        return _meet(one, other, 1.0)
    if "%" in (one.unit, other.unit):  # a share: 0.77 is 77 %
        percent, share = (one, other) if one.unit == "%" else (other, one)
        return share.unit[:1] in ("", "=") and 0 <= share.low <= share.high <= 1 and _meet(percent, share, 100.0)
    # What a number belongs to is told in many ways; the same digits without unit are the same number.
    bare = all(quantity.unit[:1] in ("", "#", "=") for quantity in (one, other))
    return bare and "" in (one.unit, other.unit) and _meet(one, other, 1.0) and not _is_small(one)


def _is_small(quantity: Quantity) -> bool:
    """Whether a number is met anywhere: that it stands in both says little."""
    return quantity.low == quantity.high and quantity.low in range(11)


def _meet(one: Quantity, other: Quantity, factor: float) -> bool:
    """Whether two quantities overlap, as exactly as the coarser one is written."""
    low, high, grain = other.low * factor, other.high * factor, other.grain * factor
    room = _EQUAL * max(1.0, *(abs(end) for end in (one.low, one.high, low, high) if math.isfinite(end)))
    if not math.isclose(one.grain, grain):
        coarser = max(one.grain, grain)
        size = max(abs(end) for end in (one.low, one.high, low, high) if math.isfinite(end))
        # Who writes two digits or more may have cut off what others would round up.
        room = max(room, coarser * ((1 - 1e-6) if size >= 10 * coarser else 0.5))
    if one.about or other.about:
        ends = [abs(end) for end in (one.low, one.high) if math.isfinite(end)]
        room = max(room, _NEAR * max(ends, default=0.0))
    if one.low < one.high and low < high:  # two ranges, two bounds
        return (_close(one.low, low, room) and _close(one.high, high, room)) or _bounds(one, low, high)
    return one.low <= high + room and low <= one.high + room


def _close(one: float, other: float, room: float) -> bool:
    return one == other or abs(one - other) <= room


def _bounds(one: Quantity, low: float, high: float) -> bool:
    """Whether a bound of the claim follows from what a passage says: "p < 0.05" from "p < 0.001"."""
    return (one.high == math.inf and low >= one.low) or (one.low == -math.inf and high <= one.high)


def _distance(one: Quantity, other: Quantity) -> float:
    ends = [(a, b) for a, b in ((one.low, other.low), (one.high, other.high)) if math.isfinite(a) and math.isfinite(b)]
    return min((abs(a - b) for a, b in ends), default=math.inf)
