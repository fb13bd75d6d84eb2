"""Blocks of a document, headings, paragraphs, captions and footnotes, out of lines with roles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whycite.documents.pdf.footnotes import begins_footnote
from whycite.documents.pdf.front import abstract_mark
from whycite.documents.pdf.headings import Heading, is_reference_heading
from whycite.documents.pdf.hyphens import Vocabulary
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures
from whycite.documents.pdf.paragraphs import Text, same_paragraph

__all__ = ["Blocks"]


@dataclass
class Blocks:
    """Turns lines with roles into blocks; what interrupts a paragraph comes after it."""

    vocabulary: Vocabulary
    body: Measures
    alive: Callable[[], None]
    done: list[dict[str, Any]] = field(default_factory=list)
    references: list[Line] = field(default_factory=list)
    _text: Text | None = None
    _last: Line | None = None
    _small: bool = False  # the paragraph is set smaller than the text
    _waiting: tuple[Text, Line] | None = None
    _interrupted: bool = False  # a caption, table or footnote stands after the last line of the paragraph
    _note: tuple[Text, int] | None = None  # the last footnote and its page: it may go on in the next column
    _held: list[dict[str, Any]] = field(default_factory=list)

    def fill(self, lines: Sequence[Line], headings: Sequence[Heading], list_start: Line | None) -> None:
        """Go through all lines of the document in reading order; a reference list may begin without a heading."""
        by_line = {id(heading.lines[0]): heading for heading in headings}
        listing: Heading | None = None  # the heading of the reference list we are in
        aside: list[Line] = []
        formula: list[Line] = []
        page = -1
        for line in lines:
            if line.page != page:
                page = line.page
                self.alive()
            if aside and not _belongs(aside, line):
                self._hold(aside)
                aside = []
            if formula and line.role not in ("formula", "crumb"):
                self._formula(formula)
                formula = []
            heading = by_line.get(id(line))
            if line is list_start:
                self._close()
                listing = Heading([line], "References")
            if heading is not None:
                if listing is None or _ends_list(listing, heading):
                    self._close()
                    listing = heading if is_reference_heading(heading.text) else None
                    self._heading(heading)
                    continue
                for each in heading.lines:
                    each.role = "body"
            if line.role in ("caption", "table", "footnote"):
                aside.append(line)
            elif listing is not None and line.role in ("body", "formula", "heading"):
                self.references.append(line)
            elif line.role == "formula":
                formula.append(line)
            elif line.role == "body":
                self._body(line)
        self._formula(formula)
        self._close()
        self._hold(aside)
        self.done += self._held

    def head(self, text: str, level: int = 1) -> None:
        """Begin a section."""
        self.done.append({"kind": "heading", "level": level, "text": text})

    def _heading(self, heading: Heading) -> None:
        text = Text(self.vocabulary)
        for line in heading.lines:
            text.add(line)
        self.head(text.text, heading.level)

    def _body(self, line: Line) -> None:
        if line.page <= 1 and (mark := abstract_mark(line)):
            self._close()
            self.head("Abstract")
            line = _without_start(line, mark)
            if not line.runs:
                return
        small = self.body.steady and line.size < 0.91 * self.body.size
        if self._text is not None and small != self._small:
            self._change_size(small, self._text)
        self._small = small
        if self._text is not None and self._last is not None:
            if same_paragraph(self._last, line, self._text, self.body, self._interrupted):
                self._text.add(line)
                self._last, self._interrupted = line, False
                return
            self._close()
        self._text = Text(self.vocabulary)
        self._text.add(line)
        self._last, self._interrupted = line, False

    def _change_size(self, small: bool, text: Text) -> None:
        """Small print does not end the paragraph it interrupts, nor go on with it."""
        if small and self._last is not None and not text.finished:
            self._waiting = text, self._last
            self._text = self._last = None
        elif not small and self._waiting is not None:
            self._held.append(_block("prose", text))
            (self._text, self._last), self._waiting = self._waiting, None
        else:
            self._close()

    def _formula(self, lines: list[Line]) -> None:
        if lines and self._text is not None:
            end = lines[-1].text[-1:]
            self._text.stand_for("EQUATION" + (end if end in ".,;" else ""), lines)
            self._last = lines[-1]

    def _hold(self, lines: list[Line]) -> None:
        """Keep a caption, table or footnote until the paragraph it interrupts is whole."""
        if not lines:
            return
        role = lines[0].role
        self._interrupted = True
        if role == "footnote" and self._note is not None and _continues(*self._note, lines[0]):
            for line in lines:
                self._note[0].add(line)
            return
        text = Text(self.vocabulary)
        for line in lines:
            if role == "table":
                text.end_sentence()
            text.add(line)
        if role == "footnote":
            self._note = text, lines[-1].page
        self._held.append(_block(role, text))
        if self._text is None:
            self.done += self._held
            self._held = []

    def _close(self) -> None:
        if self._waiting is not None:
            self.done.append(_block("prose", self._waiting[0]))
            self._waiting = None
        if self._text is not None:
            self.done.append(_block("prose", self._text))
        self.done += self._held
        self._held, self._text, self._last = [], None, None


def _block(kind: str, text: Text) -> dict[str, Any]:
    return {"kind": kind, "pieces": text.pieces, "breaks": text.breaks}


def _belongs(aside: Sequence[Line], line: Line) -> bool:
    """Whether a line goes on with the caption, table or footnote before it."""
    last = aside[-1]
    if line.role != last.role or line.page != last.page or (line.role == "footnote" and begins_footnote(line)):
        return False
    return line.role == "table" or 0 < last.y - line.y < 2.2 * last.size


def _continues(note: Text, page: int, line: Line) -> bool:
    """Whether a line without a mark goes on with a footnote that broke off at the foot of a column."""
    fresh = not line.text[:1].islower() or line.text.startswith(("http", "www."))
    return line.page <= page + 1 and not note.finished and not fresh


def _ends_list(listing: Heading, heading: Heading) -> bool:
    """Whether a heading ends the reference list it stands in."""
    return heading.level <= listing.level and (
        heading.style >= listing.style or bool(heading.number) or heading.text.lower().startswith(("appendix", "suppl"))
    )


def _without_start(line: Line, length: int) -> Line:
    """A line without its first characters."""
    runs = []
    gone = 0
    for run in line.runs:
        gone += run.spaced and bool(gone)
        cut = max(0, min(length - gone, len(run.text)))
        gone += len(run.text)
        if cut < len(run.text):
            run.text, run.start = run.text[cut:], run.start + cut
            runs.append(run)
    return Line(runs, line.page, line.columns, line.left, line.right)
