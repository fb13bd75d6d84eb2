"""What the walk over a Typst draft writes: paragraphs, notes and captions apart, formulas in their sentence."""

from __future__ import annotations

from typing import Literal

from whycite.documents.latex.mathtext import EQUATION
from whycite.documents.markup.outline import Outline, words_of
from whycite.documents.model import Kind
from whycite.documents.prose import Prose
from whycite.documents.typst.frames import Frame

__all__ = ["Writer"]

Sort = Literal["prose", "caption", "footnote", "cell", "words"]  # words: a heading or a title
_KINDS: dict[Sort, Kind] = {"caption": "caption", "footnote": "footnote", "cell": "table"}


class Writer:
    """Takes text and citations where the walk is; what content is for decides where they go."""

    def __init__(self, silent: bool = False) -> None:
        self.outline = Outline()
        self.title = ""
        self.authors: list[str] = []
        self._prose = Prose()
        self._sort: Sort = "prose"
        self.silent = silent  # nothing is written here
        self._formula: tuple[str, str, int, int] | None = None  # a displayed one that the paragraph begins with
        self._last = ""  # the last sign of the paragraph
        self._saved: list[tuple[Prose, Sort, bool]] = []
        self._queue: list[tuple[Prose, Sort]] = []  # notes and captions wait for the end of the paragraph

    # -- text --------------------------------------------------------------

    def add(self, text: str, file: str, start: int, end: int | None = None) -> None:
        """Append text, as `Prose.add` does."""
        if self.silent or not text:
            return
        if text.isspace():
            self._prose.add(text, file, start, end)
            return
        self._begin(text)
        self._prose.add(text, file, start, end)
        self._last = text.rstrip()[-1]

    def cite(self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int) -> None:
        """Append a citation."""
        if self.silent:
            return
        self._begin(marker)
        self._prose.cite(marker, keys, file, start, end)
        self._last = "]"

    def formula(self, shown: str, file: str, start: int, end: int) -> None:
        """Append a formula; a displayed one that a paragraph begins with may belong to the one before."""
        if shown.strip(" .,;") == EQUATION and not self._prose and not self._formula and not self.silent:
            self._formula = shown, file, start, end
        else:
            self.add(shown, file, start, end)

    def break_sentence(self) -> None:
        self._prose.break_sentence()

    def _begin(self, text: str) -> None:
        formula, self._formula = self._formula, None
        if not self._prose and self._sort == "prose":
            self._prose = self.outline.begin(EQUATION if formula else text)
        if formula:
            self._prose.add(f"{formula[0]} ", *formula[1:])

    # -- blocks ------------------------------------------------------------

    def flush(self) -> None:
        """End the paragraph."""
        if self._sort in ("words", "cell"):
            self._prose.break_sentence()
            return
        prose, self._prose = self._prose, Prose()
        formula, self._formula = self._formula, None
        if self._sort in ("caption", "footnote"):
            self._queue.append((prose, self._sort))
            return
        if prose and not self.outline.in_references:
            self.outline.end(prose, self._last)
        elif formula:
            self.outline.formula(*formula)
        if not self._saved:
            self._release()

    def _release(self) -> None:
        for prose, sort in self._queue:
            self.outline.block(prose, _KINDS[sort])
        self._queue.clear()

    def enter(self, frame: Frame) -> None:
        """Begin content that is for something."""
        if self._sort != "prose" and frame.purpose in ("heading", "title", "abstract", "author", "cell"):
            frame.purpose = "text"
        if frame.purpose in ("heading", "abstract"):
            self.flush()
        if frame.purpose == "abstract":
            self.outline.heading("Abstract", 0)
        elif frame.purpose != "text":
            if self._formula:
                self._begin("")
            self._saved.append((self._prose, self._sort, self.silent))
            self._prose = Prose()
            self._sort = frame.purpose if frame.purpose in ("caption", "footnote", "cell") else "words"
            self.silent = self.silent or frame.purpose == "dropped"

    def leave(self, frame: Frame) -> None:
        """End content that was for something."""
        if frame.purpose in ("caption", "footnote", "abstract"):
            self.flush()
        if frame.purpose == "abstract":
            self.outline.heading("", 0)
        elif frame.purpose != "text":
            prose = self._prose
            words = words_of(prose) if self._sort == "words" else ""
            self._prose, self._sort, self.silent = self._saved.pop()
            if frame.purpose == "cell" and prose.has_citations:
                self._queue.append((prose, "cell"))
            elif frame.purpose == "heading" and not self.silent:
                self.outline.heading(words, frame.level, prose)
            elif frame.purpose == "title" and not self.silent:
                self.title = self.title or words
            elif frame.purpose == "author" and words:
                self.authors.append(words)
