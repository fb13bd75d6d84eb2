"""Citation markers in plain text, linked to the entries of its reference list; `author_year` finds those with names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from whycite.documents.markers.author_year import NameIndex, find_author_year
from whycite.documents.model import Marker, Reference
from whycite.text.wordlists import FUNCTION_WORDS, load_tables

__all__ = ["Marker", "find_markers", "find_reference_list", "names_source", "split_references"]


ListEntry = tuple[str, str, int, int]
_EntryStart = tuple[str, int, int]  # id, start of the label, start of the entry's text

_PATTERNS = load_tables(__name__)
_NUMBER = r"(?:(?:\d{1,2}|[IVXA-Z]{1,5})[.)]?[ \t]+)?"
_HEADING = re.compile(
    rf"^[ \t]*(?:#+[ \t]*)?{_NUMBER}(?:{'|'.join(_PATTERNS['headings'])})[ \t]*[:.]?[ \t]*(?:#+[ \t]*)?\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_SECTION = re.compile(
    rf"^[ \t]*(?:#+[ \t]*)?{_NUMBER}(?:{'|'.join(_PATTERNS['next_sections'])})\b[^\n]{{0,60}}(?<![.,;])$",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKET = re.compile(r"(?:^[ \t]*|(?<=\s))\[(\d{1,4}[a-z]?)\][ \t]*", re.MULTILINE)
_DOTTED = re.compile(r"^[ \t]*\(?(\d{1,4})[.)](?=\s|[^\W\d])[ \t]*", re.MULTILINE)
_BARE = re.compile(r"^[ \t]*(\d{1,4})[ \t]+(?=[^\W\d_a-z])", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*\[([^\[\]\s][^\[\]\n]{0,40})\][ \t]*", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(\S[^\n]*)$", re.MULTILINE)
_WORD = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
# How an entry begins: "Smith, J.", "Smith J,", "van der Berg, A.", "J. Smith and", "World Bank. 2010".
_AUTHOR = re.compile(
    rf"(?:[a-z]{{2,3}}[ \t]){{0,3}}{_WORD}\.?(?:[ \t]{_WORD}\.?){{0,5}}"
    r"(?:[,;]|[ \t](?:and|&)[ \t]|[ \t]\(?(?:19|20)\d\d)"
)
_VENUE = re.compile(rf"(?:{'|'.join(_PATTERNS['venues'])})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|in press|forthcoming|n\.d\.", re.IGNORECASE)
_ENDED = re.compile(r"(?:[.)\]]|\d|https?://\S{1,300}|doi\S{0,300})[ \t\r]*$", re.IGNORECASE)
_MAX_SKIPPED = 4  # numbers that may be missing between two labels
# A list has one entry per line if its lines average more than this, and this share of them has a year.
_LONG_LINE, _DATED_SHARE = 90, 0.8
_MAX_DATED_LINES = 1.5  # of an entry between blank lines, on average; more are several entries
# A list has a hanging indent if the share of lines at the margin is between these.
_MIN_MARGIN_SHARE, _MAX_MARGIN_SHARE = 0.15, 0.7
_ENTRY_END = 320  # characters of a line that are searched for the end of an entry; addresses are long
_HYPHEN = re.compile(r"(?<=[a-z])[-‐]\s*\n\s*(?=[a-z])")


def find_reference_list(text: str) -> tuple[int, int, int] | None:
    """Start of the heading of the reference list, and start and end of its entries; None if there is no list."""
    headings = list(_HEADING.finditer(text))
    starts = [heading.start() for heading in headings]
    lists = []
    for heading, end in zip(headings, [*starts[1:], len(text)], strict=False):
        next_section = _NEXT_SECTION.search(text, heading.end(), end)
        end = next_section.start() if next_section else end
        dates = sum(1 for _ in _YEAR.finditer(text, heading.end(), end))
        lists.append((dates, heading.start(), heading.end(), end))
    # A table of contents has the heading too, and a supplement may have its own list: take the longest.
    return max(lists)[1:] if lists else None


def split_references(text: str) -> list[ListEntry]:
    """The entries of a reference list: id, text on one line, and position.

    The id is the printed number or label; entries without one are called "ref1", "ref2", … in order.
    """
    text_start = len(text) - len(text.lstrip())
    numbered = [list(_counted_labels(text, label)) for label in (_BRACKET, _DOTTED, _BARE)]
    labelled = [(match[1], match.start(), match.end()) for match in _LABEL.finditer(text)]
    for starts in sorted([*numbered, labelled], key=len, reverse=True):
        if starts and starts[0][1] <= text_start:
            return list(_entries(text, starts))
    starts = [(f"ref{count}", start, start) for count, start in enumerate(_unlabelled(text), 1)]
    return list(_entries(text, starts))


def _counted_labels(text: str, label: re.Pattern[str]) -> Iterator[_EntryStart]:
    """The labels that count up, with at most a few missing."""
    expected = None
    for match in label.finditer(text):
        number = int(match[1].rstrip("abcdefghijklmnopqrstuvwxyz"))
        if expected is None or expected <= number + (not match[1].isdigit()) <= expected + _MAX_SKIPPED:
            expected = number + 1
            yield match[1], match.start(), match.end()


def _entries(text: str, starts: Sequence[_EntryStart]) -> Iterator[ListEntry]:
    ends = [*(start for _, start, _ in starts[1:]), len(text)]
    for (id, start, inner), end in zip(starts, ends, strict=False):
        printed = " ".join(_HYPHEN.sub("", text[inner:end]).split())
        if printed:
            lead = len(text[start:inner]) - len(text[start:inner].lstrip())
            yield id, printed, start + lead, start + len(text[start:end].rstrip())


def _unlabelled(text: str) -> Iterator[int]:
    """Where the entries of a list without labels begin."""
    lines = [(match.start(1), len(match[0]) - len(match[1]), match[1]) for match in _LINE.finditer(text)]
    if not lines:
        return
    if blocks := _blank_separated(text, lines):
        yield from blocks
        return
    dated = sum(bool(_YEAR.search(line)) for _, _, line in lines)
    indents = sorted({indent for _, indent, _ in lines})
    margin = [line for line in lines if line[1] == indents[0]]
    if dated > _DATED_SHARE * len(lines) and sum(len(line) for _, _, line in lines) > _LONG_LINE * len(lines):
        yield from (start for start, _, _ in lines)
    elif len(indents) == 2 and _MIN_MARGIN_SHARE * len(lines) < len(margin) < _MAX_MARGIN_SHARE * len(lines):
        yield from (start for start, _, _ in margin)
    else:
        yield from _by_authors(text, lines)


def _blank_separated(text: str, lines: Sequence[tuple[int, int, str]]) -> list[int]:
    """Where the blocks between blank lines begin, if each of them is one entry."""
    starts = [lines[0][0]]
    for (above, _, words), (start, _, _) in pairwise(lines):
        if text.count("\n", above + len(words), start) > 1:
            starts.append(start)
    dated = sum(bool(_YEAR.search(line)) for _, _, line in lines)
    ends = [*starts[1:], len(text)]
    dated_blocks = sum(bool(_YEAR.search(text, start, end)) for start, end in zip(starts, ends, strict=True))
    is_split = 1 < len(starts) < len(lines) and dated_blocks > _DATED_SHARE * len(starts)
    return starts if is_split and dated < _MAX_DATED_LINES * len(starts) else []


def _by_authors(text: str, lines: Sequence[tuple[int, int, str]]) -> Iterator[int]:
    """An entry begins with a name, after a line that may end an entry, once the last one has had a year."""
    previous, dated = "", True
    end = 0
    for start, _, line in lines:
        blank = text.count("\n", end, start) > 1
        if dated and (not previous or blank or (_ENDED.search(previous[-_ENTRY_END:]) and _begins_entry(line))):
            dated = False
            yield start
        dated = dated or bool(_YEAR.search(line))
        previous, end = line, start + len(line)


def _begins_entry(line: str) -> bool:
    return bool(_AUTHOR.match(line)) and not _VENUE.match(line)


def find_markers(text: str, references: Sequence[Reference]) -> list[Marker]:
    """The citation markers of a text in order.

    Pass the whole text at once, without the reference list: its style is recognised from all of it. Numbers are
    searched for if the ids of the references are numbers. A marker that is certainly a citation, but of nothing in the
    list, has no keys.
    """
    by_name = list(find_author_year(text, NameIndex(references)))
    by_number, weight = _find_numbered(text, [reference.id for reference in references])
    chosen = by_number if weight > sum(bool(marker.keys) for marker in by_name) else by_name
    return _without_overlaps([*chosen, *_find_labels(text, [reference.id for reference in references])])


def _without_overlaps(markers: Sequence[Marker]) -> list[Marker]:
    """The markers in order, without those that begin inside another one."""
    separate_markers: list[Marker] = []
    for marker in sorted(markers, key=lambda marker: (marker.start, -marker.end)):
        if not separate_markers or marker.start >= separate_markers[-1].end:
            separate_markers.append(marker)
    return separate_markers


_CITED_NUMBER = re.compile(r"\d{1,4}[a-z]?")
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


def _find_numbered(text: str, ids: Sequence[str]) -> tuple[list[Marker], float]:
    """The citations by number, in the one style the text uses, and the evidence for that style.

    There are none if the ids are not numbers. Round brackets also contain the numbers of equations, and digits after a
    word are often not citations: these styles must cite a good part of the list, and count less.
    """
    numbers = {id.lstrip("0"): id for id in ids if _CITED_NUMBER.fullmatch(id)}
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


def _find_labels(text: str, ids: Iterable[str]) -> list[Marker]:
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
            if _CITED_NUMBER.fullmatch(part):
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


_NAME = r"[^\W\d_a-z][^\W\d_]*(?:['’.-]{1,2}[^\W\d_]+)*\.?"
_SIGNAL = re.compile(
    r"(?:(?:see|also|compare|cf\.?|e\.g\.|for example|for instance|in|and|vgl\.|siehe|voir)[ ,]+){0,4}", re.I
)
_SAME_SOURCE = re.compile(r"(?:ibid|ibidem|idem|op\. ?cit|loc\. ?cit|ebd|ebenda|a\. ?a\. ?O)\b", re.IGNORECASE)
_NAMES_FIRST = re.compile(
    rf"{_NAME}(?: {_NAME}){{0,4}}(?:,? (?:and|&|und|et) {_NAME}(?: {_NAME}){{0,4}}|,? et al\.)?[,:] "
)
# The year of what is published, with its publisher, issue or pages; or a title cut short, with the page.
_IMPRINT = re.compile(
    r"\([^()]{0,80}(?:1[5-9]|20)\d\d\)|\d+ \((?:1[5-9]|20)\d\d\)"
    r"|\b(?:1[5-9]|20)\d\d\b[^.]{0,40}\b(?:pp?\.|S\.|\d+[-–]\d+)"
)
_PAGE_LAST = re.compile(r", (?:(?:pp?|S|ch|vol|no|f+)\. ?)*(?!(?:1[5-9]|20)\d\d\b)[\divxlc]+(?:[-–]\d+)?(?:ff?)?\.?")
_ADVERB = re.compile(r"\w{3,}ly, ")  # "Interestingly, this was changed (in 2005)"
_MAX_SOURCE_NOTE = 600  # characters


def names_source(note: str) -> bool:
    """Whether a footnote names a source as historians do, in full, cut short ("Cowan, Coffee, 99.") or by "ibid."."""
    text = " ".join(note.split())
    start = text[_SIGNAL.match(text).end() :] if len(text) <= _MAX_SOURCE_NOTE else ""  # type: ignore[union-attr]
    if _SAME_SOURCE.match(start):
        return True
    names = _NAMES_FIRST.match(start)
    if names is None or names[0].split(",")[0].split()[0].lower() in FUNCTION_WORDS:
        return False
    rest = start[names.end() :]
    if _ADVERB.fullmatch(names[0]) and rest[:1].islower():
        return False
    page = _PAGE_LAST.search(rest)
    return _IMPRINT.search(rest) is not None or (page is not None and page.end() == len(rest))
