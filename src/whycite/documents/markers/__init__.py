"""Citation markers in plain text, linked to the entries of its reference list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from whycite.documents.markers.author_year import NameIndex, find_author_year
from whycite.documents.markers.numbered import find_labels, find_numbered
from whycite.documents.model import Marker, Reference
from whycite.text.wordlists import load_tables

__all__ = ["Marker", "find_markers", "find_reference_list", "split_references"]

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
    dated = sum(bool(_YEAR.search(line)) for _, _, line in lines)
    indents = sorted({indent for _, indent, _ in lines})
    margin = [line for line in lines if line[1] == indents[0]]
    if dated > _DATED_SHARE * len(lines) and sum(len(line) for _, _, line in lines) > _LONG_LINE * len(lines):
        yield from (start for start, _, _ in lines)
    elif len(indents) == 2 and _MIN_MARGIN_SHARE * len(lines) < len(margin) < _MAX_MARGIN_SHARE * len(lines):
        yield from (start for start, _, _ in margin)
    else:
        yield from _by_authors(text, lines)


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
    by_number, weight = find_numbered(text, [reference.id for reference in references])
    chosen = by_number if weight > sum(bool(marker.keys) for marker in by_name) else by_name
    return _without_overlaps([*chosen, *find_labels(text, [reference.id for reference in references])])


def _without_overlaps(markers: Sequence[Marker]) -> list[Marker]:
    """The markers in order, without those that begin inside another one."""
    separate_markers: list[Marker] = []
    for marker in sorted(markers, key=lambda marker: (marker.start, -marker.end)):
        if not separate_markers or marker.start >= separate_markers[-1].end:
            separate_markers.append(marker)
    return separate_markers
