"""What readers build a document with: clean text that knows its place in the source, sections, warnings."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from whycite.documents.markers import names_source
from whycite.documents.model import Citation, Document, Reference, Section, Sentence, SentenceKind
from whycite.errors import UserError
from whycite.text.sentences import split_sentences

__all__ = ["Builder", "Prose", "explain", "list_names", "read_part", "unreadable"]


_WHITE = re.compile(r"\s")
_LONG_WHITE = re.compile(r"\s{2,}")
_ANY_WHITE = re.compile(r"\s+")


# Named tuples, because a paper has thousands of these and frozen dataclasses take three times as long to create.
class _SourcePiece(NamedTuple):
    file: str
    start: int  # source range
    end: int
    exact: bool  # one source character for each text character


class _CitationMark(NamedTuple):
    keys: tuple[str, ...]
    text_start: int
    text_end: int
    start: int
    end: int
    textual: bool


class Prose:
    """Grows the clean text of one paragraph; white space is folded as it comes in."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._pieces: list[_SourcePiece] = []
        self._offsets: list[int] = []  # where each piece begins in the clean text
        self._length = 0
        self._spaced = True  # the text so far is empty or ends in white space
        self._breaks: list[int] = []
        self._marks: list[_CitationMark] = []
        self._notes: list[tuple[int, Sequence[Prose]]] = []  # where footnotes are marked, and their paragraphs

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
        """Append `text`. Without `end`, its characters match the source one for one from `start` on.

        With `end`, the text as a whole stands for the source range (an entity, a macro, "EQUATION").
        """
        # The only printable white space is the plain space, so most text needs no folding.
        folded = text.isprintable() and "  " not in text
        if end is not None:
            self._put(text if folded else _ANY_WHITE.sub(" ", text), _SourcePiece(file, start, end, exact=False))
            return
        if folded:
            self._put(text, _SourcePiece(file, start, start + len(text), exact=True))
            return
        offset = 0
        for run in _LONG_WHITE.finditer(text):
            self._put_exact(text[offset : run.start()], file, start + offset)
            self._put(" ", _SourcePiece(file, start + run.start(), start + run.end(), exact=False))
            offset = run.end()
        self._put_exact(text[offset:], file, start + offset)

    def cite(
        self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int, *, textual: bool = False
    ) -> None:
        """Append a citation, shown as `marker`, from the source range."""
        text_start = self._length
        self.add(marker, file, start, end)
        self._marks.append(_CitationMark(keys, text_start, self._length, start, end, textual))

    def attach_notes(self, notes: Sequence[Prose]) -> None:
        """Mark a footnote here; its paragraphs may be added to `notes` later."""
        self._notes.append((self._length, notes))

    def break_sentence(self) -> None:
        """End the sentence here, whatever the text (list items, lines of a poem)."""
        self._breaks.append(self._length)

    def sentences(self, section: int, paragraph: int, kind: SentenceKind) -> Iterator[Sentence]:
        """The sentences of the paragraph, each with its citations and its source range."""
        text = "".join(self._texts)
        protected = [(mark.text_start, mark.text_end) for mark in self._marks]
        marks = iter(self._marks)
        mark = next(marks, None)
        ranges = list(split_sentences(text, protected, self._breaks))
        notes = self._notes_by_sentence([start for start, _ in ranges])
        for index, (start, end) in enumerate(ranges):
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
                citations=tuple(_citation(mark, start, end) for mark in citations),
                kind=kind,
                note_citations=tuple(
                    _citation(mark._replace(text_start=offset, text_end=offset, textual=False), start, end)
                    for offset, note in notes.get(index, ())
                    if note._pieces[0].file == file
                    for mark in note._marks or (note._whole_mark(),)
                ),
            )

    def _whole_mark(self) -> _CitationMark:
        """A note that names a source without an entry, as one citation."""
        return _CitationMark((), 0, self._length, self._pieces[0].start, self._pieces[-1].end, textual=False)

    def _notes_by_sentence(self, starts: Sequence[int]) -> dict[int, list[tuple[int, Prose]]]:
        """The footnotes that cite, with their offsets, by the sentence that the mark is in or follows."""
        notes: dict[int, list[tuple[int, Prose]]] = {}
        for offset, paragraphs in self._notes:
            citing = [(offset, note) for note in paragraphs if note.has_citations or (note and names_source(note.text))]
            notes.setdefault(max(0, bisect_left(starts, offset) - 1), []).extend(citing)
        return notes

    def _put_exact(self, text: str, file: str, start: int) -> None:
        self._put(_WHITE.sub(" ", text), _SourcePiece(file, start, start + len(text), exact=True))

    def _put(self, text: str, piece: _SourcePiece) -> None:
        if self._spaced and text[:1] == " ":
            text = text[1:]
            if piece.exact:
                piece = _SourcePiece(piece.file, piece.start + 1, piece.end, exact=True)
        if not text:
            return
        if self._pieces and piece.file != self._pieces[-1].file:  # a sentence must lie in one file to have a range
            self.break_sentence()
        self._texts.append(text)
        self._pieces.append(piece)
        self._offsets.append(self._length)
        self._length += len(text)
        self._spaced = text[-1] == " "

    def _source(self, start: int, end: int) -> tuple[str, int, int]:
        """The source range of a stretch of clean text, in the file where it begins."""
        first_index, last_index = bisect_right(self._offsets, start) - 1, bisect_right(self._offsets, end - 1) - 1
        file, low, high, exact = self._pieces[first_index]
        if exact:
            low, high = low + start - self._offsets[first_index], min(high, low + end - self._offsets[first_index])
        for index in range(first_index + 1, last_index + 1):
            piece = self._pieces[index]
            if piece.file == file:
                low = min(low, piece.start)
                high = max(high, min(piece.end, piece.start + end - self._offsets[index]) if piece.exact else piece.end)
        return file, low, high


