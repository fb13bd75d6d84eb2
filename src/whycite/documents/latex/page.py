"""Collects text into paragraphs, notes and headings, and passes them to the builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from whycite.documents.builder import Builder, Prose
from whycite.documents.latex.cursor import LatexText
from whycite.documents.model import SentenceKind

__all__ = ["LatexPage", "LatexState"]


@dataclass(slots=True)
class LatexState:
    """What becomes of the text at the current place."""

    prose: Prose = field(default_factory=Prose)
    in_float: bool = False  # in a float or table, of which only what cites is kept
    is_captured: bool = False  # in a heading, note or caption, where no paragraph ends


class LatexPage:
    """Takes text in reading order and passes paragraphs to the builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.state = LatexState()
        self.in_body = False  # after \begin{document}
        self.formulas = 0  # open formulas that a macro began
        self._pending_notes: list[tuple[Prose, SentenceKind]] = []  # notes and captions, added after their paragraph
        self._after_abstract: bool = False  # between an abstract and the next heading
        self._level_shift = 0
        self._open_marks: list[tuple[str, list[Prose]]] = []  # numbers of footnote marks, and their texts to come
        self._abstract: Prose | None = None

    @property
    def silent(self) -> bool:
        """Whether text is ignored."""
        return (not self.in_body and not self.state.is_captured) or self.formulas > 0

    def begin(self) -> None:
        """Begin the text, with an abstract from the preamble first."""
        self.in_body = True
        if self._abstract is not None:
            self.begin_section("Abstract", 0)
            self._add_paragraph(self._abstract, "prose")
            self._abstract = None
            self.end_section()

    def keep_abstract(self, prose: Prose) -> None:
        """Keep an abstract from the preamble until the text begins."""
        self._abstract = prose

    def add(self, source: LatexText, start: int, end: int) -> None:
        """Add text as it is in the source."""
        if self.silent:
            return
        if source.is_file:
            self.state.prose.add(source.text[start:end], source.file, start)
            return
        for run_start, run_end in source.runs(start, end):
            origin_start, origin_end = source.origin(run_start, run_end)
            exact = source.is_exact(run_start, run_end)
            self.state.prose.add(
                source.text[run_start:run_end], source.file, origin_start, None if exact else origin_end
            )

    def put(self, text: str, source: LatexText, start: int, end: int) -> None:
        """Add text that stands for a range of the source as a whole."""
        if text and not self.silent:
            self.state.prose.add(text, source.file, *source.origin(start, end))

    def cite(
        self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int, *, textual: bool = False
    ) -> None:
        """Add a citation from a range of the file."""
        if not self.silent:
            self.state.prose.cite(marker, keys, file, start, end, textual=textual)

    def flush(self) -> None:
        """End the paragraph; inside a note or heading, only the sentence."""
        state = self.state
        if state.is_captured:
            state.prose.break_sentence()
            return
        prose, state.prose = state.prose, Prose()
        if state.in_float:
            if prose.has_citations:
                self.queue_note(prose, "table")
            return
        self._add_paragraph(prose, "prose")
        pending_notes, self._pending_notes = self._pending_notes, []
        for note, kind in pending_notes:
            self._add_paragraph(note, kind)

    def capture(self) -> Callable[[], Prose]:
        """Collect the following text separately; the returned function ends that and returns the text."""
        outer_state, self.state = self.state, LatexState(is_captured=True)

        def end_capture() -> Prose:
            prose, self.state = self.state.prose, outer_state
            return prose

        return end_capture

    def queue_note(self, prose: Prose, kind: SentenceKind) -> None:
        """Add a note or caption once the paragraph around it has ended."""
        if self.in_body:
            self._pending_notes.append((prose, kind))

    def add_footnote(self, prose: Prose) -> None:
        """Add a footnote that is marked here."""
        self.state.prose.attach_notes([prose])
        self.queue_note(prose, "footnote")

    def mark_footnote(self, number: str) -> None:
        """Mark a footnote whose text comes later in the paragraph."""
        notes: list[Prose] = []
        self._open_marks.append((number, notes))
        self.state.prose.attach_notes(notes)

    def add_footnote_text(self, prose: Prose, number: str) -> None:
        """Add the text of the footnote that was marked earlier with this number, or the next without one."""
        mark = next((mark for mark in self._open_marks if mark[0] == number), None)
        if mark is None:
            self.add_footnote(prose)
            return
        self._open_marks.remove(mark)
        mark[1].append(prose)
        self.queue_note(prose, "footnote")

    def queue_if_citing(self, prose: Prose) -> None:
        """Add something outside the text, but only if it cites."""
        if prose.has_citations:
            self.queue_note(prose, "footnote")

    def begin_section(self, heading: str, level: int) -> None:
        """Begin a section; level 0 is the top, whatever levels the draft uses."""
        if self.in_body:
            self.flush()
            self._after_abstract = False
            self.builder.section(heading, level + self._level_shift if level else 0)

    def add_heading(self, heading: Prose, level: int) -> None:
        """Begin a section; a heading that cites is also kept as a sentence, so that its citations are not lost."""
        self.begin_section(heading.text, level)
        if heading.has_citations and self.in_body:
            self._add_paragraph(heading, "heading")

    def end_section(self) -> None:
        """End the section: what follows has no heading until the next one."""
        self.flush()
        self._after_abstract = True

    def begin_appendix(self) -> None:
        """Put all following sections under one called Appendix."""
        if not self._level_shift:
            self.begin_section("Appendix", 0)
            self._level_shift = 1

    def _add_paragraph(self, prose: Prose, kind: SentenceKind) -> None:
        if not prose:
            return
        if self._after_abstract:
            self.builder.section("", 0)
            self._after_abstract = False
        self.builder.paragraph(prose, kind)
