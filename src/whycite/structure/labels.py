"""Section types of headings and of whole documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from whycite.documents.model import Document, Section
from whycite.errors import UserError
from whycite.structure.dictionary import AROUND, BODY, TYPES, Dictionary, Match, dictionary
from whycite.structure.headings import normalise
from whycite.structure.rules import load_rules, rules_path

__all__ = ["default_dictionary", "label", "section_type", "type_named", "types"]

# "Experiment 1" is a method among methods and a result among results; "Experiment 1" has methods and results.
_CORE = frozenset(["method", "experiment", "result"])
_TOLD_APART = _CORE - {"experiment"}


def section_type(heading: str, dictionary: Dictionary | None = None) -> str | None:
    """The section type a heading means ("2.1 Materials & Methods": "method"), None where it means none."""
    return (dictionary or default_dictionary()).type(heading)


def type_named(name: str) -> str:
    """The section type that a user names, by itself or by a heading that means it."""
    if (known := section_type(name)) is None:
        raise UserError(f"'{name}' is no section type; there are: {', '.join(TYPES)}")
    return known


def label(document: Document, dictionary: Dictionary | None = None) -> Document:
    """The document with the type of every section filled in."""
    found = types(document.sections, dictionary or default_dictionary(), document.paper.title)
    sections = zip(document.sections, found, strict=True)
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
    return dictionary("ours", load_rules(path, TYPES))


def types(sections: Sequence[Section], dictionary: Dictionary, title: str = "") -> list[str | None]:
    """The type of each section: its own, or that of the section around it."""
    matches = [_match(section.heading, dictionary, title) for section in sections]
    found: list[str | None] = []
    enclosing: list[tuple[int, str | None]] = []
    argued = False
    tail = 0  # the level of sections that come after the end of the argument; 0 before it
    for section, own, level in zip(sections, matches, _levels(sections, matches), strict=True):
        while enclosing and enclosing[-1][0] >= level:
            enclosing.pop()
        outer = enclosing[-1][1] if enclosing else None
        type = _type(own, outer)
        if level < tail:
            tail = 0  # that was the end of a chapter
        if tail and level == tail and type is None and section.heading and dictionary.beyond:
            type = "appendix"
        if argued and outer is None and own and _ends(own):
            tail = level
        argued = argued or type in BODY
        found.append(type)
        enclosing.append((level, type))
    return found


def _levels(sections: Sequence[Section], matches: Sequence[Match | None]) -> Iterator[int]:
    """The levels, where an abstract that a format sets above the sections stands among them."""
    body = [section.level for section, own in zip(sections, matches, strict=True) if own and own.type in BODY]
    top = min(body, default=max((section.level for section in sections), default=0))
    for section, own in zip(sections, matches, strict=True):
        among = own is not None and own.type in AROUND and own.type != "appendix"  # appendices do hold sections
        yield max(section.level, top) if among else section.level


def _match(heading: str, dictionary: Dictionary, title: str) -> Match | None:
    if not heading or (title and normalise(heading) == normalise(title)):
        return None  # the title of a paper says what it is about, not what follows it
    return dictionary.match(heading)


def _type(own: Match | None, outer: str | None) -> str | None:
    if own is None or outer in AROUND:
        return outer  # the methods of a structured abstract are part of the abstract
    if outer is None:
        return own.type
    if not own.exact or own.general or (outer in _TOLD_APART and own.type in _CORE):
        return outer
    return own.type


def _ends(own: Match) -> bool:
    """Whether the argument is over: what follows, if it has no type of its own, is an appendix."""
    if own.type == "conclusion":
        return not own.general  # a "Summary" may stand anywhere
    return own.type in ("acknowledgement", "references", "appendix")
