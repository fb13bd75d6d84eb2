"""Entries of a printed list of references, made from BibTeX entries."""

from __future__ import annotations

import re

from whycite.documents.bibliographies.bibtex_entries import Entry

__all__ = ["bibitem"]

_AND = re.compile(r"\s+and\s+")


def bibitem(entry: Entry, label: str = "") -> str:
    """The `\\bibitem` of an entry; `label` is one of the list's own, whose form it follows."""
    fields = entry.fields
    people = [person.strip() for person in _AND.split(fields.get("author", "")) if person.strip()]
    parts = [", ".join(map(_natural, people)), fields.get("title", ""), _last(fields)]
    first, *others = [_closed(part) for part in parts if part] or [entry.key]
    lines = [f"\\bibitem{_label(label, people, fields)}{{{entry.key}}}", first]
    return "\n".join([*lines, *(f"\\newblock {other}" for other in others), "", ""])


def _label(like: str, people: list[str], fields: dict[str, str]) -> str:
    if not like:
        return ""
    families = [person.partition(",")[0] for person in people] or [fields.get("title", "Anonymous").partition(" ")[0]]
    names = families[0] + (" et~al." if len(families) > 2 else f" and {families[1]}" if len(families) == 2 else "")
    year = fields.get("year", "")
    return f"[{{{names}}}({year})]" if "(" in like else f"[{{{names} {year}}}]"


def _natural(person: str) -> str:
    """ "Dyer, Chris" as "Chris Dyer"."""
    family, comma, given = person.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else person


def _last(fields: dict[str, str]) -> str:
    venue = f"{{\\em {fields['journal']}}}" if "journal" in fields else ""
    if "booktitle" in fields:
        venue = f"In {{\\em {fields['booktitle']}}}"
    return ", ".join(part for part in (venue, fields.get("year", "")) if part)


def _closed(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
