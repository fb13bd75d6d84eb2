"""From lines to paragraphs: joined across line ends, hyphens, columns and pages, with source positions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.textlines import PdfLine, TextRun
from whycite.text.wordlists import FUNCTION_WORDS, load_word_lists

__all__ = ["PdfText", "Piece", "Vocabulary", "same_paragraph"]


_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WORDS = load_word_lists(__name__)
_COMPOUND_ENDS = _WORDS["compound_ends"]
_COMPOUND_STARTS = _WORDS["compound_starts"]
_HYPHENATED_STARTS = _WORDS["hyphenated_starts"]
_LINKS = frozenset(("and", "or", "to", "versus", "vs."))  # after a suspended hyphen: "pre- and postwar"
_PREFIXES = _WORDS["prefixes"]
_CLOSED = _WORDS["closed"]  # written together although their halves are words too


class Vocabulary:
    """The words inside the lines of a document, which show how divided words are spelled."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for line in lines:
            words = [match[0].lower() for match in _WORD.finditer(line)]
            if line.endswith(("-", "\u2010", "\u00ad")):
                del words[-1:]  # half a word
            for word in words[1:]:  # the first may be the other half
                self._words[word] += 1
                if "-" in word:
                    self._words.update(word.split("-"))

    def is_suspended(self, head: str, tail: str) -> bool:
        """Whether "head-" at a line's end shares the end of a later word: "pre- and postwar"."""
        return tail in _LINKS and not self._words[(head[_last_word_start(head) :] + tail).lower()]

    def keeps_hyphen(self, head: str, tail: str) -> bool:
        """Whether "head-" at a line's end and "tail" on the next are a word with a hyphen."""
        compound, _, stem = head.rpartition("-")
        ending = tail
        if not stem or not ending or not stem[-1].isalpha() or not ending[0].isalpha():
            return True  # "10-fold", "COVID-19"
        ending = _leading_word(ending)
        if tail[len(ending) :].startswith("-") and ending in FUNCTION_WORDS:
            return True  # "part-" "of-speech"
        start = _last_word_start(stem)
        if min(len(stem), len(tail.rstrip(".,;:)]"))) < 2 or stem[:start][-1:].isdigit():
            return True  # "N-terminal", "PBS-T", "IR41a-expressing"
        stem = stem[start:]
        whole, hyphenated = self._words[(stem + ending).lower()], self._words[f"{stem}-{ending}".lower()]
        if whole != hyphenated:
            return hyphenated > whole
        if ending[0].isupper() and not stem.isupper():
            return True  # "Tree-Adjoining"
        if stem.isupper() and len(stem) > 1 and not ending.isupper():
            return True  # "PATB-tokenized"
        stem, ending = stem.lower(), ending.lower()
        if stem + ending in _CLOSED or (stem in _PREFIXES and not compound):
            return False
        if not self._words[ending]:
            is_word = self._words[stem] > 0
            return (is_word and ending in _COMPOUND_ENDS) or (
                len(ending) > 4 and (stem in _HYPHENATED_STARTS or bool(compound and is_word))
            )
        if compound or stem in _COMPOUND_STARTS:
            return True  # "state-of-the-" "art"
        return self._words[stem] > 0 and (ending in _COMPOUND_ENDS or min(len(stem), len(ending)) > 3)


def _leading_word(text: str) -> str:
    match = _WORD.match(text)
    return match[0].partition("-")[0] if match else text


def _last_word_start(text: str) -> int:
    """Where the last word of a text begins."""
    start = len(text)
    while start and text[start - 1].isalpha():
        start -= 1
    return start


Piece = tuple[str, int, int]  # text, and the range of the document's text it stands for
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_RAISED_NUMBERS = re.compile(r"[\d,;–−-]*\d[\d,;–−-]*")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_RAISED_END = re.compile(r"[.!?][)\]”’\"']?[⁰¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹,–]{0,8} $")
_MAX_PIECE_LENGTH = 500  # characters; longer pieces would be copied too often while they grow
_MAX_MARK_GAP = 0.3  # of the type size, before a raised number that belongs to the word before it
_MAX_PARAGRAPH_GAP = 1.6  # pitches of the body, between the baselines of lines of one paragraph
_MAX_SENTENCE_GAP = 1.25  # pitches of the body, if a sentence has ended: a new paragraph is likelier
_MIN_BLANK_AT_BREAK = 1.5  # sizes of the body text, left blank by a last line before a new column or page
_MIN_BLANK_IN_COLUMN = 2.5  # sizes of the body text, left blank by a last line with the next right below it
_MIN_INDENT = 0.6  # of the size of the body text, from the column's edge to a paragraph's first line
_MIN_MOVE = 0.7  # of the size of the body text, from the start of the line above to that of an indented one
_MAX_BULLET_SHIFT = 0.3  # of the size of the body text; a bullet that is further out or in begins an item
_HYPHENS = "-\u2010\u00ad\u2011"
_FINISHED = re.compile(r"[.!?:;]['\")\]”’»]*[⁰¹²³⁴⁵⁶⁷⁸⁹\d]{0,3}$")
_BULLET = re.compile(r"(?:[•●◦▪■○∙·*‣–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s")


