"""Cite commands of plain LaTeX, natbib, biblatex and apacite, with their notes."""

from __future__ import annotations

import re

from whycite.documents.latex.cursor import Cursor, Range
from whycite.text.accents import untex

__all__ = ["is_citation", "looks_like_citation", "read_citation"]

_BASES = "auto paren text foot footfull super smart full short new online block i inline p t"
_ENDS = (
    "p t alp alt alpt author authors authorfull year yearpar year* title date url num n talias palias text* a A NP N "
    "yearNP authorNP fullauthor full short ps fullauthorNP online issn doi poss posst s al"
)
_KNOWN = frozenset(
    ["cite", "cites", "Cite", "Cites"]
    + [f"{base}cite{plural}" for base in _BASES.split() for plural in ("", "s")]
    + [f"{base.capitalize()}cite{plural}" for base in _BASES.split() for plural in ("", "s")]
    + [f"{head}{end}" for head in ("cite", "Cite", "shortcite", "fullcite") for end in _ENDS.split()]
)
_NONE = frozenset(
    "nocite shortcites citestyle setcitestyle citereset bibcite citation defcitealias citetext citeform citeleft "
    "citeright citepunct citemid citelist citeindextrue citeindexfalse DeclareCiteCommand citename citesort citedash "
    "citeprepunct renewcite AtEveryCite AtEveryCitekey multicitedelim AtNextCite citesetup citetrackertrue".split()
)
_BAD = re.compile(r"[\s{}\\]")  # what no key holds: a brace was not closed
_COMMENT = re.compile(r"(?<!\\)%[^\n\r]*(?:\r\n|\n|\r|$)")


def is_citation(name: str) -> bool:
    """Whether a control word is one of the known cite commands."""
    return name in _KNOWN and name not in _NONE


def looks_like_citation(name: str) -> bool:
    """Whether an unknown control word has the look of a cite command."""
    return "cite" in name.lower() and name not in _NONE and "@" not in name


def read_citation(cursor: Cursor, name: str) -> tuple[tuple[str, ...], str, list[Range]]:
    """The keys and the printed form of the citation whose command was just read, and the ranges read.

    No ranges: no argument follows, so it was no citation.
    """
    if name.endswith("volcite"):  # the volume comes first
        cursor.group()
    plural = name.endswith("cites")
    before, after = "", ""
    ranges: list[Range] = []
    if plural:
        for _ in range(2):
            if note := cursor.optional("("):
                before, after = (_note(note), "") if not ranges else (before, _note(note))
                ranges.append(note)
    keys: list[str] = []
    printed: list[str] = []
    while True:
        if angle := cursor.optional("<"):  # apacite's note before the citation
            before = _note(angle)
        notes: list[Range] = []
        while len(notes) < 2 and (note := cursor.optional()):
            notes.append(note)
        group = cursor.short_group()
        if group is None:
            break
        ranges += [*notes, group]
        found = [
            key for part in _COMMENT.sub("", group.text).split(",") if (key := part.strip()) and not _BAD.search(key)
        ]
        keys += found
        head = _note(notes[0]) if len(notes) == 2 else ""
        tail = _note(notes[-1]) if notes else ""
        printed.append(f"{head} " * bool(head) + "; ".join(found) + f", {tail}" * bool(tail))
        if not plural:
            break
    shown = f"{before} " * bool(before) + "; ".join(printed) + f", {after}" * bool(after)
    return tuple(dict.fromkeys(keys)), f"[{shown}]", ranges


def _note(note: Range) -> str:
    return untex(note.text).strip()
