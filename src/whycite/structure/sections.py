"""Section types of headings and of whole documents, and the section sequence they form (SCOPE 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from whycite.documents.model import Document, Section
from whycite.errors import UserError
from whycite.structure.dictionary import BODY_TYPES, OUTER_TYPES, SECTION_TYPES, Dictionary, HeadingMatch, dictionary
from whycite.structure.headings import normalise_heading
from whycite.structure.rules import load_rules, rules_path

__all__ = [
    "SectionOutline",
    "SectionRun",
    "default_dictionary",
    "label",
    "outline",
    "parse_section_type",
    "section_type",
    "section_types",
    "sequence",
]


# "Experiment 1" is a method among methods and a result among results; "Experiment 1" has methods and results.
_CORE = frozenset(["method", "experiment", "result"])
_DISTINCT = _CORE - {"experiment"}


def section_type(heading: str, dictionary: Dictionary | None = None) -> str | None:
    """The section type a heading means ("2.1 Materials & Methods": "method"), None where it means none."""
    return (dictionary or default_dictionary()).type(heading)


def parse_section_type(name: str) -> str:
    """The section type that a user names, by itself or by a heading that means it."""
    if (matched_type := section_type(name)) is None:
        raise UserError(f"unknown section type '{name}'; choose one of: {', '.join(SECTION_TYPES)}")
    return matched_type


def label(document: Document, dictionary: Dictionary | None = None) -> Document:
    """The document with the type of every section filled in."""
    labels = section_types(document.sections, dictionary or default_dictionary(), document.paper.title)
    sections = zip(document.sections, labels, strict=True)
    return replace(document, sections=tuple(replace(section, type=type) for section, type in sections))


def default_dictionary() -> Dictionary:
    """The whole dictionary with the user's own rules; read again when their file has changed."""
    path = rules_path()
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _with_rules(path, changed)


@lru_cache(maxsize=1)
def _with_rules(path: Path, changed: int) -> Dictionary:
    return dictionary("ours", load_rules(path, SECTION_TYPES))


def section_types(sections: Sequence[Section], dictionary: Dictionary, title: str = "") -> list[str | None]:
    """The type of each section: its own, or that of the section around it."""
    matches = [_match(section.heading, dictionary, title) for section in sections]
    labels: list[str | None] = []
    enclosing: list[tuple[int, str | None]] = []
    argued = False
    tail = 0  # the level of sections that come after the end of the argument; 0 before it
    for section, match, level in zip(sections, matches, _levels(sections, matches), strict=True):
        while enclosing and enclosing[-1][0] >= level:
            enclosing.pop()
        outer = enclosing[-1][1] if enclosing else None
        type = _type(match, outer)
        if level < tail:
            tail = 0  # that was the end of a chapter
        if tail and level == tail and type is None and section.heading and dictionary.extended:
            type = "appendix"
        if argued and outer is None and match and _ends_argument(match):
            tail = level
        argued = argued or type in BODY_TYPES
        labels.append(type)
        enclosing.append((level, type))
    return labels


def _levels(sections: Sequence[Section], matches: Sequence[HeadingMatch | None]) -> Iterator[int]:
    """The levels, where an abstract that a format sets above the sections stands among them."""
    body = [
        section.level for section, match in zip(sections, matches, strict=True) if match and match.type in BODY_TYPES
    ]
    top = min(body, default=max((section.level for section in sections), default=0))
    for section, match in zip(sections, matches, strict=True):
        is_sibling = (
            match is not None and match.type in OUTER_TYPES and match.type != "appendix"
        )  # appendices do hold sections
        yield max(section.level, top) if is_sibling else section.level


def _match(heading: str, dictionary: Dictionary, title: str) -> HeadingMatch | None:
    if not heading or (title and normalise_heading(heading) == normalise_heading(title)):
        return None  # the title of a paper says what it is about, not what follows it
    return dictionary.match(heading)


def _type(match: HeadingMatch | None, outer: str | None) -> str | None:
    if match is None or outer in OUTER_TYPES:
        return outer  # the methods of a structured abstract are part of the abstract
    if outer is None:
        return match.type
    if not match.exact or match.general or (outer in _DISTINCT and match.type in _CORE):
        return outer
    return match.type


def _ends_argument(match: HeadingMatch) -> bool:
    """Whether the argument is over: what follows, if it has no type of its own, is an appendix."""
    if match.type == "conclusion":
        return not match.general  # a "Summary" may stand anywhere
    return match.type in ("acknowledgement", "references", "appendix")


@dataclass(frozen=True, slots=True)
class SectionOutline:
    """The headings of a document that have text under them, all that structure analysis needs of it."""

    path: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class SectionRun:
    """Neighbouring sections of one type; a section without a type stands alone."""

    type: str | None
    headings: tuple[str, ...]


def outline(document: Document) -> SectionOutline:
    """The outline of a document; sections without sentences in them or below them are left out."""
    filled = {sentence.section for sentence in document.sentences}
    sections: list[Section] = []
    reach = 0  # the level below which a section has text in a later subsection
    for index in range(len(document.sections) - 1, -1, -1):
        section = document.sections[index]
        if index in filled or section.level < reach:
            sections.append(section)
            reach = section.level
    return SectionOutline(document.path, document.paper.title, tuple(reversed(sections)))


def sequence(outline: SectionOutline, dictionary: Dictionary) -> tuple[SectionRun, ...]:
    """The top-level sections in order, neighbours of one type merged, those around the argument left out."""
    typed = zip(outline.sections, section_types(outline.sections, dictionary, outline.title), strict=True)
    rows = [(section, type) for section, type in typed if section.heading and type not in OUTER_TYPES]
    runs: list[SectionRun] = []
    for section, type in _top_level(rows):
        if runs and _continues_run(runs[-1], section.heading, type):
            runs[-1] = SectionRun(type, (*runs[-1].headings, section.heading))
        else:
            runs.append(SectionRun(type, (section.heading,)))
    return tuple(runs)


def _top_level(rows: Sequence[tuple[Section, str | None]]) -> Sequence[tuple[Section, str | None]]:
    """The rows of the highest level; a single heading above all others is the title, not a section."""
    levels: dict[int, list[tuple[Section, str | None]]] = {}
    for row in rows:
        levels.setdefault(row[0].level, []).append(row)
    top: Sequence[tuple[Section, str | None]] = []
    for _, top in sorted(levels.items()):
        if len(top) > 1 or top[0][1] is not None:
            break
    return top


def _continues_run(run: SectionRun, heading: str, type: str | None) -> bool:
    return run.type == type and (type is not None or normalise_heading(run.headings[-1]) == normalise_heading(heading))
