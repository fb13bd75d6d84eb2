"""Whether a passage states the numbers of a claim: 77 % against 7.7 % is not backed, 0.77 is 77 %."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whycite.verify.quantities import Quantity, quantities

__all__ = ["Agreement", "compare", "compared", "unstated"]

_NEAR = 0.05  # how far off a number may be that is only said to be about right
_EQUAL = 1e-9
_COUNT = 12  # numbers up to it are written in many ways: "both", "a pair", "the three of them"
_YEARS = range(1900, 2036)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


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
    ends = [end for quantity in asked for end in _ends(quantity)]
    for quantity in asked:
        if any(_agree(quantity, other) for other in there) or _by_its_ends(quantity, there):
            stated.append(quantity)
            continue
        rivals = [other for other in there if _comparable(quantity, other) and not _fits(quantity, other)]
        # A quantity that another one of the claim states is spoken for: "from 10 % to 20 %".
        rivals = [
            other for other in rivals if not any(_agree(each, other) for each in (asked if _is_range(other) else ends))
        ]
        if rivals:
            otherwise.append((quantity, min(rivals, key=lambda other: _distance(quantity, other))))
        else:
            absent += 1
    words = [f"{ours.text} in the claim, {theirs.text} here" for ours, theirs in otherwise]
    if told := [quantity.text for quantity in stated if not _is_year(quantity)]:
        words.append(f"{_listed(told)} here too")
    return Agreement(len(stated), len(otherwise), absent, "; ".join(words))


def unstated(asked: Sequence[Quantity], passages: Sequence[Sequence[Quantity]]) -> list[str]:
    """The numbers of a claim that no passage states, as they are written; years, ranges and small counts aside."""
    return [
        quantity.text
        for quantity in asked
        if not _is_vague(quantity) and not any(_stated(quantity, there) for there in passages)
    ]


def _is_vague(quantity: Quantity) -> bool:
    """Whether a number may be a year or part of a name, be told without a number, or sum up several papers: a range."""
    if _is_range(quantity):
        return True
    return _is_year(quantity) or (quantity.unit[:1] in ("", "#") and quantity.low in range(_COUNT + 1))


def _is_year(quantity: Quantity) -> bool:
    """Whether a number may be a year, or what is named after one: "the 2004 corpus"."""
    return quantity.unit[:1] in ("", "#") and quantity.low == quantity.high and quantity.low in _YEARS


def _stated(quantity: Quantity, there: Sequence[Quantity]) -> bool:
    """Whether a passage has a number of a claim, whatever it calls what is counted or measured."""
    if any(_agree(quantity, other) for other in there) or _by_its_ends(quantity, there):
        return True
    if quantity.unit[:1] not in ("", "#", "="):
        return False
    figures = _FIGURE.findall(quantity.text)  # its unit may stand behind the next number: "22 and 12 mg"
    return any(
        (other.unit[:1] in ("", "#", "=") and _meet(quantity, other)) or figures == _FIGURE.findall(other.text)
        for other in there
    )


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are of the same thing, so that they should be equal."""
    return one.unit == other.unit != ""


def _agree(one: Quantity, other: Quantity) -> bool:
    """Whether a quantity of a claim is the one of a passage."""
    if one.unit == other.unit:
        return _meet(one, other)
    if "%" in (one.unit, other.unit):  # a share: 0.77 is 77 %
        return all(map(_is_share, (one, other))) and _meet(_percent(one), _percent(other))
    # What a number belongs to is told in many ways; the same digits without unit are the same number.
    bare = all(quantity.unit[:1] in ("", "#", "=") for quantity in (one, other))
    return bare and "" in (one.unit, other.unit) and _meet(one, other) and not _is_small(one)


def _is_share(quantity: Quantity) -> bool:
    return quantity.unit == "%" or (quantity.unit[:1] in ("", "=") and 0 <= quantity.low <= quantity.high <= 1)


def _percent(quantity: Quantity) -> Quantity:
    if quantity.unit == "%":
        return quantity
    return replace(quantity, low=100 * quantity.low, high=100 * quantity.high, grain=100 * quantity.grain, unit="%")


def _is_range(quantity: Quantity) -> bool:
    return quantity.low < quantity.high and math.isfinite(quantity.low) and math.isfinite(quantity.high)


def _ends(quantity: Quantity) -> list[Quantity]:
    """The ends of a range by themselves; of anything else, itself."""
    if not _is_range(quantity):
        return [quantity]
    return [replace(quantity, low=end, high=end) for end in (quantity.low, quantity.high)]


def _by_its_ends(quantity: Quantity, there: Sequence[Quantity]) -> bool:
    """Whether both ends of a range are told, if not as a range: "from 3 % to 28 %" by "ascites 28 %, bleeding 3 %"."""
    return _is_range(quantity) and all(any(_agree(end, other) for other in there) for end in _ends(quantity))


def _is_small(quantity: Quantity) -> bool:
    """Whether a number is met anywhere: that it stands in both says little."""
    return quantity.low == quantity.high and quantity.low in range(11)


def _meet(one: Quantity, other: Quantity) -> bool:
    """Whether a quantity of a claim is told by one of a passage, as exactly as the coarser one is written.

    A number within a range or beyond a bound of the passage is not told by it, only not excluded; and so the reverse.
    """
    room = _room(one, other)
    if one.low == one.high:
        return any(_close(one.low, end, room) for end in (other.low, other.high))
    if other.low == other.high:  # only a bound is told by a number
        return not _is_range(one) and one.low <= other.high + room and other.low <= one.high + room
    return (_close(one.low, other.low, room) and _close(one.high, other.high, room)) or _follows(one, other)


def _fits(one: Quantity, other: Quantity) -> bool:
    """Whether a quantity of a claim is not excluded by one of a passage; two ranges have ends to compare."""
    room = _room(one, other)
    return not (_is_range(one) and _is_range(other)) and one.low <= other.high + room and other.low <= one.high + room


def _room(one: Quantity, other: Quantity) -> float:
    """How far apart two quantities may be that are the same."""
    size = max((abs(end) for end in (one.low, one.high, other.low, other.high) if math.isfinite(end)), default=0.0)
    room = _EQUAL * max(1.0, size)
    if not math.isclose(one.grain, other.grain):
        coarser = max(one.grain, other.grain)
        # Who writes two digits or more may have cut off what others would round up.
        room = max(room, coarser * ((1 - 1e-6) if size >= 10 * coarser else 0.5))
    if one.about or other.about:
        ends = [abs(end) for end in (one.low, one.high) if math.isfinite(end)]
        room = max(room, _NEAR * max(ends, default=0.0))
    return room


def _close(one: float, other: float, room: float) -> bool:
    return one == other or abs(one - other) <= room


def _follows(one: Quantity, other: Quantity) -> bool:
    """Whether a bound of the claim follows from a range of a passage: "p < 0.05" from "p < 0.001"."""
    return (one.high == math.inf and other.low >= one.low) or (one.low == -math.inf and other.high <= one.high)


def _distance(one: Quantity, other: Quantity) -> float:
    ends = [(a, b) for a, b in ((one.low, other.low), (one.high, other.high)) if math.isfinite(a) and math.isfinite(b)]
    return min((abs(a - b) for a, b in ends), default=math.inf)
