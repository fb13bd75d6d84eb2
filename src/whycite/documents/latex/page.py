"""What becomes of the text: paragraphs, notes and headings on their way to the document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from whycite.documents.builder import Builder
from whycite.documents.latex.text import LatexText
from whycite.documents.model import Kind
from whycite.documents.prose import Prose

__all__ = ["Page", "State"]


@dataclass(slots=True)
class State:
    """What text becomes where it stands."""

    prose: Prose = field(default_factory=Prose)
    scrap: bool = False  # in a float or table: only what cites is kept
    captured: bool = False  # in a heading, note or caption: no paragraph ends here


class Page:
    """Takes text in reading order and gives paragraphs to the builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.state = State()
        self.live = False  # behind \begin{document}
        self.formulas = 0  # how many formulas begun by a macro are open
        self._waiting: list[tuple[Prose, Kind]] = []  # notes and captions wait for their paragraph's end
        self._after: bool = False  # behind an abstract, before the next heading
        self._shift = 0
        self._abstract: Prose | None = None

    @property
    def silent(self) -> bool:
        """Whether text is passed over."""
        return (not self.live and not self.state.captured) or self.formulas > 0

    def begin(self) -> None:
        """The text begins; an abstract of the preamble stands first."""
        self.live = True
        if self._abstract is not None:
            self.section("Abstract", 0)
            self._paragraph(self._abstract, "prose")
            self._abstract = None
            self.end_section()

    def keep_abstract(self, prose: Prose) -> None:
        """Keep an abstract that stands in the preamble until the text begins."""
        self._abstract = prose

    def add(self, source: LatexText, start: int, end: int) -> None:
        """Text that stands in the source as it is."""
        if self.silent:
            return
        if source.is_file:
            self.state.prose.add(source.text[start:end], source.file, start)
            return
        for run_start, run_end in source.runs(start, end):
            first, last = source.origin(run_start, run_end)
            exact = source.is_exact(run_start, run_end)
            self.state.prose.add(source.text[run_start:run_end], source.file, first, None if exact else last)

    def put(self, text: str, source: LatexText, start: int, end: int) -> None:
        """Text that stands for a range of the source as a whole."""
        if text and not self.silent:
            self.state.prose.add(text, source.file, *source.origin(start, end))

    def cite(self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int) -> None:
        """A citation that stands at a range of the file."""
        if not self.silent:
            self.state.prose.cite(marker, keys, file, start, end)

    def flush(self) -> None:
        """End the paragraph; inside a note or heading, only the sentence."""
        state = self.state
        if state.captured:
            state.prose.break_sentence()
            return
        prose, state.prose = state.prose, Prose()
        if state.scrap:
            if prose.has_citations:
                self.keep(prose, "table")
            return
        self._paragraph(prose, "prose")
        waiting, self._waiting = self._waiting, []
        for note, kind in waiting:
            self._paragraph(note, kind)

    def capture(self) -> Callable[[], Prose]:
        """Set the text that follows apart; the call that is given back ends that and hands it over."""
        before, self.state = self.state, State(captured=True)

        def done() -> Prose:
            prose, self.state = self.state.prose, before
            return prose

        return done

    def keep(self, prose: Prose, kind: Kind) -> None:
        """Add a note or caption once the paragraph around it has ended."""
        if self.live:
            self._waiting.append((prose, kind))

    def keep_if_cited(self, prose: Prose) -> None:
        """Add what is not part of the text only for the citations it holds."""
        if prose.has_citations:
            self.keep(prose, "footnote")

    def section(self, heading: str, level: int) -> None:
        """What comes next stands under this heading; level 0 is the top, whatever the draft's own levels are."""
        if self.live:
            self.flush()
            self._after = False
            self.builder.section(heading, level + self._shift if level else 0)

    def section_from(self, heading: Prose, level: int) -> None:
        """A heading; one that cites is also kept as a sentence, so that its citations are not lost."""
        self.section(heading.text, level)
        if heading.has_citations and self.live:
            self._paragraph(heading, "heading")

    def end_section(self) -> None:
        """What comes next stands under no heading, until the next one."""
        self.flush()
        self._after = True

    def appendix(self) -> None:
        """All sections from here on stand under one called Appendix."""
        if not self._shift:
            self.section("Appendix", 0)
            self._shift = 1

    def _paragraph(self, prose: Prose, kind: Kind) -> None:
        if not prose:
            return
        if self._after:
            self.builder.section("", 0)
            self._after = False
        self.builder.paragraph(prose, kind)
