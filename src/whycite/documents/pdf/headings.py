"""Section headings: told by number, style, place and well-known words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whycite.documents.pdf.heading_words import KNOWN, REFERENCES, TOP, is_capitals, squeezed
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.numbering import Numbering, numbered

__all__ = ["Heading", "find_headings", "is_reference_heading"]

_LONGEST = 200  # characters
_SHORT = 60
_MOST_LINES = 4
_SOON = 3  # lines after which running text must have begun
_DEEPEST = 6
_SENTENCE_END = re.compile(r"[.!?:]['\")\]”’]*$")
_TWO_SENTENCES = re.compile(r"[a-z\d]\. [A-Z]")


@dataclass(slots=True)
class Heading:
    """The lines of a heading, what it says and how deep it stands."""

    lines: list[Line]
    text: str
    number: str = ""
    level: int = 1

    @property
    def style(self) -> tuple[float, bool, bool, bool]:
        """How it is set; larger and heavier styles compare greater."""
        line = self.lines[0]
        return (round(2 * line.size) / 2, line.bold, is_capitals(self.text), not line.italic)


def is_reference_heading(text: str) -> bool:
    """Whether a line is the heading of a reference list, numbered or not."""
    return len(text) < _SHORT and (squeezed(text) in REFERENCES or squeezed(numbered(text)[1]) in REFERENCES)


def find_headings(lines: Sequence[Line], prose: set[int], body: Measures, alive: Callable[[], None]) -> list[Heading]:
    """The headings among the lines of a document in reading order; their lines get the role "heading".

    `prose` are the ids of lines that are plainly running text.
    """
    roman = sum(numbered(line.text)[0] in _ROMANS and _stands_out(line, body) for line in lines) > 1
    numbering = Numbering(roman)
    found: list[Heading] = []
    i = 0
    while i < len(lines):
        alive()
        look = _look(lines, i, roman, body) if _may_begin(lines[i], prose) else None
        if look is None or not (_says_so(look) or _by_number(look, numbering) or _by_style(look, prose)):
            i += 1
            continue
        heading = Heading(look.lines, look.text, look.number)
        if heading.number:
            heading.level = numbering.level(heading.number)
            numbering.note(heading.number)
        for line in heading.lines:
            line.role = "heading"
        found.append(heading)
        i += len(heading.lines)
    _set_levels(found)
    return found


_ROMANS = frozenset("I II III IV V VI VII VIII IX X XI XII".split())


@dataclass(frozen=True, slots=True)
class _Look:
    """What a line that may be a heading, with those that go on with it, looks like."""

    lines: list[Line]
    text: str
    number: str
    title: str  # without the number
    words: int
    follows: Sequence[Line]
    after_sentence: bool  # the text before it has ended
    larger: bool
    smaller: bool
    bold: bool
    italic: bool  # and what follows is not
    capitals: bool
    centred: bool
    isolated: bool  # white space above
    apart: bool  # and below
    short: bool  # it does not fill its line
    ends: bool  # like a sentence


def _may_begin(line: Line, prose: set[int]) -> bool:
    """Whether a line is worth a look: plain running text is none."""
    plain = not (line.bold or line.italic or line.text[:4].isupper())
    return line.role == "body" and not (plain and id(line) in prose)


def _look(lines: Sequence[Line], i: int, roman: bool, body: Measures) -> _Look | None:
    """The look of the line at `i`; None where nothing that looks like that is a heading."""
    first = lines[i]
    group = [first]
    while len(group) < _MOST_LINES and i + len(group) < len(lines) and _goes_on(group[-1], lines[i + len(group)], body):
        group.append(lines[i + len(group)])
    text = " ".join(line.text for line in group)
    letters = sum(map(str.isalpha, text))
    if len(text) > _LONGEST or letters < 3 or 2 * letters < len(text.replace(" ", "")) or text[-1] in ",;-":
        return None
    if first.gaps and first.gaps[-1] > 2 and first.text.rpartition(" ")[2].isdigit():
        return None  # a line of a table of contents
    above = lines[i - 1] if i else None
    follows = lines[i + len(group) : i + len(group) + _SOON]
    isolated = _gap(above, first, body) > 1.2
    apart = isolated and _gap(group[-1], follows[0] if follows else None, body) > 1.3
    bold = all(_is_bold(line) for line in group) and not body.bold
    capitals = all(_in_capitals(line) for line in group)
    centred = isolated and all(_is_centred(line, body) for line in group)
    larger = first.size >= (1.07 if body.steady else 1.2) * body.size
    tallest = max(run.size for run in first.runs)  # of small capitals only the initials have the full size
    number, title = numbered(text, roman)
    return _Look(
        lines=group,
        text=text,
        number=number,
        title=title,
        words=len(text.split()),
        follows=follows,
        after_sentence=above is None or above.role != "body" or bool(_SENTENCE_END.search(above.text)),
        larger=larger,
        smaller=tallest < (0.78 if bold and (centred or capitals or apart) else 0.93) * body.size,
        bold=bold,
        italic=all(line.italic for line in group) and not (follows and follows[0].italic),
        capitals=capitals,
        centred=centred,
        isolated=isolated,
        apart=apart,
        short=first.x1 < first.right - 1.5 * body.size or len(group) > 1 or larger,
        ends=bool(_SENTENCE_END.search(text)),
    )


def _says_so(look: _Look) -> bool:
    """A line with a well-known heading and nothing else, set apart in any way."""
    if squeezed(look.title) not in KNOWN or len(look.title) > _SHORT:
        return False
    return look.larger or look.bold or look.capitals or (look.isolated and look.short and len(look.lines) == 1)


def _by_number(look: _Look, numbering: Numbering) -> bool:
    """A numbered line that is set like a heading, or else follows on the number of the last one."""
    if not look.number or (look.smaller and not look.bold):
        return False
    if not numbering.allows(look.number, sure=look.bold or look.larger):
        return False
    if look.bold or look.larger or look.capitals or look.centred:
        return look.words <= 25 and not (look.ends and look.words > 12)
    if not look.isolated or look.ends or not look.title[:1].isupper():
        return False
    return (look.italic and look.words <= 25) or (look.short and look.words <= 12 and numbering.is_next(look.number))


def _by_style(look: _Look, prose: set[int]) -> bool:
    """A line without number that is set like a heading and has running text after it."""
    first = look.lines[0]
    if look.number or look.smaller or not look.text[0].isalnum() or look.text[0].islower():
        return False
    if not any(id(line) in prose for line in look.follows) or max(first.gaps, default=0) > 2:
        return False
    asks = look.text[-1] == "?" and (look.bold or look.larger)
    if look.ends and not asks and not (look.bold and look.larger and look.words <= 8):
        return False
    if not look.larger and (look.follows[0].text[:1].islower() or _TWO_SENTENCES.search(look.text)):
        return False
    if look.larger or look.bold:
        crowded = look.bold and look.short and look.words <= 12 and look.after_sentence and not look.ends
        return look.words <= 22 and (look.isolated or crowded)
    flush = first.x0 - first.left < first.size and look.words > 1
    return (
        look.isolated
        and look.short
        and look.words <= 16
        and ((look.capitals and len(look.text) > 5) or (look.italic and (look.centred or flush)))
    )


def _goes_on(above: Line, below: Line, body: Measures) -> bool:
    """Whether a heading goes on in the next line."""
    return (
        below.role == "body"
        and below.page == above.page
        and below.columns == above.columns
        and abs(below.size - above.size) <= 0.03 * above.size
        and _face(below) == _face(above)
        and (any(_face(above)) or above.size >= 1.07 * body.size)
        and 0 < above.y - below.y < 1.5 * above.size
        and "." not in numbered(below.text)[0]
    )


def _face(line: Line) -> tuple[bool, bool, bool]:
    return _is_bold(line), line.italic, _in_capitals(line)


def _is_bold(line: Line) -> bool:
    return sum(len(run.text) for run in line.runs if run.font.bold) >= 0.75 * line.length


def _in_capitals(line: Line) -> bool:
    small = sum(len(run.text) for run in line.runs if run.font.capitals)
    return is_capitals(line.text) or small > 0.6 * line.length


def _stands_out(line: Line, body: Measures) -> bool:
    return _is_bold(line) or line.size >= 1.07 * body.size or _in_capitals(line)


def _is_centred(line: Line, body: Measures) -> bool:
    before, after = line.x0 - line.left, line.right - line.x1
    return before > 2 * body.size and abs(before - after) < 2 * body.size


def _gap(above: Line | None, below: Line | None, body: Measures) -> float:
    """White space between two lines in units of the body's pitch; a new column or page is wide."""
    if above is None or below is None or above.page != below.page or above.y <= below.y:
        return 9.0
    return 2.0 if above.columns != below.columns else (above.y - below.y) / body.pitch


def _set_levels(headings: Sequence[Heading]) -> None:
    """Give headings without a number the level of those set like them, or the next below what is set larger."""
    counts: dict[tuple[float, bool, bool, bool], Counter[int]] = {}
    for heading in headings:
        if heading.number or squeezed(heading.text) in TOP:
            counts.setdefault(heading.style, Counter())[heading.level] += 1 if heading.number else 2
    levels = {style: count.most_common(1)[0][0] for style, count in counts.items()}
    for style in sorted({heading.style for heading in headings} - set(levels), reverse=True):
        larger = [level for other, level in levels.items() if other > style]
        levels[style] = min(max(larger) + 1, _DEEPEST) if larger else 1
    for heading in headings:
        if not heading.number:
            heading.level = 1 if squeezed(heading.text) in TOP else levels[heading.style]
