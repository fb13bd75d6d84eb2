"""Keys for new entries in the style of a bibliography's own: what most of its keys are made of, and how."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product
from typing import TYPE_CHECKING

from whycite.documents.model import Reference
from whycite.evidence.words import FUNCTION_WORDS
from whycite.text.normalise import fold, spell_greek

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["Keys", "Style", "style_of"]

_LOOKED_AT = 100  # entries, the last ones: habits change
_LEAST = 2  # keys of a style, and
_SHARE = 0.1  # of those looked at, before it is taken for the file's
_SEPARATOR = "[_:./+-]?"
# What may follow the author, and what that makes of the key.
_RESTS = {
    ("author", "year"): rf"(?P<first>{_SEPARATOR}){{year}}[a-z]?",
    ("author", "year", "word"): rf"(?P<first>{_SEPARATOR}){{year}}(?P<second>{_SEPARATOR})(?P<word>{{word}})",
    ("author", "word", "year"): rf"(?P<first>{_SEPARATOR})(?P<word>{{word}})(?P<second>{_SEPARATOR}){{year}}[a-z]?",
}
_CASES: dict[str, Callable[[str], str]] = {"lower": str.lower, "title": str.capitalize, "upper": str.upper}
_LETTERS = "bcdefghijklmnopqrstuvwxyz"
_NOT_IN_KEY = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Style:
    """How a key is put together: "smith2010deep" has parts author, year and word, no separators and lower case."""

    parts: tuple[str, ...] = ("author", "year", "word")
    separators: tuple[str, ...] = ("", "")
    case: str = "lower"
    word_case: str = "lower"
    digits: int = 4  # of the year
    both: bool = False  # whether the second of two authors is named too

    def key(self, authors: Sequence[str], year: int | None, title: str) -> str:
        """The key for a work; what is not known of it is left out."""
        made = {
            "author": self._author(authors),
            "year": str(year)[-self.digits :] if year else "",
            "word": _CASES[self.word_case](_word(title)),
        }
        found = ""
        for part, separator in zip(self.parts, ("", *self.separators), strict=True):
            if made[part]:
                found += (separator if found else "") + made[part]
        return found

    def _author(self, authors: Sequence[str]) -> str:
        names = authors[:2] if self.both and len(authors) == 2 else authors[:1]
        families = (_NOT_IN_KEY.sub("", fold(name.partition(",")[0])) for name in names)
        return "".join(_CASES[self.case](family) for family in families) or _CASES[self.case]("anonymous")


def style_of(references: Sequence[Reference]) -> Style:
    """The style that gives most of the keys of these entries; the usual one where none gives some."""
    known = [each for each in references if each.authors and each.year][-_LOOKED_AT:]
    counted = Counter(style for entry in known for style in _matching(entry))
    best = max(counted.values(), default=0)
    if best < max(_LEAST, _SHARE * len(known)):
        return Style()
    # Of equal ones the plainest: with fewer parts, and without a second author.
    return min((style for style in counted if counted[style] == best), key=lambda style: (len(style.parts), str(style)))


def _matching(entry: Reference) -> set[Style]:
    """The styles that give an entry the key it has, but for the letter that tells two of a year apart."""
    found = set()
    year, word = str(entry.year), _word(entry.title)
    for case, both, digits in product(_CASES, (False, True), (4, 2)):
        plain = Style(("author",), (), case, "lower", digits, both)
        rest = entry.id.removeprefix(plain.key(entry.authors, None, ""))
        if rest == entry.id:
            continue
        for parts, pattern in _RESTS.items():
            shape = pattern.format(year=year[-digits:], word=re.escape(word) or "(?!)")
            if match := re.fullmatch(shape, rest, re.IGNORECASE):
                written = match.groupdict().get("word")
                cases = [name for name, change in _CASES.items() if written == change(word)] if written else ["lower"]
                separators = tuple(match[name] for name in ("first", "second")[: len(parts) - 1])
                found |= {Style(parts, separators, case, each, digits, both) for each in cases[:1]}
    return found


class Keys:
    """Gives papers keys that are all different, and different from those that are taken; a paper keeps its own."""

    def __init__(self, references: Sequence[Reference], taken: Iterable[str] = ()) -> None:
        self._references = references
        # Programs that sort keys do not tell "Smith2010" from "smith2010".
        self._taken = {key.lower() for key in (*(reference.id for reference in references), *taken)}
        self._given: dict[str, str] = {}

    @cached_property
    def _style(self) -> Style:
        return style_of(self._references)

    def of(self, paper: Paper) -> str:
        """The key of a paper."""
        if paper.key not in self._given:
            wanted = self._style.key(paper.authors, paper.year, paper.title)
            key = next(key for key in _tries(wanted) if key.lower() not in self._taken)
            self._taken.add(key.lower())
            self._given[paper.key] = key
        return self._given[paper.key]


def _tries(key: str) -> Iterator[str]:
    yield key
    if key[-1].isdigit():
        yield from (key + letter for letter in _LETTERS)
    yield from (f"{key}-{number}" for number in count(2))


def _word(title: str) -> str:
    words = _NOT_IN_KEY.split(spell_greek(fold(title)))
    return next((word for word in words if len(word) > 1 and not word.isdigit() and word not in FUNCTION_WORDS), "")
