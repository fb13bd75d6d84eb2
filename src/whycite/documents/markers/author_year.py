"""Author-year citations in plain text: "(Smith et al., 2010; Lee and Kim 2011a,b)", "Smith's (2010)"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whycite.documents.markers.authors import Authors, Token, authors_before, before_space
from whycite.documents.markers.index import Entry, NameIndex, fold
from whycite.documents.markers.marker import Marker

__all__ = ["find_author_year"]

_DATE = re.compile(
    r"(?<![\w-])(?:(?P<year>(?:1[5-9]|20)\d\d)"
    r"(?P<suffixes>[a-z](?:\s?(?:[,&–-]|and)\s?[b-z](?![\w.]))*)?"
    r"|in press|forthcoming|to appear|in prep(?:aration|\.)|submitted|(?:in|under) review|n\.\s?d\.)"
    r"(?![\w]|[-–]\d)"
)
_ACRONYM = re.compile(r"\[[A-Z][A-Za-z&.-]{1,15}\]$")  # "World Health Organization [WHO], 2015"
_LOCATED = re.compile(
    r"\s?[,:;]\s?(?:pp?\.|pages?|ch\.|chap|chapters?|secs?\.|sect|sections?|§|figs?\.|tab\.|eqs?\.|vol\.)[^()\[\];\n]{1,40}"
)
_CARRIES = re.compile(r"\s?(?:[,;]\s?(?:and|&)?|and|&)\s?")
_NOT_NAMES = frozenset(
    "january february march april may june july august september october november december spring summer "
    "autumn fall winter figure figures fig figs table tables section version release since until year years "
    "chapter volume equation appendix step copyright early late mid accessed retrieved updated".split()
)
_HINTS = frozenset("see also e.g. eg i.e. cf. cf in by but from reviewed review reviews for after and".split())


@dataclass(frozen=True, slots=True)
class _Call:
    """One way to read an author list: who it calls first, and beside whom."""

    start: int
    first: str
    others: tuple[str, ...]
    et_al: bool


def find_author_year(text: str, index: NameIndex) -> Iterator[Marker]:
    """The author-year citations of a text, each author-year pair its own."""
    previous: tuple[int, Sequence[_Call]] | None = None  # where the last date ended, and whose it was
    for date in _DATE.finditer(text):
        year = int(date["year"]) if date["year"] else None
        suffixes = _letters(date["suffixes"] or "")
        gap = _gap(text, date.start())
        authors = authors_before(text, gap, index) if gap < date.start() else None
        if authors:
            calls = list(_calls(text, authors))
            found = _resolve(index, calls, year, suffixes)
            if found:
                call, keys = found
                previous = date.end(), [call]
                yield Marker(keys, call.start, _end(text, gap, date))
            elif (start := _certain(text, authors, gap, date.start())) is not None:
                previous = date.end(), [call for call in calls if call.start >= start]
                yield Marker((), start, _end(text, gap, date))
        elif previous and _CARRIES.fullmatch(text, previous[0], date.start()):
            found = _resolve(index, previous[1], year, suffixes)
            previous = date.end(), previous[1]
            yield Marker(found[1] if found else (), date.start(), date.end())


def _letters(suffixes: str) -> tuple[str, ...]:
    """The letters of "a,b" or "a–c"."""
    if len(suffixes) > 2 and re.search("[–-]", suffixes) and suffixes[0] < suffixes[-1]:
        return tuple(map(chr, range(ord(suffixes[0]), ord(suffixes[-1]) + 1)))
    return tuple(letter for letter in re.sub(r"\band\b", " ", suffixes) if letter.isalpha())


def _gap(text: str, at: int) -> int:
    """Where the author list before a date ends: before ", ", " (", " "."""
    at = before_space(text, at)
    if at and text[at - 1] in "([":
        at = before_space(text, at - 1)
    if at and text[at - 1] == ",":
        at = before_space(text, at - 1)
    if at and text[at - 1] == "]" and (acronym := _ACRONYM.search(text[max(0, at - 20) : at])):
        at = before_space(text, at - len(acronym[0]))
    return at


def _calls(text: str, authors: Authors) -> Iterator[_Call]:
    """The ways to read an author list, from the first of its words on or from a later one."""
    tokens = authors.tokens
    for first, token in enumerate(tokens):
        if token.kind in ("comma", "link"):
            continue
        names = list(_names(text, tokens[first:]))
        # The last of "Smith and Lee" is no author by himself; "see Methods and Lee et al." is another matter.
        alone = len(names) == 1 and not authors.et_al
        if names and not (alone and first and tokens[first - 1].kind == "link"):
            yield _Call(token.start, names[0], tuple(names[1:]), authors.et_al)
        if len(names) > 1:  # an organisation with "and" in its name
            yield _Call(token.start, fold(text[token.start : tokens[-1].end]), (), authors.et_al)


def _names(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    """The folded names between the separators; initials stand in no name."""
    words: list[str] = []
    for token in tokens:
        if token.kind == "name":
            words.append(text[token.start : token.end])
        elif words and token.kind in ("comma", "link"):
            yield fold("".join(words))
            words = []
    if words:
        yield fold("".join(words))


def _resolve(
    index: NameIndex, calls: Sequence[_Call], year: int | None, suffixes: tuple[str, ...]
) -> tuple[_Call, tuple[str, ...]] | None:
    """The best reading of an author list, and the references it means with this date."""
    for each in (year, year + 1, year - 1) if year else (None,):
        best: tuple[int, _Call, list[Entry]] | None = None
        for call in calls:
            if each != year and not (call.et_al or call.others):
                continue  # a preprint and its version of record are a year apart; a single name is too little
            scored = [(score, entry) for entry in index.find(call.first, each) if (score := _fit(call, entry))]
            top = max((score for score, _ in scored), default=0)
            if top > (best[0] if best else 0):
                best = top, call, [entry for score, entry in scored if score == top]
        if best:
            keys = _lettered(best[2], suffixes)
            return (best[1], keys) if keys else None
    return None


def _fit(call: _Call, entry: Entry) -> int:
    """How well a reference fits what the text calls it; 0: not at all."""
    score = 4 + 2 * (entry.families[0] == call.first)
    given = entry.families[1:]
    for name, family in zip(call.others, given, strict=False):
        if name != family and not family.endswith(name) and not name.endswith(family):
            return 0
        score += 1
    if call.et_al:  # of at least two more, as a rule
        return score - 1 + min(2, max(0, len(given) - len(call.others)))
    if len(call.others) > len(given):
        return 0
    return score + 1 - 2 * (len(given) > len(call.others))


def _lettered(entries: Sequence[Entry], suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """The references the letters after the year choose, by the printed letter or else by their order."""
    if not suffixes:
        plain = [entry for entry in entries if not entry.suffix] or entries
        return (plain[0].id,)
    printed = {entry.suffix: entry.id for entry in entries if entry.suffix}
    keys = []
    for letter in suffixes:
        order = ord(letter) - ord("a")
        if letter in printed:
            keys.append(printed[letter])
        elif not printed and order < len(entries):
            keys.append(entries[order].id)
    return tuple(keys) if keys or printed else (entries[0].id,)


def _certain(text: str, authors: Authors, gap: int, date: int) -> int | None:
    """Where a citation of no known reference begins, if it surely is one."""
    tokens = authors.tokens
    narrative = text[gap:date].rstrip().endswith(("(", "["))
    joined = authors.et_al or any(token.kind == "link" for token in tokens)
    names = [text[token.start : token.end] for token in tokens if token.kind == "name"]
    if len(names) > 6 or any(name.lower() in _NOT_NAMES for name in names):
        return None
    if narrative:
        return _last_author(tokens) if authors.et_al else None
    if not (joined or "," in text[gap:date]):
        return None
    at = before_space(text, tokens[0].start)
    while (word := re.search(r"(?<!\w)[a-z.]+,?$", text[max(0, at - 12) : at])) and word[0].rstrip(",") in _HINTS:
        at = before_space(text, at - len(word[0]))
    return tokens[0].start if at and text[at - 1] in "([;" else None


def _last_author(tokens: Sequence[Token]) -> int:
    """Where the name before "et al." begins, with the particles before it."""
    at = len(tokens) - 1
    while at and tokens[at - 1].kind == "name":
        at -= 1
    return tokens[at].start


def _end(text: str, gap: int, date: re.Match[str]) -> int:
    """The end of a citation: with the closing bracket where "Smith (2010, p. 3)" has but date and place in it."""
    closes = {"(": ")", "[": "]"}.get(text[gap : date.start()].rstrip()[-1:], "")
    located = _LOCATED.match(text, date.end()) if closes else None
    end = located.end() if located and text.startswith(closes, located.end()) else date.end()
    return end + bool(closes and text.startswith(closes, end))
