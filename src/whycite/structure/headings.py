"""Headings normalised for matching: no numbering, case, punctuation or plurals; and split into parts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from whycite.text.lemmas import lemma

__all__ = ["MAX_HEADING", "HeadingPart", "normalise_heading", "split_heading"]

MAX_HEADING = 300  # characters; anything longer is a paragraph that a reader mistook for a heading

_ROMAN = r"(?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{0,3}|I{1,3})"
_WRITTEN = r"(?:one|two|three|four|five|six|seven|eight|nine|ten)"
_NUMBERING = re.compile(
    rf"""(?:
        (?i:chapter|section|part|kapitel|chapitre)\s+(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z]|(?i:{_WRITTEN}))\b
      | [§(\[]?\s?(?:\d+|(?:[A-Z]|{_ROMAN})(?=\.\d))(?:\.\d+)*(?:[a-z](?=[.)])|(?=[A-Z][A-Za-z]{{3}})|(?![\w-]))
      | [(\[]?(?:{_ROMAN}|[A-Z])(?=[.):\]\s])
    )[\s.:)\]–—-]*""",
    re.VERBOSE,
)
_POSSESSIVE = re.compile(r"['’]s\b|['’]")
_AND = re.compile(r"[&+/]")
_BREAK = re.compile(r"[:;.?!()\[\]|–—]|\s-\s")
_WORD = re.compile(r"[^\W_]+|,")
_JOINS = frozenset([",", "and", "und", "et"])
# "The 2 Methods" shows its number only once the article is gone. Rules are stored normalised, so normalising twice
# must change nothing: repeat until stable, at most this often.
_MAX_PASSES = 10
_ARTICLES = frozenset("a an the our this its der die das le la les".split())


@dataclass(frozen=True, slots=True)
class HeadingPart:
    """Words of a heading that belong together; a subtitle comes after a colon, a dash or a full stop."""

    words: tuple[str, ...]
    subtitle: bool


@lru_cache(maxsize=1 << 12)
def normalise_heading(heading: str) -> str:
    """The heading as the dictionary spells it: "2.1 Materials & Methods" is "material and method"."""
    for _ in range(_MAX_PASSES):
        words = _trim([word for word in _words(_strip_numbering(heading)) if word != ","])
        if heading == (heading := " ".join(words)):
            break
    return heading


def split_heading(heading: str) -> list[HeadingPart]:
    """The parts of a heading, separated by "and", a comma, a colon or the like."""
    heading_parts: list[HeadingPart] = []
    for piece in _BREAK.split(_strip_numbering(heading)):
        subtitle = bool(heading_parts)
        heading_parts += [HeadingPart(tuple(words), subtitle) for words in _split(_words(piece))]
    return heading_parts


def _strip_numbering(heading: str) -> str:
    heading = unicodedata.normalize("NFKC", heading[:MAX_HEADING]).strip()
    start = 0
    while numbering := _NUMBERING.match(heading, start):
        start = numbering.end()
    return heading[start:] or heading


def _words(text: str) -> list[str]:
    text = _POSSESSIVE.sub("", _AND.sub(" and ", text.casefold()))
    return [lemma(word) for word in _WORD.findall(text)]


def _split(words: list[str]) -> Iterator[Sequence[str]]:
    part: list[str] = []
    for word in [*words, ","]:
        if word not in _JOINS:
            part.append(word)
        elif part:
            yield _trim(part)
            part = []


def _trim(words: list[str]) -> list[str]:
    """The words without leading articles and without the number of "Experiment 1" or "Appendix B"."""
    start, end = 0, len(words)
    while end - start > 1 and words[start] in _ARTICLES:
        start += 1
    while end - start > 1 and (words[end - 1].isdecimal() or len(words[end - 1]) == 1):
        end -= 1
    return words[start:end]
