"""Paragraphs out of lines: joined over line ends, columns and pages, each character with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from whycite.documents.pdf.hyphens import Vocabulary
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.runs import Run

__all__ = ["Piece", "Text", "same_paragraph"]

Piece = tuple[str, int, int]  # text, and the range of the document's text it stands for
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_NUMBERS = re.compile(r"[\d,;–−-]*\d[\d,;–−-]*")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_RAISED_END = re.compile(r"[.!?][)\]”’\"']?[⁰¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹,–]{0,8} $")
_LONGEST = 500  # characters of a piece: longer ones would be copied too often
_HYPHENS = "-\u2010\u00ad\u2011"
_FINISHED = re.compile(r"[.!?:;]['\")\]”’»]*[⁰¹²³⁴⁵⁶⁷⁸⁹\d]{0,3}$")
_BULLET = re.compile(r"(?:[•●◦▪■○∙·*‣–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s")


@dataclass(slots=True)
class Text:
    """Clean text that grows line by line, in pieces that know their place."""

    vocabulary: Vocabulary
    pieces: list[Piece] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(piece[0] for piece in self.pieces)

    @property
    def finished(self) -> bool:
        """Whether it ends like a sentence."""
        return bool(_FINISHED.search("".join(piece[0] for piece in self.pieces[-3:])[-40:]))

    def add(self, line: Line) -> None:
        """Append a line; a word divided at the end of the last one is made whole."""
        for i, run in enumerate(line.runs):
            if i == 0:
                self._join(run, line)
            elif run.spaced and not _clings(run, line.runs[i - 1], line):
                self._put(" ", line.runs[i - 1].end, run.start)
            if i == 0 or run.spaced:
                self._end_after_raised(run)
            self._put_run(run, line)
            if run.hyphen:
                self._put("-", run.end, run.end + 1)

    def stand_for(self, word: str, lines: Sequence[Line]) -> None:
        """Append a word that stands for whole lines (a formula)."""
        starts = [run.start for line in lines for run in line.runs]
        ends = [run.end for line in lines for run in line.runs]
        if self.pieces:
            self._put(" ", min(starts), min(starts))
        self._put(word, min(starts), max(ends))

    def end_sentence(self) -> None:
        """Whatever comes next is another sentence."""
        self.breaks.append(self.length)

    def _join(self, run: Run, line: Line) -> None:
        """What stands between the last line and this one: a space, a hyphen or nothing."""
        if not self.pieces:
            return
        last = self.pieces[-1][0]
        if last[-1] in _HYPHENS and (len(last) > 1 or len(self.pieces) > 1):
            before, after = self._last_word(), _first_word(line)
            if len(before) > 1 and after and not self.vocabulary.is_suspended(before[:-1], after):
                if last[-1] == "\u00ad" or not self.vocabulary.keeps_hyphen(before[:-1], after):
                    self._drop_last()
                return
        if last[-1] in "–—/" and len(self._last_word()) > 1:
            return
        self._put(" ", self.pieces[-1][2], max(run.start, self.pieces[-1][2]))

    def _end_after_raised(self, run: Run) -> None:
        """A capital after "shown.¹ " begins a sentence, which the raised number would hide."""
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

    def _put_run(self, run: Run, line: Line) -> None:
        if len(run.text) != run.end - run.start:
            self._put(run.text, run.start, run.end)
        elif _is_mark(run, line):
            self._put(run.text.translate(_RAISED), run.start, run.end)
        elif any(c in _LIGATURES for c in run.text):
            for i, c in enumerate(run.text):
                self._put(_LIGATURES.get(c, c), run.start + i, run.start + i + 1)
        else:
            self._put(run.text, run.start, run.end)

    def _put(self, text: str, start: int, end: int) -> None:
        """Append a piece; neighbours that stand one for one in the source become one."""
        self.length += len(text)
        if self.pieces:
            last, first, stop = self.pieces[-1]
            if stop == start and len(text) == end - start and len(last) == stop - first < _LONGEST:
                self.pieces[-1] = (last + text, first, end)
                return
        self.pieces.append((text, start, max(start, end)))


def _is_mark(run: Run, line: Line) -> bool:
    """Whether a run is a raised number: a citation, a footnote's mark, a power."""
    return line.raised(run) and bool(_NUMBERS.fullmatch(run.text))


def _clings(run: Run, before: Run, line: Line) -> bool:
    """Whether a raised number stands so near to the word before it that the space between is not meant."""
    return _is_mark(run, line) and run.x0 - before.x1 < 0.3 * line.size


def _first_word(line: Line) -> str:
    return line.text.partition(" ")[0]


def same_paragraph(last: Line, line: Line, text: Text, body: Measures, interrupted: bool) -> bool:
    """Whether a line of running text goes on with the paragraph whose last line is `last`.

    Where a float stands between them (`interrupted`) their distance tells nothing.
    """
    ending = text.pieces[-1][0][-1:] if text.pieces else ""
    finished = text.finished
    lower = line.text[:1].islower()
    if ending in _HYPHENS and ending and line.text[:1].isalpha():
        return True
    if not finished and lower:
        return True
    indent = line.x0 - line.left
    interrupted = interrupted and last.x1 > last.right - 4 * body.size
    if interrupted or last.page != line.page or last.columns != line.columns or last.y < line.y:
        if not finished:
            return not _BULLET.match(line.text) and (not text.breaks or text.breaks[-1] < text.length)
        short = last.x1 < last.right - 1.5 * body.size
        return not short and not 0.6 * body.size < indent < 4 * body.size and not _BULLET.match(line.text)
    gap = (last.y - line.y) / body.pitch
    if gap > 1.6 or (gap > 1.25 and finished):
        return False
    if finished and last.x1 < last.right - 2.5 * body.size:
        return False
    if _BULLET.match(line.text) and abs(line.x0 - last.x0) > 0.3 * body.size:
        return False
    moved = line.x0 - last.x0
    return not (finished and 0.7 * body.size < moved < 5 * body.size)
