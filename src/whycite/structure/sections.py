"""Section types of headings and documents, the sequence they form (SCOPE 3.1), and learning them from the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from whycite.documents.model import Document, Section
from whycite.errors import UserError
from whycite.structure.synonyms import (
    BODY_TYPES,
    OUTER_TYPES,
    SECTION_TYPES,
    Dictionary,
    HeadingMatch,
    dictionary,
    load_rules,
    normalise_heading,
    rules_path,
    save_rules,
)

__all__ = [
    "SectionOutline",
    "SectionRun",
    "UnmatchedHeading",
    "default_dictionary",
    "label",
    "learn",
    "outline",
    "parse_section_type",
    "section_type",
    "section_types",
    "sequence",
    "unmatched_headings",
]

# Inside a method or a result section these keep the outer type; an experiment may hold methods and results of its own.
_EMPIRICAL = frozenset(["method", "experiment", "result"])
_UNIFORM = _EMPIRICAL - {"experiment"}


def section_type(heading: str, dictionary: Dictionary | None = None) -> str | None:
    """The section type of a heading ("2.1 Materials & Methods": "method"), or None."""
    return (dictionary or default_dictionary()).type(heading)


def parse_section_type(name: str) -> str:
    """The section type a user names, directly or by a heading that means it."""
    if (matched_type := section_type(name)) is None:
        raise UserError(f"unknown section type '{name}'; choose one of: {', '.join(SECTION_TYPES)}")
    return matched_type


def label(document: Document, dictionary: Dictionary | None = None) -> Document:
    """The document with the type of every section filled in."""
    labels = section_types(document.sections, dictionary or default_dictionary(), document.paper.title)
    sections = zip(document.sections, labels, strict=True)
    return replace(document, sections=tuple(replace(section, type=type) for section, type in sections))


def default_dictionary() -> Dictionary:
    """The whole dictionary with the user's rules; reloaded when their file changes."""
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
    """The type of each section: its own, or that of the enclosing section."""
    matches = [_match(section.heading, dictionary, title) for section in sections]
    labels: list[str | None] = []
    enclosing: list[tuple[int, str | None]] = []
    argued = False
    tail = 0  # the level of the sections after the end of the argument; 0 before it
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
    """The levels, with an abstract that a format puts above the sections moved among them."""
    body = [
        section.level for section, match in zip(sections, matches, strict=True) if match and match.type in BODY_TYPES
    ]
    top = min(body, default=max((section.level for section in sections), default=0))
    for section, match in zip(sections, matches, strict=True):
        is_sibling = (
            match is not None and match.type in OUTER_TYPES and match.type != "appendix"
        )  # appendices do contain sections
        yield max(section.level, top) if is_sibling else section.level


def _match(heading: str, dictionary: Dictionary, title: str) -> HeadingMatch | None:
    if not heading or (title and normalise_heading(heading) == normalise_heading(title)):
        return None  # the title says what the paper is about, not what kind of section follows
    return dictionary.match(heading)


def _type(match: HeadingMatch | None, outer: str | None) -> str | None:
    if match is None or outer in OUTER_TYPES:
        return outer  # the methods of a structured abstract are part of the abstract
    if outer is None:
        return match.type
    if not match.exact or match.general or (outer in _UNIFORM and match.type in _EMPIRICAL):
        return outer
    return match.type


def _ends_argument(match: HeadingMatch) -> bool:
    """Whether the argument ends here: anything after it without a type of its own is an appendix."""
    if match.type == "conclusion":
        return not match.general  # a "Summary" may stand anywhere
    return match.type in ("acknowledgement", "references", "appendix")


@dataclass(frozen=True, slots=True)
class SectionOutline:
    """The headings of a document that have text under them: all that structure analysis needs."""

    path: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class SectionRun:
    """Neighbouring sections of one type; a section without a type is a run of its own."""

    type: str | None
    headings: tuple[str, ...]


def outline(document: Document) -> SectionOutline:
    """The outline of a document, without sections that have no sentences in or below them."""
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
    """The top-level sections of the argument in order, with neighbours of one type merged."""
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
    """The rows of the top level; a single untyped heading above all others is the title, not a section."""
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


@dataclass(frozen=True, slots=True)
class UnmatchedHeading:
    """A heading without a type, how many documents use it, and the first of them."""

    heading: str
    documents: int
    example: str


def unmatched_headings(outlines: Iterable[SectionOutline], dictionary: Dictionary) -> list[UnmatchedHeading]:
    """The headings of section sequences that have no type and no negative rule, most frequent first."""
    count: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for outline in outlines:
        terms = {
            normalise_heading(heading): heading
            for run in sequence(outline, dictionary)
            if run.type is None
            for heading in run.headings
        }
        for term, heading in terms.items():
            if term not in dictionary.rules.negative and any(map(str.isalpha, term)):
                count[term] += 1
                examples.setdefault(term, (heading, outline.path))
    return [UnmatchedHeading(examples[term][0], number, examples[term][1]) for term, number in count.most_common()]


def learn(headings: Iterable[UnmatchedHeading], ask: Callable[[UnmatchedHeading], str], path: Path) -> int:
    """Ask about each heading and save every answer to the rules at `path` immediately; returns how many were saved.

    An answer is a section type, "none" of them, "skip" or "quit".
    """
    answer_count = 0
    for heading in headings:
        # Read again each time: an answer may settle later headings, and the file may have been edited.
        rules = load_rules(path, SECTION_TYPES)
        if normalise_heading(heading.heading) in rules.negative or dictionary("ours", rules).match(heading.heading):
            continue
        reply = ask(heading)
        if reply == "quit":
            break
        if reply != "skip":
            updated_rules = rules.reject(heading.heading) if reply == "none" else rules.accept(heading.heading, reply)
            save_rules(path, updated_rules)
            answer_count += 1
    return answer_count
