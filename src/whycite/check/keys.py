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
from whycite.text.normalise import fold, spell_greek
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["CitationKeys", "KeyStyle", "key_style"]

_SAMPLE_SIZE = 100  # entries, the last ones: habits change
_MIN_KEYS = 2  # keys of a style, and
_MIN_SHARE = 0.1  # of those looked at, before it is taken for the file's
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
class KeyStyle:
    """How a key is put together: "smith2010deep" has parts author, year and word, no separators and lower case."""

    parts: tuple[str, ...] = ("author", "year", "word")
    separators: tuple[str, ...] = ("", "")
    case: str = "lower"
    word_case: str = "lower"
    digits: int = 4  # of the year
    two_authors: bool = False  # whether the second of two authors is named too

    def key(self, authors: Sequence[str], year: int | None, title: str) -> str:
        """The key for a work; what is not known of it is left out."""
        pieces = {
            "author": self._author(authors),
            "year": str(year)[-self.digits :] if year else "",
            "word": _CASES[self.word_case](_title_word(title)),
        }
        key = ""
        for part, separator in zip(self.parts, ("", *self.separators), strict=True):
            if pieces[part]:
                key += (separator if key else "") + pieces[part]
        return key

    def _author(self, authors: Sequence[str]) -> str:
        names = authors[:2] if self.two_authors and len(authors) == 2 else authors[:1]
        families = (_NOT_IN_KEY.sub("", fold(name.partition(",")[0])) for name in names)
        return "".join(_CASES[self.case](family) for family in families) or _CASES[self.case]("anonymous")


def key_style(references: Sequence[Reference]) -> KeyStyle:
    """The style that gives most of the keys of these entries; the usual one where none gives some."""
    sample = [reference for reference in references if reference.authors and reference.year][-_SAMPLE_SIZE:]
    counted = Counter(style for entry in sample for style in _matching_styles(entry))
    best = max(counted.values(), default=0)
    if best < max(_MIN_KEYS, _MIN_SHARE * len(sample)):
        return KeyStyle()
    # Of equal ones the plainest: with fewer parts, and without a second author.
    return min((style for style in counted if counted[style] == best), key=lambda style: (len(style.parts), str(style)))


def _matching_styles(entry: Reference) -> set[KeyStyle]:
    """The styles that give an entry the key it has, but for the letter that tells two of a year apart."""
    styles = set()
    year, word = str(entry.year), _title_word(entry.title)
    for case, two_authors, digits in product(_CASES, (False, True), (4, 2)):
        plain = KeyStyle(("author",), (), case, "lower", digits, two_authors)
        rest = entry.id.removeprefix(plain.key(entry.authors, None, ""))
        if rest == entry.id:
            continue
        for parts, pattern in _RESTS.items():
            shape = pattern.format(year=year[-digits:], word=re.escape(word) or "(?!)")
            if match := re.fullmatch(shape, rest, re.IGNORECASE):
                written = match.groupdict().get("word")
                cases = [name for name, change in _CASES.items() if written == change(word)] if written else ["lower"]
                separators = tuple(match[name] for name in ("first", "second")[: len(parts) - 1])
                styles |= {KeyStyle(parts, separators, case, word_case, digits, two_authors) for word_case in cases[:1]}
    return styles


class CitationKeys:
    """Gives papers keys that are all different, and different from those that are taken; a paper keeps its own."""

    def __init__(self, references: Sequence[Reference], used_keys: Iterable[str] = ()) -> None:
        self._references = references
        # Programs that sort keys do not tell "Smith2010" from "smith2010".
        self._used_keys = {key.lower() for key in (*(reference.id for reference in references), *used_keys)}
        self._keys_by_paper: dict[str, str] = {}

    @cached_property
    def _style(self) -> KeyStyle:
        return key_style(self._references)

    def key_for(self, paper: Paper) -> str:
        """The key of a paper."""
        if paper.key not in self._keys_by_paper:
            base_key = self._style.key(paper.authors, paper.year, paper.title)
            key = next(key for key in _candidate_keys(base_key) if key.lower() not in self._used_keys)
            self._used_keys.add(key.lower())
            self._keys_by_paper[paper.key] = key
        return self._keys_by_paper[paper.key]


def _candidate_keys(key: str) -> Iterator[str]:
    yield key
    if key[-1].isdigit():
        yield from (key + letter for letter in _LETTERS)
    yield from (f"{key}-{number}" for number in count(2))


def _title_word(title: str) -> str:
    words = _NOT_IN_KEY.split(spell_greek(fold(title)))
    return next((word for word in words if len(word) > 1 and not word.isdigit() and word not in FUNCTION_WORDS), "")
