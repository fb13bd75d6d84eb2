"""Which paper a PDF is: title, authors, year and identifiers, as far as its first page tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from whycite.documents.bibliographies.names import parse_people
from whycite.documents.identity.identifiers import normalise_arxiv, normalise_doi
from whycite.documents.model import Reference
from whycite.documents.pdf.front import LIKE
from whycite.documents.pdf.heading_words import squeezed

__all__ = ["paper_of"]

_MARKS = re.compile(r"[*∗†‡§¶⋆♯#]|(?<=[^\W\d_.])\d[\d,]*(?!\w)|^\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_SEPARATOR = re.compile(r"[,;&·•]|\band\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_](?:[\w'’.-]{0,30})(?:\s+[^\W\d_](?:[\w'’.-]{0,30})){1,4}")
_RANKS = re.compile(
    r",?\s?\b(?:(?:student |senior |life |graduate )?(?:member|fellow),? (?:IEEE|ACM)"
    r"|Ph\.? ?D\.?|M\.?D\.?|M\.?Sc\.?)(?!\w)",
    re.IGNORECASE,
)
_PARTICLES = frozenset("van von der den de del della di da dos das du la le ten ter el al bin ibn y e zu".split())
_NOT_NAMES = re.compile(
    r"universit|institut|departm|laborator|technolog|facult|correspond|@|http|www|\b(?:dept|labs?|school|college|"
    r"cent(?:er|re)|hospital|research|sciences?|inc|ltd|corp|corporation|company|gmbh|street|avenue|road|box|e-?mail|"
    r"academy|ministry|kingdom|states|usa|uk|germany|france|spain|china|japan|italy|canada|india|netherlands|"
    r"switzerland|australia|korea|brazil|israel|sweden|articles?|journal|review|volume|abstract|draft|version|"
    r"submitted|accepted|received|published|preprint|authors?|informatics|languages|systems|society)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.])(19[5-9]\d|20[0-4]\d)(?!\d)")
_MOST_AUTHORS = 200
_LONGEST = 500  # characters of a title
_SAME = 0.9  # share of letters from which two titles differ in spelling alone
_BROKEN = re.compile(r"[^\W\d_][^\W\d_.]{1,30}")  # a given name at the end of a line


def paper_of(found: dict[str, Any]) -> Reference:
    """The paper from what the limited process found on the first page."""
    margins = " \n ".join([found["aside"], *found["margins"], *(" ".join(cells) for cells, *_ in found["front"])])
    year = _YEAR.search(margins)
    return Reference(
        id="",
        title=_title(found["title"], found["metadata"]),
        authors=_authors(found["front"]),
        year=int(year[0]) if year else None,
        doi=normalise_doi(margins),
        arxiv=normalise_arxiv(found["aside"]),
    )


def _title(printed: str, metadata: str) -> str:
    """The title as printed; the file's own, where the print is a bad scan of it."""
    printed, metadata = " ".join(printed.rstrip("*∗†‡§ ").split()), " ".join(metadata.split())
    one, other = squeezed(printed), squeezed(metadata)
    if len(metadata.split()) < 3 or max(len(one), len(other)) > _LONGEST:
        return printed
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return metadata if LIKE < alike < _SAME else printed


def _authors(front: Sequence[tuple[list[str], float, bool, bool]]) -> tuple[str, ...]:
    """The people named between title and text: lines of nothing but names, all set like the first of them."""
    lines = [(names, style) for cells, style in _joined(front) if (names := _names(cells))]
    named = [name for names, style in lines if _alike(style, lines[0][1]) for name in names]
    people = [person for name in named[:_MOST_AUTHORS] for person in parse_people(name)]
    return tuple(dict.fromkeys(people))


def _joined(front: Sequence[tuple[list[str], float, bool, bool]]) -> list[tuple[list[str], list[float]]]:
    """The lines, a name divided between two made whole."""
    lines: list[tuple[list[str], list[float]]] = []
    for cells, *style in front:
        if lines and _alike(style, lines[-1][1]) and _BROKEN.fullmatch(lines[-1][0][-1]):
            lines[-1][0][-1] += " " + cells[0]
            lines[-1][0].extend(cells[1:])
        else:
            lines.append((list(cells), style))
    return lines


def _alike(style: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two lines have the same size, weight and slant."""
    return abs(style[0] - other[0]) <= 0.05 * other[0] and style[1:] == other[1:]


def _names(cells: Iterable[str]) -> list[str]:
    """The names of a line; none at all where anything else stands in it."""
    names = []
    for cell in cells:
        for part in _SEPARATOR.split(_MARKS.sub(" ", _RANKS.sub("", cell))):
            name = " ".join(part.split())
            if not name or len(name) == 1:
                continue
            if not _NAME.fullmatch(name) or _NOT_NAMES.search(name) or not _capitalised(name):
                return []
            names.append(name)
    return names


def _capitalised(name: str) -> bool:
    words = [word for word in name.split() if word.lower() not in _PARTICLES]
    return len(words) >= 2 and all(word[0].isupper() for word in words)
