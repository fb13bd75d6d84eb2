"""Whether a passage states the numbers of a claim: 77 % against 7.7 % is not backed, 0.77 is 77 %."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whycite.verify.quantities import Quantity, quantities

__all__ = ["Agreement", "compare_numbers", "compare_quantities", "unstated"]

_ABOUT = 0.05  # relative error allowed for a number given as "about"
_EQUAL = 1e-9  # relative difference due to rounding alone
_MAX_COUNT_IN_WORDS = 12  # counts up to this are written in many ways: "both", "a pair", "the three of them"
_MAX_COMMON = 10  # whole numbers up to this occur anywhere, so sharing one says little
_YEARS = range(1900, 2036)  # whole numbers that may be years
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many quantities of a claim a passage states, gives another value for, or lacks, and a phrase on these."""

    stated: int = 0
    otherwise: int = 0
    absent: int = 0
    words: str = ""  # "77 % in the claim, 7.7 % here"


def compare_numbers(claim: str, passage: str) -> Agreement:
    """Compare the numbers of a claim with those of a passage."""
    return compare_quantities(quantities(claim), quantities(passage))


def compare_quantities(claim_quantities: Sequence[Quantity], passage_quantities: Sequence[Quantity]) -> Agreement:
    """Compare the quantities of a claim with those of a passage."""
    stated, otherwise, absent = [], [], 0
    ends = [end for quantity in claim_quantities for end in _ends(quantity)]
    for quantity in claim_quantities:
        if any(_agree(quantity, passage_quantity) for passage_quantity in passage_quantities) or _by_its_ends(
            quantity, passage_quantities
        ):
            stated.append(quantity)
            continue
        rivals = [
            passage_quantity
            for passage_quantity in passage_quantities
            if _comparable(quantity, passage_quantity) and not _fits(quantity, passage_quantity)
        ]
        # A quantity that agrees with another one of the claim is taken: "from 10 % to 20 %".
        rivals = [
            rival
            for rival in rivals
            if not any(
                _agree(claim_quantity, rival) for claim_quantity in (claim_quantities if _is_range(rival) else ends)
            )
        ]
        if rivals:
            # A range is mostly the confidence interval of a number beside it.
            nearest = min(
                rivals, key=lambda rival: (_is_range(rival) > _is_range(quantity), _distance(quantity, rival))
            )
            otherwise.append((quantity, nearest))
        else:
            absent += 1
    words = [f"{claim_quantity.text} in the claim, {rival.text} here" for claim_quantity, rival in otherwise]
    if stated_texts := [quantity.text for quantity in stated if not _is_year(quantity)]:
        words.append(f"{_join_texts(stated_texts)} here too")
    return Agreement(len(stated), len(otherwise), absent, "; ".join(words))


def unstated(claim_quantities: Sequence[Quantity], passages: Sequence[Sequence[Quantity]]) -> list[str]:
    """The numbers of a claim that no passage states, as written; without years, ranges and small counts."""
    return [
        quantity.text
        for quantity in claim_quantities
        if not _is_vague(quantity) and not any(_stated(quantity, passage_quantities) for passage_quantities in passages)
    ]


def _is_vague(quantity: Quantity) -> bool:
    """Whether a number may be missing for good reason: a year, a count in words, or a range over several papers."""
    if _is_range(quantity):
        return True
    return _is_year(quantity) or (quantity.unit[:1] in ("", "#") and quantity.low in range(_MAX_COUNT_IN_WORDS + 1))


def _is_year(quantity: Quantity) -> bool:
    """Whether a number may be a year, or part of a name: "the 2004 corpus"."""
    return quantity.unit[:1] in ("", "#") and quantity.low == quantity.high and quantity.low in _YEARS


def _stated(quantity: Quantity, passage_quantities: Sequence[Quantity]) -> bool:
    """Whether a passage has a number of a claim, no matter what it counts or measures."""
    if any(_agree(quantity, passage_quantity) for passage_quantity in passage_quantities) or _by_its_ends(
        quantity, passage_quantities
    ):
        return True
    if quantity.unit[:1] not in ("", "#", "="):
        return False
    figures = _FIGURE.findall(quantity.text)  # its unit may follow the next number: "22 and 12 mg"
    return any(
        (passage_quantity.unit[:1] in ("", "#", "=") and _meet(quantity, passage_quantity))
        or figures == _FIGURE.findall(passage_quantity.text)
        for passage_quantity in passage_quantities
    )


