"""Citations by number or label in plain text: "[3, 5-7]", "(12)", "shown.3,4", "[Smith10]"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from whycite.documents.model import Marker

__all__ = ["find_labels", "find_numbered"]

_NUMBER = re.compile(r"\d{1,4}[a-z]?")
_SQUARE = re.compile(r"\[([^\[\]]{1,160})\]")
_ROUND = re.compile(r"\(([^()]{1,160})\)")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹,\s⁻–-]{0,40}(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹])")
# Digits right after a full stop or a word, but not "Fig.3", "0.3" or "Sox2".
_GLUED = re.compile(
    r"(?:(?<=[a-z)\]”\"’][.,;:])|(?<=[)\]”\"’])|(?<=[a-z]{4})|(?<=[A-Za-z]{2})(?=\d+[,–-]\d))"
    r"\d{1,3}(?:[,–-]\d{1,3}){0,20}(?=[\s.,;:)\]]|$)(?!\.\d)"
)
_SPOKEN = re.compile(r"\b[Rr]efs?\.\s?(\d{1,3}(?:\s?(?:[,–-]|and)\s?\d{1,3}){0,20})(?![\w.]\d)")
# A footnote, whose mark in the text is raised like a citation, and that is not the address of an author.
_NOTE = re.compile(
    r"(?:^|\n)[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}\s?(?=[^\W\d_])"
    r"(?![^\n]{0,80}(?:Univers|Depart|Institut|Laborator|School|Cent(?:re|er)|College|Hospital|Facult|Correspond))"
)
_GROUPS = re.compile(r";")  # "[7, p. 3; 9, p. 12]"
_PARTS = re.compile(r"[,&]|\band\b")
_RANGE = re.compile(r"(\d{1,4})\s?[-–—−‐‑]{1,2}\s?(\d{1,4})")
_HINT = re.compile(
    r"(?:see(?: also)?|e\.g\.,?|i\.e\.,?|cf\.?|reviewed (?:in|by)|refs?\.?|references?|in|but|and)\s+", re.I
)
_BEYOND = re.compile(r"[1-9]\d{0,2}")  # not a year
_LOCATOR = re.compile(
    r"(?:pp?|pages?|pags?|ch|chap|chapters?|secs?|sect|sections?|§+|th|thms?|theorems?|lem|lemmas?|defs?|definitions?|props?"
    r"|propositions?|cor|corollary|corollaries|conj|conjectures?|claims?|figs?|figures?|eqn?s?|equations?|tab|tables?"
    r"|app|appendix|ex|exs|examples?|exercises?|problems?|rem|remarks?|vol|parts?|alg|algorithms?|lines?|lectures?"
    r"|notes?)(?![^\W\d_])",
    re.I,
)
_LABELLED = re.compile(
    r"\b(?:eqs?|eqns?|equations?|figs?|figures?|tables?|steps?|cases?|lemma|theorem|panels?|columns?|rows?|chapter"
    r"|sec|section|version)\.?\s?$",
    re.I,
)
_SURE_LABEL = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).{3,}")  # "AS13"; "[A, B]" may be anything
_COUNTED = re.compile(r"(?:^|\n|[:;])\s*(?:(?:and|or)\s)?$")  # before "(2)" in "two ways: (1) by hand; (2) …"
_MEASURED = re.compile(r"(?:\b(?:intervals?|ranges?|between|bounds?|CI)|[=∈⊂≤≥<>×*±]|[=±]\s?[\d.]+%?)[,:]?\s?$", re.I)
_SERIES = re.compile(r"\d+(?:(?:\s?[,;]\s?|[-–])\d+)+")
_INDEXED = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]|\d|[=∈])$")  # "x[1]", "10[2]": an index, not a citation
_UNIT = re.compile(r"(?:^|[\s/(·\d])(?:[a-zµμ]{1,2}|[A-Z][a-z]?)$")  # "cm²", "10²", "Ca²"
_DASH = re.compile(r"\s?[-–—−]\s?")
_BRACKETS = re.compile(r"[\[\]]")
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_MAX_RANGE = 100  # numbers in one range; more is a typing error
_MIN_CITED = 3  # references that a style of bare or round-bracketed numbers must cite
# The share of the list that such a style must cite: more the more often such numbers mean something else.
_RAISED_SHARE, _ROUND_SHARE, _GLUED_SHARE = 0.3, 0.5, 0.6
_DOUBTFUL_WEIGHT = 0.2  # of a citation in a style that often means something else
_FOOTNOTE_WEIGHT = 0.01  # of a raised number in a text with footnotes by number: any other style outweighs it
_CONTEXT = 14  # characters before a number that may show it is not a citation


def find_numbered(text: str, ids: Sequence[str]) -> tuple[list[Marker], float]:
    """The citations by number, in the one style the text uses, and the evidence for that style.

    There are none if the ids are not numbers. Round brackets also contain the numbers of equations, and digits after a
    word are often not citations: these styles must cite a good part of the list, and count less.
    """
    numbers = {id.lstrip("0"): id for id in ids if _NUMBER.fullmatch(id)}
    if len(numbers) <= len(ids) // 2:
        return [], 0
    glued = _raised_markers(text, _GLUED, numbers)
    raised_weight = _FOOTNOTE_WEIGHT if _NOTE.search(text) else 1.0
    styles = [
        (1.0, _join_ranges(text, _bracket_markers(text, _SQUARE, numbers), numbers)),
        (_DOUBTFUL_WEIGHT, _covering(_bracket_markers(text, _ROUND, numbers), numbers, _ROUND_SHARE)),
        (
            raised_weight,
            _add_spoken(text, _covering(_raised_markers(text, _RAISED, numbers), numbers, _RAISED_SHARE), numbers),
        ),
        (_DOUBTFUL_WEIGHT, _add_spoken(text, _covering(glued, numbers, _GLUED_SHARE), numbers)),
    ]
    weighed = [(weight * sum(bool(marker.keys) for marker in markers), markers) for weight, markers in styles]
    weight, chosen = max(weighed, key=lambda style: style[0])
    return (chosen, weight) if weight else ([], 0)


def find_labels(text: str, ids: Iterable[str]) -> list[Marker]:
    """The citations by label: brackets with ids of references, "[Smith10; Lee11]"."""
    labels = {id for id in ids if not id.isdigit()}
    markers = []
    for bracket in _SQUARE.finditer(text) if labels else ():
        whole = bracket[1] in labels  # "[Smith, 1990]" may be a label
        parts = [bracket[1]] if whole else [part.strip() for part in re.split(r"[,;]", bracket[1])]
        keys = tuple(part for part in parts if part in labels)
        sure = bool(_SURE_LABEL.match(parts[0]))  # what follows is a note, whatever it says
        if keys and parts[0] in labels and all(part in labels or sure or _LOCATOR.match(part) for part in parts):
            markers.append(Marker(keys, bracket.start(), bracket.end()))
    return markers


def _bracket_markers(text: str, form: re.Pattern[str], numbers: Mapping[str, str]) -> Iterator[Marker]:
    highest = 2 * max((int(number.rstrip("abcdefghijklmnopqrstuvwxyz")) for number in numbers), default=0)
    for bracket in form.finditer(text):
        context = text[max(0, bracket.start() - _CONTEXT) : bracket.start()]
        if _INDEXED.search(context) or text[bracket.end() : bracket.end() + 1] == "%":
            continue
        if _MEASURED.search(context) and _SERIES.fullmatch(bracket[1]):
            continue
        alone = bracket[1].isdigit()
        if form is _ROUND and alone and (_LABELLED.search(context) or _COUNTED.search(context)):
            continue
        cited = _cited_keys(bracket[1], numbers, highest, locators=form is _SQUARE)
        if cited is None and form is _SQUARE and _BEYOND.fullmatch(bracket[1]):
            cited = ()  # a single number far beyond the list is still a citation
        if cited is not None:
            yield Marker(cited, bracket.start(), bracket.end())


def _cited_keys(content: str, numbers: Mapping[str, str], highest: int, locators: bool) -> tuple[str, ...] | None:
    """The references that the numbers in a bracket mean; None if it contains anything but numbers."""
    content = content.strip()
    while hint := _HINT.match(content):
        content = content[hint.end() :]
    keys: dict[str, None] = {}
    counted = 0
    for group in _GROUPS.split(content):
        located = False  # numbers after a locator belong to it: "[7, Propositions 31, 32]"
        for part in map(str.strip, _PARTS.split(group)):
            if counted and (located or not part or (locators and _LOCATOR.match(part))):
                located = located or bool(part)
                continue
            if _NUMBER.fullmatch(part):
                start = end = part
            elif number_range := _RANGE.fullmatch(part):
                start, end = number_range[1], number_range[2]
            else:
                return None
            if not all(_plausible(number, numbers, highest) for number in (start, end)):
                return None
            counted += 1
            keys.update(dict.fromkeys(_keys_between(start, end, numbers)))
    return tuple(keys) if counted else None


def _plausible(number: str, numbers: Mapping[str, str], highest: int) -> bool:
    return number in numbers or (number.isdigit() and number[0] != "0" and 1 <= int(number) <= highest)


def _keys_between(start: str, end: str, numbers: Mapping[str, str]) -> Iterator[str]:
    if start == end:
        steps: Iterable[str] = [start]
    elif int(start) < int(end) <= int(start) + _MAX_RANGE:
        steps = map(str, range(int(start), int(end) + 1))
    else:
        steps = [start, end]
    return (numbers[number] for number in steps if number in numbers)


def _join_ranges(text: str, markers: Iterable[Marker], numbers: Mapping[str, str]) -> list[Marker]:
    """The markers, with "[3]–[7]" merged into one for the whole range."""
    joined: list[Marker] = []
    for marker in markers:
        previous = joined[-1] if joined else None
        if previous and _DASH.fullmatch(text, previous.end, marker.start):
            ends = _RANGE.search(_BRACKETS.sub("", text[previous.start : marker.end]))
            inner = _keys_between(ends[1], ends[2], numbers) if ends else ()
            keys = dict.fromkeys([*previous.keys, *inner, *marker.keys])
            joined[-1] = Marker(tuple(keys), previous.start, marker.end)
        else:
            joined.append(marker)
    return joined


def _raised_markers(text: str, form: re.Pattern[str], numbers: Mapping[str, str]) -> Iterator[Marker]:
    """Superscript numbers; if a number is not in the list, it is a power, a date or a unit."""
    for match in form.finditer(text):
        number = match[0].translate(_PLAIN)
        keys = _cited_keys(number, numbers, 0, locators=False)
        word = text[max(0, match.start() - 12) : match.start()]
        if keys and not _LABELLED.search(word) and not _UNIT.search(word):
            yield Marker(keys, match.start(), match.end())


def _covering(markers: Iterable[Marker], numbers: Mapping[str, str], share: float) -> list[Marker]:
    """The markers if they cite enough of the list to be the style of the text, else none."""
    markers = list(markers)
    cited = {key for marker in markers for key in marker.keys}
    return markers if cited and len(cited) >= max(share * len(numbers), _MIN_CITED) else []


def _add_spoken(text: str, markers: list[Marker], numbers: Mapping[str, str]) -> list[Marker]:
    """The raised numbers, plus those on the line: "ref. 12", "refs. 3 and 4"."""
    for match in _SPOKEN.finditer(text) if markers else ():
        keys = _cited_keys(match[1], numbers, 0, locators=False)
        if keys:
            markers.append(Marker(keys, match.start(1), match.end(1)))
    return markers
