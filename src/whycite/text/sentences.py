"""Sentence splitting for scientific prose: nupunkt with our own words, then what it cannot know."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from whycite.text.abbreviations import ABBREVIATIONS, BEFORE_LOWER, NEVER_LAST, STARTERS
from whycite.text.masking import Span, behind_stop, mask, merged

__all__ = ["split"]

_LONGEST_ASIDE = 400  # a bracket that is closed later than this was not meant as one
_LOOK_BACK, _LOOK_AHEAD = 40, 16
_LONG_TEXT, _SHORTEST_SENTENCE = 20_000, 10  # so long a text with such short sentences is none

_BRACKET = re.compile(r"[()]")

_STARTER = "|".join(word.capitalize() for word in sorted(STARTERS))
# Where nupunkt sees no end: "vitamin C. The", "p < 0.05. p53 was", "found.The cells", "one. (ii) Two".
_MISSED = re.compile(
    rf"""\.(?: (?<=(?<![\w.])[^\W\d_]\.) \s+ (?=(?:{_STARTER})[\s,])
            | (?<=\d\.) \s+ (?=[a-z]{{1,4}}(?:[A-Z]|-?\d))
            | (?<=[a-z)\]°][a-zC)\]]\.) (?=(?:{_STARTER})[\s,])
            | (?<=[a-z]{{3}}\.) \s+ (?=\((?:i{{1,3}}|iv|vi{{0,3}}|ix|x|[a-h]|\d{{1,2}})\)\s) )""",
    re.VERBOSE,
)
_OTHER_SCRIPTS = re.compile(r"[。！？।॥۔؟።]+[”’」』）)]*\s*(?=\S)")
_LABEL = re.compile(r"[(\[]?(?:[A-Z]{0,2}\d|[IVX]+\b|[A-Z]\b(?!\s+[a-z])|\#|[Nn]os?\b)")
_CAPITAL_LABEL = re.compile(rf"{_LABEL.pattern}|[A-Z]\b")
_WORD = re.compile(r"\W")
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_]{1,3}){1,5}")
_LABELLED = frozenset(
    "sec secs tab tabs app appx prop cor def defn algo ex no nos nr art para p pt pts c v ver op cat".split()
)
# A number that stands before what it numbers: "2.1. Methods", "Figure 1. Cells", "(ii). Two".
_NUMBER_ALONE = re.compile(
    r"(?:(?:supplementary |extended data )?(?:fig(?:ure|\.)?|table|box|scheme|chart|appendix|chapter|section|step|"
    r"theorem|lemma|definition|example|remark|proposition|corollary) )?"
    r"\(?(?:[a-z]?\d{1,3}(?:\.\d{1,3}){0,4}[a-z]?|[a-z]|[ivx]{1,6})\)?[.:]",
    re.IGNORECASE,
)
_NUMBER_LAST = re.compile(r"[a-z)\]][.!?] (\d{1,2}\. *)$")


def split(text: str, protected: Sequence[Span] = (), breaks: Sequence[int] = ()) -> list[Span]:
    """The ranges of the sentences of a paragraph, white space left out.

    No sentence ends inside a `protected` range (a citation marker); one ends at every one of the `breaks`.
    """
    marks = merged(protected, len(text))
    cuts = [0, *(at for at in sorted(set(breaks)) if 0 < at < len(text)), len(text)]
    starts: list[int] = []
    for low, high in pairwise(cuts):
        first, last = bisect_right(marks, low, key=_end), bisect_left(marks, high, key=_start)
        inside = [(max(start - low, 0), min(end, high) - low) for start, end in marks[first:last]]
        starts.append(low)
        starts += (low + at for at in _starts(text[low:high], inside))
    spans = (_strip(text, start, end) for start, end in pairwise([*starts, len(text)]))
    return [span for span in spans if span[0] < span[1]]


def _start(span: Span) -> int:
    return span[0]


def _end(span: Span) -> int:
    return span[1]


def _starts(text: str, marks: list[Span]) -> Iterator[int]:
    """Where the sentences after the first begin."""
    behind = behind_stop(text, marks)
    plain = mask(text, marks, behind)
    shifts = [0]
    cut_at = []
    for start, end in behind:
        cut_at.append(start - shifts[-1])
        shifts.append(shifts[-1] + end - start)
    for at in _boundaries(plain):
        place = at + shifts[bisect_left(cut_at, at)]
        mark = bisect_right(marks, place, key=_end)
        if mark == len(marks) or marks[mark][0] >= place:
            yield place


def _boundaries(text: str) -> Iterator[int]:
    """Where sentences begin in plain text, the first left out."""
    if len(text) > _LONG_TEXT and sum(text.count(f"{end} ") for end in ".!?…") * _SHORTEST_SENTENCE > len(text):
        return
    found = {start for start, _ in _tokenizer().span_tokenize(text)}
    found.update(match.end() for match in _MISSED.finditer(text))
    if not text.isascii():
        found.update(match.end() for match in _OTHER_SCRIPTS.finditer(text))
    asides: list[Span] | None = None
    begin = 0
    for at in sorted(found):
        if at <= begin:
            continue
        low = max(begin, at - _LONGEST_ASIDE)
        if text.count("(", low, at) != text.count(")", low, at):
            asides = _asides(text) if asides is None else asides
            aside = bisect_left(asides, at, key=_start)
            if aside and at <= asides[aside - 1][1]:
                continue
        if not _goes_on(text, begin, at):
            begin = _before_number(text, begin, at)
            yield begin


def _before_number(text: str, begin: int, at: int) -> int:
    """Where the sentence at `at` begins with the number in front of it: "Run it. | 2. Stop it"."""
    number = _NUMBER_LAST.search(text, max(begin, at - _LOOK_BACK), at)
    if not number:
        return at
    name = _stem(text[max(begin, at - _LOOK_BACK) : number.start(1)]).lower()
    return at if name in _LABELLED or name in BEFORE_LOWER else number.start(1)


def _asides(text: str) -> list[Span]:
    """The outermost brackets that are closed again soon, from the opening to the closing one."""
    opened: list[int] = []
    pairs: list[Span] = []
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if text[at] == "(":
            opened.append(at)
        elif opened:
            start = opened.pop()
            if at - start <= _LONGEST_ASIDE:
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, at))
    return pairs


def _goes_on(text: str, begin: int, at: int) -> bool:
    """Whether the sentence that began at `begin` does not end before `at`: "Fig. | 3B", "E. | coli", "1. | Run"."""
    before = text[max(begin, at - _LOOK_BACK) : at].rstrip()
    after = text[at : at + _LOOK_AHEAD]
    first = after[:1]
    lower = first.islower()
    if first in ",;:)]}" or (first in "-–—" and after.lstrip("-–— ")[:1].islower()):
        return True
    if not before.endswith("."):
        return lower and before[-1:] in "!?)]”’\"'"
    stem = _stem(before)
    name = stem.lower()
    if name in NEVER_LAST:
        return True
    if lower and (name in BEFORE_LOWER or _DOTTED.fullmatch(stem) or (len(stem) < 3 and stem[:1].isupper())):
        return True
    if first.isupper() and _DOTTED.fullmatch(stem):
        return _first_word(after) not in STARTERS  # "K.C. | Smith"
    if name == "al" and (first in "([" or first.isdigit()):
        return True
    if name in _LABELLED and (_CAPITAL_LABEL if stem[0].isupper() else _LABEL).match(after):
        return True
    return at - begin < _LOOK_BACK and _NUMBER_ALONE.fullmatch(before) is not None


def _first_word(after: str) -> str:
    return _WORD.split(after, maxsplit=1)[0].lower()


def _stem(before: str) -> str:
    """The last word of a text that ends in a full stop, without it."""
    return before.split()[-1].lstrip("([{“‘\"'*")[:-1]


def _strip(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


@cache
def _tokenizer() -> Any:
    # Neither its model nor its own list: they come from law and take "low", "fish" and "found" for abbreviations.
    from nupunkt import PunktParameters, PunktSentenceTokenizer

    words = PunktParameters(abbrev_types=set(ABBREVIATIONS), sent_starters=set(STARTERS))
    return PunktSentenceTokenizer(words, include_common_abbrevs=False)
