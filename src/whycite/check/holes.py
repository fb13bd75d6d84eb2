"""Holes: what a citation that was part of the grammar leaves behind ("as shown by."), and how they are filled.

A sentence whose author has not cited yet has no hole. So a model must neither learn from holes nor be measured on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from whycite.evidence.groups import CitationGroup, SplitSentence
from whycite.evidence.words import last_word
from whycite.text.wordlists import DETERMINERS, load_tables

__all__ = ["leaves_hole", "named_texts", "repaired_texts"]

_TABLES = load_tables(__name__)
_NAMES: Sequence[str] = _TABLES["names"].split()
_FIRST_YEAR, _YEARS = 1985, 40


def leaves_hole(parts: SplitSentence) -> bool:
    """Whether the sentence is incomplete without its citations."""
    return any(group.leaves_hole for group in parts.groups)


def named_texts(parts: SplitSentence) -> tuple[str, ...] | None:
    """The texts of a sentence with the names of cited authors in its holes; None if one of them is not known."""
    if any(group.leaves_hole and not group.name for group in parts.groups):
        return None
    return _filled(parts, [group.name if group.leaves_hole else "" for group in parts.groups])


def repaired_texts(parts: SplitSentence) -> tuple[str, ...]:
    """The texts of a sentence with something in each hole: names, names and a year, or "previous work".

    Which one depends on the sentence alone, so that it is always the same.
    """
    draw = crc32(" ".join(parts.texts).encode("utf-8", "replace"))
    return _filled(
        parts,
        [
            _stand_in(group, parts.texts[index], parts.texts[index + 1], draw + index) if group.leaves_hole else ""
            for index, group in enumerate(parts.groups)
        ],
    )


def _filled(parts: SplitSentence, stand_ins: Sequence[str]) -> tuple[str, ...]:
    """The texts, each with the stand-in for the group after it."""
    filled = [f"{text} {stand_in}".strip() for text, stand_in in zip(parts.texts, [*stand_ins, ""], strict=True)]
    if stand_ins and stand_ins[0] and not parts.texts[0]:
        filled[0] = filled[0][:1].upper() + filled[0][1:]
    return tuple(filled)


def _stand_in(group: CitationGroup, lead: str, following: str, draw: int) -> str:
    """A name, a name with a year, or words for earlier work, each in a third of the cases."""
    form, draw = draw % 3, draw // 3
    if group.name.endswith(("'s", "’s", "'", "’")):
        return group.name
    if form < 2:
        name = group.name or f"{_NAMES[draw % len(_NAMES)]} et al."
        return name if form == 0 else f"{name} ({_FIRST_YEAR + draw % _YEARS})"
    if last_word(lead) in DETERMINERS:
        choices = _TABLES["after_determiner"]
    else:
        choices = _TABLES["study" if following.partition(" ")[0].endswith("s") else "studies"]
    return str(choices[draw % len(choices)])