def _citation(mark: _CitationMark, start: int, end: int) -> Citation:
    return Citation(
        keys=mark.keys,
        start=mark.start,
        end=mark.end,
        text_start=min(max(mark.text_start - start, 0), end - start),
        text_end=min(max(mark.text_end - start, 0), end - start),
        textual=mark.textual,
    )


_MAX_NAMES = 10  # missing keys that a warning lists


class Builder:
    """Collects one document; text before the first heading goes into a section without one."""

    def __init__(self, path: str, format: str) -> None:
        self.path = path
        self.format = format
        self.warnings: list[str] = []
        self._messages: set[str] = set()
        self._sections: list[Section] = []
        self._sentences: list[Sentence] = []
        self._paragraphs = 0

    @property
    def sentence_count(self) -> int:
        """The number of sentences so far."""
        return len(self._sentences)

    def section(self, heading: str, level: int = 1) -> None:
        """Begin a section for what comes next."""
        self._sections.append(Section(" ".join(heading.split()), level))

    def paragraph(self, prose: Prose, kind: SentenceKind = "prose") -> None:
        """Add a paragraph to the current section, unless it has no words."""
        if not self._sections:
            self._sections.append(Section("", 1))
        previous_count = len(self._sentences)
        self._sentences += prose.sentences(len(self._sections) - 1, self._paragraphs, kind)
        self._paragraphs += len(self._sentences) > previous_count

    def warn(self, message: str) -> None:
        """Add a warning about what could not be read, unless it is already there."""
        if message not in self._messages:
            self._messages.add(message)
            self.warnings.append(message)

    def document(self, paper: Reference, references: Iterable[Reference] = ()) -> Document:
        """The finished document; citations without a reference become a warning."""
        references = tuple({reference.id: reference for reference in references}.values())
        ids = {reference.id for reference in references}
        missing = dict.fromkeys(
            key for sentence in self._sentences for c in sentence.citations for key in c.keys if key not in ids
        )
        if missing:
            keys = "1 cited key has" if len(missing) == 1 else f"{len(missing)} cited keys have"
            self.warn(f"{keys} no entry in the bibliography: {list_names(list(missing))}")
        unlinked = sum(not c.keys for sentence in self._sentences for c in sentence.citations)
        if unlinked:
            markers = "1 citation marker" if unlinked == 1 else f"{unlinked} citation markers"
            self.warn(f"{markers} could not be linked to a reference")
        return Document(
            path=self.path,
            format=self.format,
            paper=paper,
            sections=tuple(self._sections),
            sentences=tuple(self._sentences),
            references=references,
            warnings=tuple(self.warnings),
        )


def list_names(names: Sequence[str]) -> str:
    """The names for a message: ten at most, then how many more there are."""
    surplus = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {surplus} more" if surplus > 0 else "")


def read_part(path: str, read: Callable[[], Document]) -> Document:
    """One of several documents in a file; if it cannot be read, its warning says why, and the others can be."""
    try:
        return read()
    except MemoryError:  # other documents may have used it up
        raise
    except Exception as error:  # noqa: BLE001 - whatever a reader raises
        return unreadable(path, error)


def unreadable(path: str, reason: Exception | str) -> Document:
    """A document without text whose warning says why."""
    text = explain(reason) if isinstance(reason, Exception) else reason
    return Document(path, "unknown", Reference(id=""), warnings=(text if path in text else f"{path}: {text}",))


def explain(error: Exception) -> str:
    """Why a document could not be read, in words."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "needs more memory than there is; the file is too large or malicious"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"could not be read ({type(error).__name__}: {error})"
