"""What the reader knows about LaTeX commands: which cite, which arguments are prose, which begin a section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whycite.text.accents import untex
from whycite.text.wordlists import load_tables

if TYPE_CHECKING:
    from whycite.documents.latex.cursor import Cursor, LatexRange

__all__ = [
    "ARGUMENTS",
    "CROSS_REFERENCES",
    "ENVIRONMENT_ARGUMENTS",
    "FLOATS",
    "INPUTS",
    "MATH_ENVIRONMENTS",
    "PICTURES",
    "SECTIONS",
    "TABULARS",
    "VERBATIM",
    "WRITER_NOTES",
    "is_citation",
    "looks_like_citation",
    "read_citation",
]


SECTIONS = {  # command -> level, 1 at the top
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
    "addchap": 1,
    "addsec": 2,
    "bmhead": 3,
}

INPUTS = {  # command -> how many folder arguments come before the file name
    "input": 0,
    "include": 0,
    "subfile": 0,
    "subfileinclude": 0,
    "import": 1,
    "subimport": 1,
    "inputfrom": 1,
    "subinputfrom": 1,
    "includefrom": 1,
    "subincludefrom": 1,
    "InputIfFileExists": 0,
}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    """A table of letters -> names, inverted."""
    return {name: letters for letters, names in table.items() for name in names.split()}


def _with_star(names: str) -> frozenset[str]:
    return frozenset(name + star for name in names.split() for star in ("", "*"))


_TABLES = load_tables(__name__)
ARGUMENTS = _by_name(_TABLES["arguments"])  # command -> its arguments in letters
ENVIRONMENT_ARGUMENTS = _by_name(_TABLES["environment_arguments"])
CROSS_REFERENCES = frozenset(_TABLES["cross_references"].split())  # a reader sees a number there
WRITER_NOTES = frozenset(_TABLES["writer_notes"].split())  # notes of writers to each other, not part of the text
MATH_ENVIRONMENTS = _with_star(_TABLES["math_environments"])
FLOATS = _with_star(_TABLES["floats"])
TABULARS = _with_star(_TABLES["tabulars"])
PICTURES = frozenset(_TABLES["pictures"].split())  # drawings and code, where nothing is prose
VERBATIM = frozenset(_TABLES["verbatim"].split())  # environments whose content is not LaTeX

_CITE_PREFIXES = _TABLES["cite_prefixes"].split()
_CITE_ENDINGS = _TABLES["cite_endings"].split()
_CITE_COMMANDS = frozenset(
    ["cite", "cites", "Cite", "Cites"]
    + [f"{prefix}cite{plural}" for prefix in _CITE_PREFIXES for plural in ("", "s")]
    + [f"{prefix.capitalize()}cite{plural}" for prefix in _CITE_PREFIXES for plural in ("", "s")]
    + [f"{stem}{ending}" for stem in ("cite", "Cite", "shortcite", "fullcite") for ending in _CITE_ENDINGS]
)
_TEXTUAL_COMMANDS = frozenset(_TABLES["textual_citations"].split())
_NOT_CITING = frozenset(_TABLES["not_citing"].split())
_NOT_IN_KEY = re.compile(r"[\s{}\\]")  # never in a key: a brace was not closed
_COMMENT = re.compile(r"(?<!\\)%[^\n\r]*(?:\r\n|\n|\r|$)")


def is_citation(name: str) -> bool:
    """Whether a control word is one of the known cite commands."""
    return name in _CITE_COMMANDS and name not in _NOT_CITING


def is_textual(name: str) -> bool:
    """Whether a cite command prints the authors as part of the sentence."""
    return name.rstrip("*") in _TEXTUAL_COMMANDS


def looks_like_citation(name: str) -> bool:
    """Whether an unknown control word looks like a cite command."""
    return "cite" in name.lower() and name not in _NOT_CITING and "@" not in name


def read_citation(cursor: Cursor, name: str) -> tuple[tuple[str, ...], str, list[LatexRange]]:
    """The keys and the printed form of the citation whose command was just read, and the ranges read.

    Without ranges, no argument followed, so it was not a citation.
    """
    if name.endswith("volcite"):  # the volume comes first
        cursor.group()
    is_plural = name.endswith("cites")
    prenote, postnote = "", ""
    ranges: list[LatexRange] = []
    if is_plural:
        for _ in range(2):
            if note := cursor.optional_argument("("):
                prenote, postnote = (_note_text(note), "") if not ranges else (prenote, _note_text(note))
                ranges.append(note)
    keys: list[str] = []
    forms: list[str] = []
    while True:
        if angle := cursor.optional_argument("<"):  # a prenote in apacite
            prenote = _note_text(angle)
        notes: list[LatexRange] = []
        while len(notes) < 2 and (note := cursor.optional_argument()):
            notes.append(note)
        group = cursor.short_group()
        if group is None:
            break
        ranges += [*notes, group]
        group_keys = [
            key
            for part in _COMMENT.sub("", group.text).split(",")
            if (key := part.strip()) and not _NOT_IN_KEY.search(key)
        ]
        keys += group_keys
        head = _note_text(notes[0]) if len(notes) == 2 else ""
        tail = _note_text(notes[-1]) if notes else ""
        forms.append(f"{head} " * bool(head) + "; ".join(group_keys) + f", {tail}" * bool(tail))
        if not is_plural:
            break
    marker_text = f"{prenote} " * bool(prenote) + "; ".join(forms) + f", {postnote}" * bool(postnote)
    return tuple(dict.fromkeys(keys)), f"[{marker_text}]", ranges


def _note_text(note: LatexRange) -> str:
    return untex(note.text).strip()
