"""Clean text that remembers where in the source each of its characters came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from whycite.documents.model import Citation, Kind, Sentence
from whycite.text.sentences import split

__all__ = ["Prose"]

_WHITE = re.compile(r"\s")
_LONG_WHITE = re.compile(r"\s{2,}")
_ANY_WHITE = re.compile(r"\s+")


# Named tuples: a paper has thousands of these, and a frozen dataclass takes three times as long to make.
class _Piece(NamedTuple):
    file: str
    start: int  # source range
    end: int
    exact: bool  # one source character for each text character


class _Mark(NamedTuple):
    keys: tuple[str, ...]
    text_start: int
    text_end: int
    start: int
    end: int


class Prose:
    """Grows the clean text of one paragraph; white space is folded as it comes in."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._pieces: list[_Piece] = []
        self._at: list[int] = []  # where each piece stands in the clean text
        self._length = 0
        self._spaced = True  # the text so far is empty or ends in white space
        self._breaks: list[int] = []
        self._marks: list[_Mark] = []

    def __bool__(self) -> bool:
        return self._length > 0

    @property
    def has_citations(self) -> bool:
        """Whether anything is cited."""
        return bool(self._marks)

    @property
    def text(self) -> str:
        """The clean text so far."""
        return "".join(self._texts).strip()

    def add(self, text: str, file: str, start: int, end: int | None = None) -> None:
        """Append `text`: without `end` its characters stand one for one in the source from `start` on.

        With `end` the text as a whole stands for the source range (an entity, a macro, "EQUATION").
        """
        # No white space is printable but the plain space: most text needs no folding.
        folded = text.isprintable() and "  " not in text
        if end is not None:
            self._put(text if folded else _ANY_WHITE.sub(" ", text), _Piece(file, start, end, exact=False))
            return
        if folded:
            self._put(text, _Piece(file, start, start + len(text), exact=True))
            return
        at = 0
        for run in _LONG_WHITE.finditer(text):
            self._put_exact(text[at : run.start()], file, start + at)
            self._put(" ", _Piece(file, start + run.start(), start + run.end(), exact=False))
            at = run.end()
        self._put_exact(text[at:], file, start + at)

    def cite(self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int) -> None:
        """Append a citation, shown as `marker`, that stands at the source range."""
        text_start = self._length
        self.add(marker, file, start, end)
        self._marks.append(_Mark(keys, text_start, self._length, start, end))

    def break_sentence(self) -> None:
        """End the sentence here whatever the text says (list items, lines of a poem)."""
        self._breaks.append(self._length)

    def sentences(self, section: int, paragraph: int, kind: Kind) -> Iterator[Sentence]:
        """The sentences of the paragraph, each with its citations and its source range."""
        text = "".join(self._texts)
        protected = [(mark.text_start, mark.text_end) for mark in self._marks]
        marks = iter(self._marks)
        mark = next(marks, None)
        for start, end in split(text, protected, self._breaks):
            citations = []
            while mark is not None and mark.text_start < end:
                citations.append(mark)
                mark = next(marks, None)
            if not citations and not any(map(str.isalnum, text[start:end])):
                continue
            file, source_start, source_end = self._source(start, end)
            yield Sentence(
                text=text[start:end],
                section=section,
                paragraph=paragraph,
                file=file,
                start=source_start,
                end=source_end,
                citations=tuple(_within(mark, start, end) for mark in citations),
                kind=kind,
            )

    def _put_exact(self, text: str, file: str, start: int) -> None:
        self._put(_WHITE.sub(" ", text), _Piece(file, start, start + len(text), exact=True))

    def _put(self, text: str, piece: _Piece) -> None:
        if self._spaced and text[:1] == " ":
            text = text[1:]
            if piece.exact:
                piece = _Piece(piece.file, piece.start + 1, piece.end, exact=True)
        if not text:
            return
        if self._pieces and piece.file != self._pieces[-1].file:  # a sentence has one file, or it has no range
            self.break_sentence()
        self._texts.append(text)
        self._pieces.append(piece)
        self._at.append(self._length)
        self._length += len(text)
        self._spaced = text[-1] == " "

    def _source(self, start: int, end: int) -> tuple[str, int, int]:
        """The source range of a piece of clean text, in the file where it begins."""
        first, last = bisect_right(self._at, start) - 1, bisect_right(self._at, end - 1) - 1
        file, low, high, exact = self._pieces[first]
        if exact:
            low, high = low + start - self._at[first], min(high, low + end - self._at[first])
        for index in range(first + 1, last + 1):
            piece = self._pieces[index]
            if piece.file == file:
                low = min(low, piece.start)
                high = max(high, min(piece.end, piece.start + end - self._at[index]) if piece.exact else piece.end)
        return file, low, high


def _within(mark: _Mark, start: int, end: int) -> Citation:
    return Citation(
        keys=mark.keys,
        start=mark.start,
        end=mark.end,
        text_start=min(max(mark.text_start - start, 0), end - start),
        text_end=min(max(mark.text_end - start, 0), end - start),
    )
