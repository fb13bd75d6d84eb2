"""The `.bbl` files that biber writes for biblatex: every field by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.bibliographies.bibtex import reference_of
from whycite.documents.bibliographies.bibtex_entries import Entry
from whycite.documents.bibliographies.texgroups import group_at, matching_braces
from whycite.documents.model import Reference

__all__ = ["is_biber", "read_biber"]

_LONGEST = 100_000  # no entry is longer
_ENTRY = re.compile(r"\\entry\s*\{([^{}]*+)\}\s*\{([^{}]*+)\}")
_COMMAND = re.compile(r"\\(field|name|list)(?![A-Za-z])\s*+")
_NAME_PART = re.compile(r"\b(family|given|prefix|suffix)=")
_VERB = re.compile(r"\\verb\s*\{(\w++)\}\s*+\\verb\s([^\n]*+)")


def is_biber(text: str) -> bool:
    """Whether this is biber's form and not a list of \\bibitem."""
    return _ENTRY.search(text) is not None


def read_biber(text: str) -> Iterator[Reference]:
    """The references of a file without comments; sorting lists that repeat entries give them once."""
    marks = [*_ENTRY.finditer(text)]
    seen: set[str] = set()
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        key = mark[1].strip()
        if key not in seen:
            seen.add(key)
            fields = _fields(text[mark.end() : min(end, mark.end() + _LONGEST)])
            yield reference_of(Entry(mark[2], key, fields, 0), fields)


def _fields(text: str) -> dict[str, str]:
    closing = matching_braces(text)
    fields: dict[str, str] = {}
    for command in _COMMAND.finditer(text):
        name, at = group_at(text, command.end(), closing)
        groups: list[str] = []
        while (group := group_at(text, at, closing))[1] > at and len(groups) < 4:
            groups.append(group[0])
            at = group[1]
        value = groups[-1] if groups else ""
        fields.setdefault(name, _people(value) if command[1] == "name" else value)
    for verb in _VERB.finditer(text):
        fields.setdefault(verb[1], verb[2].strip())
    return fields


def _people(text: str) -> str:
    """The people of a `\\name` list as BibTeX writes them."""
    closing = matching_braces(text)
    people: list[dict[str, str]] = []
    for part in _NAME_PART.finditer(text):
        if part[1] == "family" or not people:
            people.append({})
        people[-1].setdefault(part[1], group_at(text, part.end(), closing)[0])
    return " and ".join(
        f"{{{p.get('prefix', '')} {p.get('family', '')}}}, {p.get('given', '')} {p.get('suffix', '')}" for p in people
    )
