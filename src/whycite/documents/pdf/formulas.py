"""Displayed formulas and the crumbs of formulas that stand on lines of their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures

__all__ = ["mark_formulas"]

_NUMBER = re.compile(r"\(\s?[A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?\s?\)$")
_WORD = re.compile(r"[A-Za-z]{3,}")
_FUNCTIONS = frozenset(
    "argmax argmin arg max min log exp lim sup inf sin cos tan det dim mod Pr if otherwise where for all and".split()
)


def mark_formulas(lines: Sequence[Line], prose: set[int], body: Measures) -> None:
    """Give displayed formulas of a page the role "formula", single symbols on a line the role "crumb"."""
    for line in lines:
        if line.role != "body" or id(line) in prose:
            continue
        words = [word for word in _WORD.findall(line.text) if word not in _FUNCTIONS]
        symbols = _symbols(line)
        inset = line.x0 - line.left > 0.8 * body.size
        small = line.size < 0.9 * body.size
        if not words and (
            (line.length <= 2 and (symbols or small))
            or (line.length == 3 and (symbols or small or inset) and not line.text.replace(" ", "").isalnum())
        ):
            line.role = "crumb"
        elif (
            (symbols > 0.3 * line.length and len(words) <= 2 and inset)
            or (symbols > 0.5 * line.length and len(words) <= 1)
            or (inset and _NUMBER.search(line.text) and len(words) <= 4 and max(line.gaps, default=0) > 1.5 and symbols)
        ):
            line.role = "formula"
    _spread(lines, prose)


def _symbols(line: Line) -> int:
    """How many characters are set in a formula font or are mathematical signs."""
    count = 0
    for run in line.runs:
        if run.font.math or not run.font.name:
            count += len(run.text)
        else:
            count += sum(unicodedata.category(c) == "Sm" or "\u0370" <= c <= "\u03ff" for c in run.text)
    return count


def _spread(lines: Sequence[Line], prose: set[int]) -> None:
    """Crumbs and short wordless lines next to a formula belong to it."""
    for order in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        step = order.step
        for i in order:
            line, other = lines[i], lines[i - step]
            if (
                other.role == "formula"
                and line.role in ("crumb", "body")
                and id(line) not in prose
                and line.page == other.page
                and line.columns == other.columns
                and abs(line.y - other.y) < 2 * other.size
                and (line.role == "crumb" or not any(w not in _FUNCTIONS for w in _WORD.findall(line.text)))
            ):
                line.role = "formula"
