"""SCOPE's input variants: what a ranker reads of a claim and a paper (3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from whycite.errors import UserError
from whycite.models.pairs import paper_text

__all__ = [
    "TARGET",
    "VARIANTS",
    "ClaimPlace",
    "RankerVariant",
    "claim_input",
    "nearest_words",
    "paper_input",
    "ranker_variant",
]

TARGET = "TARGETSENT"
"""Replaces the claim in its paragraph, since the ranker has already read it."""


@dataclass(frozen=True, slots=True)
class RankerVariant:
    """Whether the draft's title and the section type are read, and which context."""

    name: str
    title: bool
    section: bool
    context: Literal["abstract", "paragraph"]


VARIANTS: tuple[RankerVariant, ...] = (
    RankerVariant("default", True, False, "abstract"),
    RankerVariant("paragraph", True, False, "paragraph"),
    RankerVariant("paragraph-notitle", False, False, "paragraph"),
    RankerVariant("section", True, True, "abstract"),
    RankerVariant("section-paragraph", True, True, "paragraph"),
    RankerVariant("section-paragraph-notitle", False, True, "paragraph"),
)


@dataclass(frozen=True, slots=True)
class ClaimPlace:
    """A claim (one sentence of a paragraph) and the draft around it, if any."""

    paragraph: tuple[str, ...]  # sentences, without citations
    index: int = 0
    title: str = ""
    abstract: str = ""
    section_type: str = ""


def ranker_variant(name: str) -> RankerVariant:
    """The variant of that name."""
    for candidate in VARIANTS:
        if candidate.name == name:
            return candidate
    raise UserError(
        f"unknown input variant '{name}'; choose one of: {', '.join(candidate.name for candidate in VARIANTS)}"
    )


def claim_input(
    variant: RankerVariant,
    place: ClaimPlace,
    room: int | None = None,
    cost: Callable[[str], int] = lambda word: 1,
    masked: bool = True,
) -> str:
    """Build the claim's input for a variant: sentence, title, section type, then abstract or paragraph.

    A paragraph is cut at both ends to fit into `room`, given the cost of each word: the ranker would truncate only
    the end and lose what follows the claim. Abstracts are left for the ranker to truncate.
    """
    sentence = place.paragraph[place.index]
    parts = [sentence, place.title if variant.title else "", place.section_type if variant.section else ""]
    if variant.context == "abstract":
        parts.append(place.abstract)
    else:
        words_before, words_after = _words(place.paragraph[: place.index]), _words(place.paragraph[place.index + 1 :])
        middle = TARGET if masked else sentence
        if room is not None:
            remaining = room - sum(cost(word) for word in " ".join([*parts, middle]).split())
            words_before, words_after = nearest_words(words_before, words_after, remaining, cost)
        parts.append(" ".join([*words_before, middle, *words_after]))
    return " ".join(filter(None, parts))


def paper_input(variant: RankerVariant, title: str, abstract: str = "", year: int | None = None) -> str:
    """Build a paper's input for a variant: title, year (only in section variants) and abstract."""
    return paper_text(title, str(year) if variant.section and year is not None else "", abstract)


def nearest_words(
    words_before: Sequence[str], words_after: Sequence[str], room: int, cost: Callable[[str], int] = lambda word: 1
) -> tuple[list[str], list[str]]:
    """The words nearest the middle, balanced between both sides; room one side cannot use goes to the other."""
    sides = (list(reversed(words_before)), list(words_after))
    counts, spent = [0, 0], [0, 0]
    open_sides = {0, 1}
    while open_sides:
        side = min(open_sides, key=lambda index: (spent[index], index))
        if counts[side] == len(sides[side]) or sum(spent) + cost(sides[side][counts[side]]) > room:
            open_sides.remove(side)
        else:
            spent[side] += cost(sides[side][counts[side]])
            counts[side] += 1
    return sides[0][: counts[0]][::-1], sides[1][: counts[1]]


def _words(sentences: Sequence[str]) -> list[str]:
    return " ".join(sentences).split()
