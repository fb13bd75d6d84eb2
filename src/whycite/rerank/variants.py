"""What a ranker reads of a claim and of a paper: SCOPE's input variants (3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from whycite.errors import UserError
from whycite.rerank.inputs import paper_text

__all__ = ["TARGET", "VARIANTS", "Place", "Variant", "around", "claim", "paper", "variant"]

TARGET = "TARGETSENT"
"""Stands in the paragraph where the claim stood, which is read already."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Which of the draft's title and the section's type are read, and what around the claim."""

    name: str
    title: bool
    section: bool
    around: Literal["abstract", "paragraph"]


VARIANTS: tuple[Variant, ...] = (
    Variant("default", True, False, "abstract"),
    Variant("paragraph", True, False, "paragraph"),
    Variant("paragraph-notitle", False, False, "paragraph"),
    Variant("section", True, True, "abstract"),
    Variant("section-paragraph", True, True, "paragraph"),
    Variant("section-paragraph-notitle", False, True, "paragraph"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A claim, which is one sentence of a paragraph, and the draft around it, as far as there is one."""

    paragraph: tuple[str, ...]  # its sentences, without citations
    at: int = 0
    title: str = ""
    abstract: str = ""
    section_type: str = ""


def variant(name: str) -> Variant:
    """The variant of that name."""
    for each in VARIANTS:
        if each.name == name:
            return each
    raise UserError(f"no input variant '{name}'; there are: {', '.join(each.name for each in VARIANTS)}")


def claim(
    variant: Variant,
    place: Place,
    room: int | None = None,
    cost: Callable[[str], int] = lambda word: 1,
    masked: bool = True,
) -> str:
    """The claim as the variant has it read: sentence, title, section type, then abstract or paragraph.

    A paragraph is cut at both ends so that the whole takes no more than `room`, by what a word costs: what a ranker
    cuts off at the end of its input would else be all that follows the claim. An abstract is left to the ranker.
    """
    sentence = place.paragraph[place.at]
    parts = [sentence, place.title if variant.title else "", place.section_type if variant.section else ""]
    if variant.around == "abstract":
        parts.append(place.abstract)
    else:
        before, after = _words(place.paragraph[: place.at]), _words(place.paragraph[place.at + 1 :])
        middle = TARGET if masked else sentence
        if room is not None:
            left = room - sum(cost(word) for word in " ".join([*parts, middle]).split())
            before, after = around(before, after, left, cost)
        parts.append(" ".join([*before, middle, *after]))
    return " ".join(filter(None, parts))


def paper(variant: Variant, title: str, abstract: str = "", year: int | None = None) -> str:
    """A paper as the variant has it read: title and abstract, and between them the year where the section is read."""
    return paper_text(title, str(year) if variant.section and year is not None else "", abstract)


def around(
    before: Sequence[str], after: Sequence[str], room: int, cost: Callable[[str], int] = lambda word: 1
) -> tuple[list[str], list[str]]:
    """The words nearest to the middle, as much before as after it; what one side lacks the other has."""
    sides = (list(reversed(before)), list(after))
    taken, spent = [0, 0], [0, 0]
    open_sides = {0, 1}
    while open_sides:
        side = min(open_sides, key=lambda at: (spent[at], at))
        if taken[side] == len(sides[side]) or sum(spent) + cost(sides[side][taken[side]]) > room:
            open_sides.remove(side)
        else:
            spent[side] += cost(sides[side][taken[side]])
            taken[side] += 1
    return sides[0][: taken[0]][::-1], sides[1][: taken[1]]


def _words(sentences: Sequence[str]) -> list[str]:
    return " ".join(sentences).split()
