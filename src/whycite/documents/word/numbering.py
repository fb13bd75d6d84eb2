"""The numbers that a document prints for the works that it cites, if a reference manager keeps them without numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from whycite.documents.identity import normalise_title
from whycite.documents.model import Reference
from whycite.documents.word.flow import Flow

__all__ = ["LABEL", "NUMBERED", "printed_numbers"]

# What a citation shows; a year is no number of a list.
NUMBERED = re.compile(r"(?P<opening>[\[(]?)\d{1,3}(?:[,;\s–-]+\d{1,3})*[\])]?")
LABEL = re.compile(r"\s*(\[?)(\d{1,3})(?!\w)(\]?[.)]?)(\s*)")  # of an entry; "3D" is none either
_MAX_COMPARISONS = 4_000_000  # of entries with titles; 2,000 works, which takes a second


def printed_numbers(
    flow: Flow, text: str, references: Sequence[Reference], citations: Iterable[tuple[str, Sequence[str]]]
) -> tuple[dict[str, int], int]:
    """The numbers of the references by their ids, and the highest number, which may be of none of them.

    A typed list names its references by number. What a manager stores has no numbers: the list that it printed has, and
    so have citations of one work, which are given by what they show and the ids of what they cite.
    """
    numbers = {reference.id: int(reference.id) for reference in references if reference.id.isdecimal()}
    shown = []
    for words, keys in citations:
        if NUMBERED.fullmatch(words.strip()):
            shown += (printed := [int(number) for number in re.findall(r"\d+", words)])
            if len(printed) == len(keys) == 1:
                numbers.setdefault(keys[0], printed[0])
    titles = [normalise_title(reference.title) for reference in references]
    ids = {title: reference.id for title, reference in zip(titles, references, strict=True) if title}
    placed: defaultdict[str, set[int]] = defaultdict(set)
    entries = flow.listed
    if len(entries) * len(ids) > _MAX_COMPARISONS:
        entries = []
    for position, line in enumerate(entries, 1):
        words = text[line.start : line.end]
        label = LABEL.match(words)
        number = position if line.numbered else int(label[2]) if label else 0
        entry = f" {normalise_title(words)} "
        # "Sleep" is a part of "Sleep of bees".
        title = max((title for title in ids if f" {title} " in entry), key=len, default="")
        if number and titles.count(title) == 1:
            placed[ids[title]].add(number)
        shown.append(number)
    for id, (first, *others) in placed.items():
        if not others:  # else nobody knows which of them it is
            numbers.setdefault(id, first)
    return numbers, max((*numbers.values(), *shown), default=0)