@dataclass(slots=True)
class PdfText:
    """Clean text that grows line by line, in pieces with source positions."""

    vocabulary: Vocabulary
    pieces: list[Piece] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece[0] for piece in self.pieces)

    @property
    def finished(self) -> bool:
        """Whether it ends like a sentence."""
        return bool(_FINISHED.search("".join(piece[0] for piece in self.pieces[-3:])[-40:]))

    def add(self, line: PdfLine) -> None:
        """Append a line; a word divided at the end of the last one is joined."""
        for i, run in enumerate(line.runs):
            if i == 0:
                self._join(run, line)
            elif run.spaced and not _clings(run, line.runs[i - 1], line):
                self._append(" ", line.runs[i - 1].end, run.start)
            if i == 0 or run.spaced:
                self._end_after_raised(run)
            self._append_run(run, line)
            if run.hyphen:
                self._append("-", run.end, run.end + 1)

    def add_placeholder(self, word: str, lines: Sequence[PdfLine]) -> None:
        """Append a word that stands for whole lines (a formula)."""
        starts = [run.start for line in lines for run in line.runs]
        ends = [run.end for line in lines for run in line.runs]
        if self.pieces:
            self._append(" ", min(starts), min(starts))
        self._append(word, min(starts), max(ends))

    def end_sentence(self) -> None:
        """End the sentence here."""
        self.breaks.append(self.length)

    def _join(self, run: TextRun, line: PdfLine) -> None:
        """Append what separates the last line from this one: a space, a hyphen or nothing."""
        if not self.pieces:
            return
        piece_text = self.pieces[-1][0]
        if piece_text[-1] in _HYPHENS and (len(piece_text) > 1 or len(self.pieces) > 1):
            head, tail = self._last_word(), _first_word(line)
            if len(head) > 1 and tail and not self.vocabulary.is_suspended(head[:-1], tail):
                if piece_text[-1] == "\u00ad" or not self.vocabulary.keeps_hyphen(head[:-1], tail):
                    self._drop_last()
                return
        if piece_text[-1] in "–—/" and len(self._last_word()) > 1:
            return
        self._append(" ", self.pieces[-1][2], max(run.start, self.pieces[-1][2]))

    def _end_after_raised(self, run: TextRun) -> None:
        """End the sentence if a capital follows "shown.¹ ", where the raised number would hide the stop."""
        if run.text[0].isupper() and self.pieces:
            tail = "".join(piece[0] for piece in self.pieces[-3:])[-12:]
            if _RAISED_END.search(tail):
                self.end_sentence()

    def _last_word(self) -> str:
        tail = ""
        for text, _, _ in reversed(self.pieces):
            tail = text + tail
            if " " in text or len(tail) > 60:
                break
        return tail.rpartition(" ")[2]

    def _drop_last(self) -> None:
        text, start, end = self.pieces.pop()
        self.length -= 1
        if len(text) > 1:
            self.pieces.append((text[:-1], start, end - 1 if end - start == len(text) else end))

    def _append_run(self, run: TextRun, line: PdfLine) -> None:
        if len(run.text) != run.end - run.start:
            self._append(run.text, run.start, run.end)
        elif _is_mark(run, line):
            self._append(run.text.translate(_RAISED), run.start, run.end)
        elif any(c in _LIGATURES for c in run.text):
            for i, c in enumerate(run.text):
                self._append(_LIGATURES.get(c, c), run.start + i, run.start + i + 1)
        else:
            self._append(run.text, run.start, run.end)

    def _append(self, text: str, start: int, end: int) -> None:
        """Append a piece; neighbours that match the source one for one are merged."""
        self.length += len(text)
        if self.pieces:
            piece_text, piece_start, piece_end = self.pieces[-1]
            if (
                piece_end == start
                and len(text) == end - start
                and len(piece_text) == piece_end - piece_start < _MAX_PIECE_LENGTH
            ):
                self.pieces[-1] = (piece_text + text, piece_start, end)
                return
        self.pieces.append((text, start, max(start, end)))


def _is_mark(run: TextRun, line: PdfLine) -> bool:
    """Whether a run is a raised number: a citation, a footnote mark or an exponent."""
    return line.raised(run) and bool(_RAISED_NUMBERS.fullmatch(run.text))


def _clings(run: TextRun, previous: TextRun, line: PdfLine) -> bool:
    """Whether a raised number is so close to the word before it that there is no space between."""
    return _is_mark(run, line) and run.x0 - previous.x1 < _MAX_MARK_GAP * line.size


def _first_word(line: PdfLine) -> str:
    return line.text.partition(" ")[0]


def same_paragraph(previous: PdfLine, line: PdfLine, text: PdfText, body: BodyMeasures, interrupted: bool) -> bool:
    """Whether a line of running text continues the paragraph whose last line is `previous`.

    If a float comes between them (`interrupted`), their distance says nothing.
    """
    ending = text.pieces[-1][0][-1:] if text.pieces else ""
    finished = text.finished
    lower = line.text[:1].islower()
    if ending in _HYPHENS and ending and line.text[:1].isalpha():
        return True
    if not finished and lower:
        return True
    indent = line.x0 - line.column_left
    interrupted = interrupted and previous.x1 > previous.column_right - 4 * body.size
    if interrupted or previous.page != line.page or previous.columns != line.columns or previous.y < line.y:
        if not finished:
            return not _BULLET.match(line.text) and (not text.breaks or text.breaks[-1] < text.length)
        short = previous.x1 < previous.column_right - _MIN_BLANK_AT_BREAK * body.size
        return not short and not _MIN_INDENT * body.size < indent < 4 * body.size and not _BULLET.match(line.text)
    gap = (previous.y - line.y) / body.pitch
    if gap > _MAX_PARAGRAPH_GAP or (gap > _MAX_SENTENCE_GAP and finished):
        return False
    if finished and previous.x1 < previous.column_right - _MIN_BLANK_IN_COLUMN * body.size:
        return False
    if _BULLET.match(line.text) and abs(line.x0 - previous.x0) > _MAX_BULLET_SHIFT * body.size:
        return False
    moved = line.x0 - previous.x0
    return not (finished and _MIN_MOVE * body.size < moved < 5 * body.size)