def _join_texts(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _comparable(quantity: Quantity, counterpart: Quantity) -> bool:
    """Whether two quantities measure the same thing, so that they should be equal."""
    return quantity.unit == counterpart.unit != ""


def _agree(quantity: Quantity, counterpart: Quantity) -> bool:
    """Whether a quantity of a claim agrees with one of a passage."""
    if quantity.unit == counterpart.unit:
        return _meet(quantity, counterpart)
    if "%" in (quantity.unit, counterpart.unit):  # a share: 0.77 is 77 %
        return all(map(_is_share, (quantity, counterpart))) and _meet(_percent(quantity), _percent(counterpart))
    # What a number counts can be said in many ways; the same digits without a unit are the same number.
    bare = all(operand.unit[:1] in ("", "#", "=") for operand in (quantity, counterpart))
    return bare and "" in (quantity.unit, counterpart.unit) and _meet(quantity, counterpart) and not _is_small(quantity)


def _is_share(quantity: Quantity) -> bool:
    return quantity.unit == "%" or (quantity.unit[:1] in ("", "=") and 0 <= quantity.low <= quantity.high <= 1)


def _percent(quantity: Quantity) -> Quantity:
    if quantity.unit == "%":
        return quantity
    return replace(quantity, low=100 * quantity.low, high=100 * quantity.high, grain=100 * quantity.grain, unit="%")


def _is_range(quantity: Quantity) -> bool:
    return quantity.low < quantity.high and math.isfinite(quantity.low) and math.isfinite(quantity.high)


def _ends(quantity: Quantity) -> list[Quantity]:
    """The two ends of a range; any other quantity itself."""
    if not _is_range(quantity):
        return [quantity]
    return [replace(quantity, low=end, high=end) for end in (quantity.low, quantity.high)]


def _by_its_ends(quantity: Quantity, passage_quantities: Sequence[Quantity]) -> bool:
    """Whether both ends of a range are stated singly: "from 3 % to 28 %" by "ascites 28 %, bleeding 3 %"."""
    return _is_range(quantity) and all(
        any(_agree(end, passage_quantity) for passage_quantity in passage_quantities) for end in _ends(quantity)
    )


def _is_small(quantity: Quantity) -> bool:
    """Whether a number is so common that sharing it says little."""
    return quantity.low == quantity.high and quantity.low in range(_MAX_COMMON + 1)


def _meet(quantity: Quantity, counterpart: Quantity) -> bool:
    """Whether a quantity of a claim equals one of a passage, at the precision of the coarser one.

    A number within a range or beyond a bound of the passage is not stated by it, only not excluded; and vice versa.
    """
    room = _room(quantity, counterpart)
    if quantity.low == quantity.high:
        return any(_close(quantity.low, end, room) for end in (counterpart.low, counterpart.high))
    if counterpart.low == counterpart.high:  # a number can only state a bound
        return (
            not _is_range(quantity)
            and quantity.low <= counterpart.high + room
            and counterpart.low <= quantity.high + room
        )
    return (_close(quantity.low, counterpart.low, room) and _close(quantity.high, counterpart.high, room)) or _follows(
        quantity, counterpart
    )


def _fits(quantity: Quantity, counterpart: Quantity) -> bool:
    """Whether a quantity of a passage does not exclude one of a claim; the ends of two ranges are compared instead."""
    room = _room(quantity, counterpart)
    return (
        not (_is_range(quantity) and _is_range(counterpart))
        and quantity.low <= counterpart.high + room
        and counterpart.low <= quantity.high + room
    )


def _room(quantity: Quantity, counterpart: Quantity) -> float:
    """How far apart two equal quantities may be."""
    size = max(
        (abs(end) for end in (quantity.low, quantity.high, counterpart.low, counterpart.high) if math.isfinite(end)),
        default=0.0,
    )
    room = _EQUAL * max(1.0, size)
    if not math.isclose(quantity.grain, counterpart.grain):
        coarser = max(quantity.grain, counterpart.grain)
        # With two digits or more, one author may cut off what another rounds up.
        room = max(room, coarser * ((1 - 1e-6) if size >= 10 * coarser else 0.5))
    if quantity.about or counterpart.about:
        ends = [abs(end) for end in (quantity.low, quantity.high) if math.isfinite(end)]
        room = max(room, _ABOUT * max(ends, default=0.0))
    return room


def _close(number: float, other_number: float, room: float) -> bool:
    return number == other_number or abs(number - other_number) <= room


def _follows(quantity: Quantity, counterpart: Quantity) -> bool:
    """Whether a bound of the claim follows from a range of a passage: "p < 0.05" from "p < 0.001"."""
    return (quantity.high == math.inf and counterpart.low >= quantity.low) or (
        quantity.low == -math.inf and counterpart.high <= quantity.high
    )


def _distance(quantity: Quantity, counterpart: Quantity) -> float:
    ends = [
        (a, b)
        for a, b in ((quantity.low, counterpart.low), (quantity.high, counterpart.high))
        if math.isfinite(a) and math.isfinite(b)
    ]
    return min((abs(a - b) for a, b in ends), default=math.inf)
