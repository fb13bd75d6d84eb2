"""Sentence splitting for scientific prose: nupunkt with our own word lists, corrected where it fails."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from whycite.text.wordlists import load_word_lists

__all__ = [
    "ABBREVIATIONS",
    "BEFORE_LOWER",
    "NEVER_LAST",
    "STARTERS",
    "TextRange",
    "citations_after_stop",
    "mask_citations",
    "merge_ranges",
    "split_sentences",
]


_WORDS = load_word_lists(__name__)
NEVER_LAST = _WORDS["never_last"]

ABBREVIATIONS = NEVER_LAST | _WORDS["may_end"]

BEFORE_LOWER = ABBREVIATIONS | _WORDS["end_before_capital"]  # no sentence ends here if a lower-case word follows

STARTERS = _WORDS["starters"]


TextRange = tuple[int, int]


_MAX_ASIDE = 400  # characters; a parenthesis that closes later was probably not meant as one
_LOOK_BACK, _LOOK_AHEAD = 40, 16  # characters around a boundary: the last word before it, the label after it
# A text this long whose sentences average fewer characters than this is not prose and is not split.
_LONG_TEXT, _SHORTEST_SENTENCE = 20_000, 10

_BRACKET = re.compile(r"[()]")

_STARTER = "|".join(word.capitalize() for word in sorted(STARTERS))
# Sentence ends that nupunkt misses: "vitamin C. The", "p < 0.05. p53 was", "found.The cells", "one. (ii) Two".
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
_LABELS = _WORDS["labels"]
# A number or label in front of what it numbers: "2.1. Methods", "Figure 1. Cells", "(ii). Two".
_NUMBER_ALONE = re.compile(
    r"(?:(?:supplementary |extended data )?(?:fig(?:ure|\.)?|table|box|scheme|chart|appendix|chapter|section|step|"
    r"theorem|lemma|definition|example|remark|proposition|corollary) )?"
    r"\(?(?:[a-z]?\d{1,3}(?:\.\d{1,3}){0,4}[a-z]?|[a-z]|[ivx]{1,6})\)?[.:]",
    re.IGNORECASE,
)
_NUMBER_LAST = re.compile(r"[a-z)\]][.!?] (\d{1,2}\. *)$")


def split_sentences(text: str, protected: Sequence[TextRange] = (), breaks: Sequence[int] = ()) -> list[TextRange]:
    """The ranges of the sentences of a paragraph, without the white space between them.

    No sentence ends inside a `protected` range (a citation marker); one ends at each of the `breaks`.
    """
    marks = merge_ranges(protected, len(text))
    cuts = [0, *(cut for cut in sorted(set(breaks)) if 0 < cut < len(text)), len(text)]
    starts: list[int] = []
    for low, high in pairwise(cuts):
        first_mark, last_mark = bisect_right(marks, low, key=_end), bisect_left(marks, high, key=_start)
        local_marks = [(max(start - low, 0), min(end, high) - low) for start, end in marks[first_mark:last_mark]]
        starts.append(low)
        starts += (low + offset for offset in _starts(text[low:high], local_marks))
    spans = (_strip(text, start, end) for start, end in pairwise([*starts, len(text)]))
    return [span for span in spans if span[0] < span[1]]


def _start(span: TextRange) -> int:
    return span[0]


def _end(span: TextRange) -> int:
    return span[1]


def _starts(text: str, marks: list[TextRange]) -> Iterator[int]:
    """Where sentences begin, except the first."""
    omitted = citations_after_stop(text, marks)
    plain = mask_citations(text, marks, omitted)
    shifts = [0]
    cut_at = []
    for start, end in omitted:
        cut_at.append(start - shifts[-1])
        shifts.append(shifts[-1] + end - start)
    for boundary in _boundaries(plain):
        source_start = boundary + shifts[bisect_left(cut_at, boundary)]
        mark = bisect_right(marks, source_start, key=_end)
        if mark == len(marks) or marks[mark][0] >= source_start:
            yield source_start


def _boundaries(text: str) -> Iterator[int]:
    """Where sentences begin in plain text, except the first."""
    if len(text) > _LONG_TEXT and sum(text.count(f"{end} ") for end in ".!?…") * _SHORTEST_SENTENCE > len(text):
        return
    starts = {start for start, _ in _tokenizer().span_tokenize(text)}
    starts.update(match.end() for match in _MISSED.finditer(text))
    if not text.isascii():
        starts.update(match.end() for match in _OTHER_SCRIPTS.finditer(text))
    asides: list[TextRange] | None = None
    begin = 0
    for start in sorted(starts):
        if start <= begin:
            continue
        low = max(begin, start - _MAX_ASIDE)
        if text.count("(", low, start) != text.count(")", low, start):
            asides = _asides(text) if asides is None else asides
            aside = bisect_left(asides, start, key=_start)
            if aside and start <= asides[aside - 1][1]:
                continue
        if not _continues(text, begin, start):
            begin = _before_number(text, begin, start)
            yield begin


def _before_number(text: str, begin: int, start: int) -> int:
    """Where the sentence at `start` begins, including the number in front of it: "Run it. | 2. Stop it"."""
    number = _NUMBER_LAST.search(text, max(begin, start - _LOOK_BACK), start)
    if not number:
        return start
    name = _stem(text[max(begin, start - _LOOK_BACK) : number.start(1)]).lower()
    return start if name in _LABELS or name in BEFORE_LOWER else number.start(1)


def _asides(text: str) -> list[TextRange]:
    """The outermost parentheses that close soon, each from its opening to its closing one."""
    opened: list[int] = []
    pairs: list[TextRange] = []
    for bracket in _BRACKET.finditer(text):
        position = bracket.start()
        if text[position] == "(":
            opened.append(position)
        elif opened:
            start = opened.pop()
            if position - start <= _MAX_ASIDE:
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, position))
    return pairs


def _continues(text: str, begin: int, start: int) -> bool:
    """Whether the sentence that began at `begin` goes on at `start`: "Fig. | 3B", "E. | coli", "1. | Run"."""
    head = text[max(begin, start - _LOOK_BACK) : start].rstrip()
    tail = text[start : start + _LOOK_AHEAD]
    character = tail[:1]
    lower = character.islower()
    if character in ",;:)]}" or (character in "-–—" and tail.lstrip("-–— ")[:1].islower()):
        return True
    if not head.endswith("."):
        return lower and head[-1:] in "!?)]”’\"'"
    stem = _stem(head)
    name = stem.lower()
    if name in NEVER_LAST:
        return True
    if lower and (name in BEFORE_LOWER or _DOTTED.fullmatch(stem) or (len(stem) < 3 and stem[:1].isupper())):
        return True
    if character.isupper() and _DOTTED.fullmatch(stem):
        return _first_word(tail) not in STARTERS  # "K.C. | Smith"
    if name == "al" and (character in "([" or character.isdigit()):
        return True
    if name in _LABELS and (_CAPITAL_LABEL if stem[0].isupper() else _LABEL).match(tail):
        return True
    return start - begin < _LOOK_BACK and _NUMBER_ALONE.fullmatch(head) is not None


def _first_word(text: str) -> str:
    return _WORD.split(text, maxsplit=1)[0].lower()


def _stem(text: str) -> str:
    """The last word of a text that ends in a full stop, without that stop."""
    return text.split()[-1].lstrip("([{“‘\"'*")[:-1]


def _strip(text: str, start: int, end: int) -> TextRange:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


@cache
def _tokenizer() -> Any:
    # Without its model and its list, which come from legal texts: there "low", "fish" and "found" are abbreviations.
    from nupunkt import PunktParameters, PunktSentenceTokenizer

    words = PunktParameters(abbrev_types=set(ABBREVIATIONS), sent_starters=set(STARTERS))
    return PunktSentenceTokenizer(words, include_common_abbrevs=False)


_MAX_WORD = 400  # characters; a longer "word" is not prose, and nupunkt takes quadratic time on it

_WHITE = re.compile(r"\s")
_ENDERS = re.compile(r"[.!?…:]")
_LONG_WORD = re.compile(rf"\S{{{_MAX_WORD},}}")
_PLACEHOLDER = re.compile(r"\bREF\b")  # our placeholder for a number, not the abbreviation "Ref."
_NUMBERS = re.compile(r"\[\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_POSSESSIVE = re.compile(r"\s['’]s\b")  # of a name that is a citation: "@doe 's bees"
_CITATION_GAP = re.compile(r"[\s,;&–—()\[\]-]{0,4}")  # between citations of one group


def merge_ranges(ranges: Iterable[TextRange], length: int) -> list[TextRange]:
    """The ranges in order, with overlapping ones merged."""
    merged_ranges: list[TextRange] = []
    for start, end in sorted(ranges):
        start, end = max(start, 0), min(end, length)
        if merged_ranges and start < merged_ranges[-1][1]:
            merged_ranges[-1] = (merged_ranges[-1][0], max(merged_ranges[-1][1], end))
        elif start < end:
            merged_ranges.append((start, end))
    return merged_ranges


def citations_after_stop(text: str, marks: list[TextRange]) -> list[TextRange]:
    """Citations placed after the full stop of their sentence: "shown.[3] We", "shown. (Doe, 2010) We"."""
    if "[" in text:
        marks = merge_ranges([*marks, *(number.span() for number in _NUMBERS.finditer(text))], len(text))
    citations: list[TextRange] = []
    index = 0
    while index < len(marks):
        start, end = marks[index]
        index += 1
        while index < len(marks) and _CITATION_GAP.fullmatch(text, end, marks[index][0]):
            end = marks[index][1]
            index += 1
        bracket_start = start
        while bracket_start and start - bracket_start < 4 and text[bracket_start - 1] in "([ ":
            bracket_start -= 1
        opened = "(" in text[bracket_start:start] or "[" in text[bracket_start:start]
        while opened and end < len(text) and text[end] in ")]":
            end += 1
        # A name without brackets begins the next sentence: "Doe (2010) showed".
        if text[start].isalpha() and not opened:
            continue
        if bracket_start and text[bracket_start - 1] in '.!?”"' and _ends_sentence(text, end):
            citations.append((bracket_start, end))
    return citations


def _ends_sentence(text: str, end: int) -> bool:
    """Whether the text ends here, or a word follows that can begin a sentence."""
    if end == len(text):
        return True
    return text[end].isspace() and not text[end + 1 : end + 2].islower() and not _POSSESSIVE.match(text, end)


def mask_citations(text: str, marks: list[TextRange], omitted: list[TextRange]) -> str:
    """The text as nupunkt should see it: no stops inside citations, and those after a full stop removed."""
    if not text.isprintable():
        text = _WHITE.sub(" ", text)
    parts, position = [], 0
    omissions = iter([*omitted, (len(text), len(text))])
    omission = next(omissions)
    for start, end in marks:
        while omission[1] <= start:
            parts.append(text[position : omission[0]])
            position = omission[1]
            omission = next(omissions)
        if end <= omission[0]:
            parts += [text[position:start], _ENDERS.sub(",", text[start:end])]
            position = end
    while omission[0] < len(text):
        parts.append(text[position : omission[0]])
        position = omission[1]
        omission = next(omissions)
    parts.append(text[position:])
    plain = "".join(parts)
    if "REF" in plain:
        plain = _PLACEHOLDER.sub("one", plain)
    if len(plain) > _MAX_WORD and max(map(len, plain.split(" "))) > _MAX_WORD:
        plain = _LONG_WORD.sub(lambda word: _ENDERS.sub(",", word[0]), plain)
    return plain
