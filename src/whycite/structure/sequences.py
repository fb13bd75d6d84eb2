"""The section sequence of a document (SCOPE 3.1): what its top-level sections are, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whycite.documents.model import Document, Section
from whycite.structure.dictionary import AROUND, Dictionary
from whycite.structure.headings import normalise
from whycite.structure.labels import types

__all__ = ["Outline", "Run", "outline", "sequence"]


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a document that have text under them, all that structure analysis needs of it."""

    path: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring sections of one type; a section without a type stands alone."""

    type: str | None
    headings: tuple[str, ...]


def outline(document: Document) -> Outline:
    """The outline of a document; sections without sentences in them or below them are left out."""
    filled = {sentence.section for sentence in document.sentences}
    kept: list[Section] = []
    reach = 0  # the level below which a section has text in a later subsection
    for index in range(len(document.sections) - 1, -1, -1):
        section = document.sections[index]
        if index in filled or section.level < reach:
            kept.append(section)
            reach = section.level
    return Outline(document.path, document.paper.title, tuple(reversed(kept)))


def sequence(outline: Outline, dictionary: Dictionary) -> tuple[Run, ...]:
    """The top-level sections in order, neighbours of one type merged, those around the argument left out."""
    typed = zip(outline.sections, types(outline.sections, dictionary, outline.title), strict=True)
    rows = [(section, type) for section, type in typed if section.heading and type not in AROUND]
    runs: list[Run] = []
    for section, type in _top(rows):
        if runs and _same(runs[-1], section.heading, type):
            runs[-1] = Run(type, (*runs[-1].headings, section.heading))
        else:
            runs.append(Run(type, (section.heading,)))
    return tuple(runs)


def _top(rows: Sequence[tuple[Section, str | None]]) -> Sequence[tuple[Section, str | None]]:
    """The rows of the highest level; a single heading above all others is the title, not a section."""
    levels: dict[int, list[tuple[Section, str | None]]] = {}
    for row in rows:
        levels.setdefault(row[0].level, []).append(row)
    top: Sequence[tuple[Section, str | None]] = []
    for _, top in sorted(levels.items()):
        if len(top) > 1 or top[0][1] is not None:
            break
    return top


def _same(run: Run, heading: str, type: str | None) -> bool:
    return run.type == type and (type is not None or normalise(run.headings[-1]) == normalise(heading))
