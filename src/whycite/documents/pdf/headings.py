"""Section headings, recognised by number, style, position and well-known words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.textlines import PdfLine
from whycite.text.wordlists import load_word_lists

__all__ = [
    "KNOWN_HEADINGS",
    "REFERENCE_HEADINGS",
    "TOP_HEADINGS",
    "Numbering",
    "PdfHeading",
    "begins_appendix",
    "find_headings",
    "is_capitals",
    "is_reference_heading",
    "split_number",
    "squeeze",
]


_WORDS = load_word_lists(__name__)
REFERENCE_HEADINGS = _WORDS["references"]
TOP_HEADINGS = REFERENCE_HEADINGS | _WORDS["top"]
KNOWN_HEADINGS = TOP_HEADINGS | _WORDS["known"]
# Limits that tell headings from running text.
_MAX_LENGTH = 200  # characters
_MAX_KNOWN_LENGTH = 60  # characters of a well-known heading
_MAX_LINES = 4
_MAX_LINES_TO_TEXT = 3  # before running text begins
_MAX_LEVEL = 6
_MAX_NUMBERED_WORDS, _MAX_STYLED_WORDS, _MAX_PLAIN_WORDS = 25, 22, 12  # the less a heading stands out, the fewer
_LARGER, _LARGER_IN_SCAN = 1.07, 1.2  # times the size of running text; sizes vary in scans
_MIN_GAP_ABOVE = 1.2  # pitches of the body; lines of one paragraph are closer
_MIN_GAP_BELOW = 1.3  # pitches of the body, if the heading is set apart on both sides
_PAGE_GAP = 9.0  # pitches that the end of a page counts for: more than any limit
_SMALLER = 0.93  # times the size of running text, below which a line is smaller print
_SMALLER_IF_BOLD = 0.78  # the same for a bold line that also stands out in another way: minor headings may be small
_MIN_BLANK_END = 1.5  # sizes of the body text; ragged lines of running text leave less at their end
_MAX_SIZE_CHANGE = 0.03  # of the type size, between the lines of a heading: inaccuracy
_MAX_LINE_STEP = 1.5  # type sizes, between the baselines of a heading's lines
_BOLD_SHARE = 0.75  # of a line's characters; signs and symbols in a bold line may come from another font
_SMALL_CAPITALS_SHARE = 0.6  # of a line's characters; initials and numbers may come from another font
_CAPITALS_SHARE = 0.85  # of the letters; names and units in a line of capitals may have small ones
_SENTENCE_END = re.compile(r"[.!?:]['\")\]”’]*$")
_APPENDIX = re.compile(
    r"(?i:(?:appendi(?:x|ces|ce)|ap[êé]ndices?|annexe?s?|anexos?|anhang|bilag[ao]r?)\b)(?!\s+[a-z])|(?i:suppl)"
)
_TWO_SENTENCES = re.compile(r"[a-z\d]\. [A-Z]")


@dataclass(slots=True)
class PdfHeading:
    """The lines of a heading, its text and its level."""

    lines: list[PdfLine]
    text: str
    number: str = ""
    level: int = 1

    @property
    def style(self) -> tuple[float, bool, bool, bool]:
        """How it is set; larger and heavier styles compare as greater."""
        line = self.lines[0]
        return (round(2 * line.size) / 2, line.bold, is_capitals(self.text), not line.italic)


def is_reference_heading(text: str) -> bool:
    """Whether a line is the heading of a reference list, numbered or not."""
    return len(text) < _MAX_KNOWN_LENGTH and (
        squeeze(text) in REFERENCE_HEADINGS or squeeze(split_number(text)[1]) in REFERENCE_HEADINGS
    )


def begins_appendix(text: str) -> bool:
    """Whether a heading begins an appendix or a supplement, which may follow the reference list."""
    return bool(_APPENDIX.match(text))


def find_headings(
    lines: Sequence[PdfLine], prose: set[int], body: BodyMeasures, alive: Callable[[], None]
) -> list[PdfHeading]:
    """The headings among the lines of a document in reading order; their lines get the role "heading".

    `prose` are the ids of lines that are clearly running text.
    """
    numbers = {split_number(line.text)[0] for line in lines if line.role == "body" and _stands_out(line, body)}
    roman = {"I", "II"} <= numbers
    numbering = Numbering(roman)
    headings: list[PdfHeading] = []
    i = 0
    while i < len(lines):
        alive()
        look = _heading_look(lines, i, roman, body) if _may_begin(lines[i], prose) else None
        if look is None or not (
            _is_well_known(look) or _is_numbered_heading(look, numbering) or _is_styled_heading(look, prose)
        ):
            i += 1
            continue
        heading = PdfHeading(look.lines, look.text, look.number)
        if heading.number:
            heading.level = numbering.level(heading.number)
            numbering.note(heading.number)
        for line in heading.lines:
            line.role = "heading"
        headings.append(heading)
        i += len(heading.lines)
    _set_levels(headings)
    return headings


@dataclass(frozen=True, slots=True)
class _HeadingLook:
    """What a possible heading looks like: a line, with those that continue it."""

    lines: list[PdfLine]
    text: str
    number: str
    title: str  # without the number
    words: int
    next_lines: Sequence[PdfLine]
    after_sentence: bool  # the sentence before it has ended
    larger: bool
    smaller: bool
    bold: bool
    italic: bool  # unlike what follows
    capitals: bool
    centred: bool
    isolated: bool  # white space above it
    apart: bool  # and below it
    short: bool  # does not fill its line
    ends_sentence: bool  # ends like a sentence


def _may_begin(line: PdfLine, prose: set[int]) -> bool:
    """Whether a line may begin a heading: plain running text does not."""
    plain = not (line.bold or line.italic or line.text[:4].isupper())
    return line.role == "body" and not (plain and id(line) in prose)


def _heading_look(lines: Sequence[PdfLine], i: int, roman: bool, body: BodyMeasures) -> _HeadingLook | None:
    """The look of the line at `i`; None if it cannot be a heading."""
    first_line = lines[i]
    group = [first_line]
    while (
        len(group) < _MAX_LINES
        and i + len(group) < len(lines)
        and _continues_heading(group[-1], lines[i + len(group)], body)
    ):
        group.append(lines[i + len(group)])
    text = " ".join(line.text for line in group)
    letters = sum(map(str.isalpha, text))
    if len(text) > _MAX_LENGTH or letters < 3 or 2 * letters < len(text.replace(" ", "")) or text[-1] in ",;-":
        return None
    if first_line.gaps and first_line.gaps[-1] > 2 and first_line.text.rpartition(" ")[2].isdigit():
        return None  # a line in a table of contents
    above = lines[i - 1] if i else None
    next_lines = lines[i + len(group) : i + len(group) + _MAX_LINES_TO_TEXT]
    isolated = _gap(above, first_line, body) > _MIN_GAP_ABOVE
    apart = isolated and _gap(group[-1], next_lines[0] if next_lines else None, body) > _MIN_GAP_BELOW
    bold = all(_is_bold(line) for line in group) and not body.bold
    capitals = all(_in_capitals(line) for line in group)
    centred = isolated and all(_is_centred(line, body) for line in group)
    larger = first_line.size >= (_LARGER if body.steady else _LARGER_IN_SCAN) * body.size
    tallest = max(run.size for run in first_line.runs)  # in small capitals, only initials have the full size
    number, title = split_number(text, roman)
    return _HeadingLook(
        lines=group,
        text=text,
        number=number,
        title=title,
        words=len(text.split()),
        next_lines=next_lines,
        after_sentence=above is None or above.role != "body" or bool(_SENTENCE_END.search(above.text)),
        larger=larger,
        smaller=tallest < (_SMALLER_IF_BOLD if bold and (centred or capitals or apart) else _SMALLER) * body.size,
        bold=bold,
        italic=all(line.italic for line in group) and not (next_lines and next_lines[0].italic),
        capitals=capitals,
        centred=centred,
        isolated=isolated,
        apart=apart,
        short=first_line.x1 < first_line.column_right - _MIN_BLANK_END * body.size or len(group) > 1 or larger,
        ends_sentence=bool(_SENTENCE_END.search(text)),
    )


def _is_well_known(look: _HeadingLook) -> bool:
    """Whether this is exactly a well-known heading, or that of an appendix, set apart in any way."""
    if begins_appendix(look.text) and look.words <= _MAX_PLAIN_WORDS and (look.larger or look.bold or look.capitals):
        return True
    if squeeze(look.title) not in KNOWN_HEADINGS or len(look.title) > _MAX_KNOWN_LENGTH:
        return False
    return look.larger or look.bold or look.capitals or (look.isolated and look.short and len(look.lines) == 1)


def _is_numbered_heading(look: _HeadingLook, numbering: Numbering) -> bool:
    """Whether this is a numbered line that is set like a heading, or continues the numbering."""
    if not look.number or (look.smaller and not look.bold):
        return False
    if not numbering.allows(look.number, sure=look.bold or look.larger):
        return False
    if look.bold or look.larger or look.capitals or look.centred:
        return look.words <= _MAX_NUMBERED_WORDS and not (look.ends_sentence and look.words > _MAX_PLAIN_WORDS)
    if not look.isolated or look.ends_sentence or not look.title[:1].isupper():
        return False
    return (look.italic and look.words <= _MAX_NUMBERED_WORDS) or (
        look.short and look.words <= _MAX_PLAIN_WORDS and numbering.is_next(look.number)
    )


def _is_styled_heading(look: _HeadingLook, prose: set[int]) -> bool:
    """Whether this is a line without a number that is set like a heading and followed by running text."""
    first_line = look.lines[0]
    if look.number or look.smaller or not look.text[0].isalnum() or look.text[0].islower():
        return False
    if not any(id(line) in prose for line in look.next_lines) or max(first_line.gaps, default=0) > 2:
        return False
    is_question = look.text[-1] == "?" and (look.bold or look.larger)
    if look.ends_sentence and not is_question and not (look.bold and look.larger and look.words <= 8):
        return False
    if not look.larger and (look.next_lines[0].text[:1].islower() or _TWO_SENTENCES.search(look.text)):
        return False
    if look.larger or look.bold:
        crowded = (
            look.bold
            and look.short
            and look.words <= _MAX_PLAIN_WORDS
            and look.after_sentence
            and not look.ends_sentence
        )
        return look.words <= _MAX_STYLED_WORDS and (look.isolated or crowded)
    flush = first_line.x0 - first_line.column_left < first_line.size and look.words > 1
    return (
        look.isolated
        and look.short
        and look.words <= 16
        and ((look.capitals and len(look.text) > 5) or (look.italic and (look.centred or flush)))
    )


def _continues_heading(above: PdfLine, below: PdfLine, body: BodyMeasures) -> bool:
    """Whether a heading continues in the next line."""
    return (
        below.role == "body"
        and below.page == above.page
        and below.columns == above.columns
        and abs(below.size - above.size) <= _MAX_SIZE_CHANGE * above.size
        and _face(below) == _face(above)
        and (any(_face(above)) or above.size >= _LARGER * body.size)
        and 0 < above.y - below.y < _MAX_LINE_STEP * above.size
        and "." not in split_number(below.text)[0]
    )


def _face(line: PdfLine) -> tuple[bool, bool, bool]:
    return _is_bold(line), line.italic, _in_capitals(line)


def _is_bold(line: PdfLine) -> bool:
    return sum(len(run.text) for run in line.runs if run.font.bold) >= _BOLD_SHARE * line.length


def _in_capitals(line: PdfLine) -> bool:
    small = sum(len(run.text) for run in line.runs if run.font.capitals)
    return is_capitals(line.text) or small > _SMALL_CAPITALS_SHARE * line.length


def _stands_out(line: PdfLine, body: BodyMeasures) -> bool:
    return _is_bold(line) or line.size >= _LARGER * body.size or _in_capitals(line)


def _is_centred(line: PdfLine, body: BodyMeasures) -> bool:
    left_margin, right_margin = line.x0 - line.column_left, line.column_right - line.x1
    return left_margin > 2 * body.size and abs(left_margin - right_margin) < 2 * body.size


def _gap(above: PdfLine | None, below: PdfLine | None, body: BodyMeasures) -> float:
    """White space between two lines in pitches of the body; a new column or page counts as wide."""
    if above is None or below is None or above.page != below.page or above.y <= below.y:
        return _PAGE_GAP
    return 2.0 if above.columns != below.columns else (above.y - below.y) / body.pitch


def _set_levels(headings: Sequence[PdfHeading]) -> None:
    """Give headings without a number the level of those set alike, or one below the next larger style."""
    counts: dict[tuple[float, bool, bool, bool], Counter[int]] = {}
    for heading in headings:
        if heading.number or squeeze(heading.text) in TOP_HEADINGS:
            counts.setdefault(heading.style, Counter())[heading.level] += 1 if heading.number else 2
    levels = {style: count.most_common(1)[0][0] for style, count in counts.items()}
    for style in sorted({heading.style for heading in headings} - set(levels), reverse=True):
        larger = [level for larger_style, level in levels.items() if larger_style > style]
        levels[style] = min(max(larger) + 1, _MAX_LEVEL) if larger else 1
    for heading in headings:
        if not heading.number:
            heading.level = 1 if squeeze(heading.text) in TOP_HEADINGS else levels[heading.style]


_LETTERS = re.compile(r"[^\W_]+")


def squeeze(text: str) -> str:
    """Only the letters and digits, in lower case."""
    return "".join(_LETTERS.findall(text)).lower()


def is_capitals(text: str) -> bool:
    """Whether a text is set in capitals."""
    if sum(map(str.islower, text[:20])) > 3:
        return False
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 4 and sum(map(str.isupper, letters)) > _CAPITALS_SHARE * len(letters)


_ARABIC = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})(?:[.)]|\s?[|:])?\s+(?=[^\W\d_]|[\"“‘'(\d])")
_ROMAN = re.compile(r"(?P<number>[IVX]{1,5})[.:]?\s+(?=[A-Z])")
_LETTER = re.compile(r"(?P<number>[A-Z](?:\.\d{1,2}){0,3})[.)]?\s+(?=[A-Z])")


def split_number(text: str, roman: bool = True) -> tuple[str, str]:
    """The number at the start of a heading ("" if there is none), and the rest; roman numerals only if `roman`."""
    for pattern in (_ARABIC, _ROMAN, _LETTER) if roman else (_ARABIC, _LETTER):
        if match := pattern.match(text):
            return match["number"], text[match.end() :]
    return "", text


@dataclass(slots=True)
class Numbering:
    """The numbering so far; in a `roman` document "A" is below "II"."""

    roman: bool
    top: int = 0
    letter: str = ""

    def level(self, number: str) -> int:
        """The level of a numbered heading."""
        return 1 + number.count(".") + (self.roman and number[0].isalpha() and not self._is_roman(number))

    def note(self, number: str) -> None:
        """Record the number of a heading."""
        if number.isdigit():
            self.top = int(number)
        elif self._is_roman(number):
            self.letter = ""
        elif number[:1].isalpha():
            self.letter = number[0]

    def allows(self, number: str, sure: bool) -> bool:
        """Whether a number may come next; unless `sure`, only if it is exactly the next."""
        head, _, rest = number.partition(".")
        if head.isalpha():
            ahead = ord(head[0]) - ord(self.letter or "@")
            return self._is_roman(head) or (len(head) == 1 and ahead in ((0, 1, 2) if self.letter else (1,)))
        if rest:
            return self.top <= int(head) <= self.top + 1 or self.top == 0
        return self.top < int(head) <= self.top + (3 if sure else 1)

    def _is_roman(self, number: str) -> bool:
        return self.roman and set(number) <= set("IVX")

    def is_next(self, number: str) -> bool:
        """Whether a number is exactly the next, or below the last."""
        head, _, rest = number.partition(".")
        return head.isdigit() and (int(head) == self.top if rest else int(head) == self.top + 1)
