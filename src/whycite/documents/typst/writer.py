"""What is open in a Typst file, and what its content becomes: paragraphs, notes, captions, formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from whycite.documents.builder import Prose
from whycite.documents.markup import EQUATION, DraftOutline, heading_words
from whycite.documents.model import SentenceKind

__all__ = ["Purpose", "TypstFrame", "TypstWriter", "content_purpose"]


Shape = Literal["content", "line", "call", "block", "statement", "control"]
Purpose = Literal["text", "dropped", "caption", "footnote", "heading", "title", "abstract", "author", "cell"]

_FLOATS = ("table", "table.cell", "table.header", "table.footer", "figure")
_PURPOSES: dict[str, Purpose] = {
    "footnote": "footnote",
    "heading": "heading",
    "title": "title",
    "abstract": "abstract",
    "figure.caption": "caption",
    **dict.fromkeys(
        "image raw bibliography cite hide todo comment outline metadata counter state else math.equation mitex mi "
        "pagebreak colbreak h v line rect circle".split(),
        "dropped",
    ),
    **dict.fromkeys(_FLOATS, "cell"),
}
_PROSE_ARGUMENTS = ("", "body")


@dataclass(slots=True)
class TypstFrame:
    """Something open; it inherits `statement` and `in_authors` from what encloses it."""

    shape: Shape
    start: int  # of the "#" or bracket
    name: str = ""  # of the function or the keyword
    argument: str = ""  # the current named argument
    statement: str = ""  # let, set, show, import
    in_authors: bool = False  # in an argument that names authors
    in_float: bool = False  # in a table or figure, of which only what cites is kept
    purpose: Purpose = "text"
    level: int = 1  # of a heading
    brackets: int = 0  # open in the text itself
    strings: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @property
    def is_markup(self) -> bool:
        return self.shape in ("content", "line")

    @property
    def holds_cells(self) -> bool:
        """Whether content in this frame is at most a cell."""
        return self.in_float or self.name in _FLOATS


def content_purpose(name: str, argument: str, statement: str, authors: bool = False) -> Purpose:
    """What a content block is for, by its function, named argument and statement."""
    if statement == "let":
        return "title" if name == "title" else "abstract" if name == "abstract" else "dropped"
    if statement == "set":
        return "title" if name == "document" and argument == "title" else "dropped"
    if statement == "show":
        if authors:
            return "author" if argument in ("", "name") else "dropped"
        return "title" if argument == "title" else "abstract" if argument == "abstract" else "dropped"
    if statement:
        return "dropped"
    if argument == "caption":
        return "caption"
    if argument not in _PROSE_ARGUMENTS:
        return "dropped"
    return _PURPOSES.get(name, "text")


ProseSort = Literal["prose", "caption", "footnote", "cell", "words"]  # words: a heading or a title
_KINDS: dict[ProseSort, SentenceKind] = {"caption": "caption", "footnote": "footnote", "cell": "table"}


class TypstWriter:
    """Takes text and citations during the walk; the purpose of the content decides where they go."""

    def __init__(self, silent: bool = False) -> None:
        self.outline = DraftOutline()
        self.title = ""
        self.authors: list[str] = []
        self._prose = Prose()
        self._sort: ProseSort = "prose"
        self.silent = silent  # write nothing
        self._formula: tuple[str, str, int, int] | None = None  # a displayed one at the start of the paragraph
        self._last_sign = ""  # the last sign of the paragraph
        self._outer_states: list[tuple[Prose, ProseSort, bool]] = []
        self._queue: list[tuple[Prose, ProseSort]] = []  # notes and captions, added after the paragraph

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
        self._last_sign = text.rstrip()[-1]

    def cite(
        self, marker: str, keys: tuple[str, ...], file: str, start: int, end: int, *, textual: bool = False
    ) -> None:
        """Append a citation."""
        if self.silent:
            return
        self._begin(marker)
        self._prose.cite(marker, keys, file, start, end, textual=textual)
        self._last_sign = "]"

    def formula(self, text: str, file: str, start: int, end: int) -> None:
        """Append a formula; a displayed one at the start of a paragraph may belong to the one before."""
        if text.strip(" .,;") == EQUATION and not self._prose and not self._formula and not self.silent:
            self._formula = text, file, start, end
        else:
            self.add(text, file, start, end)

    def break_sentence(self) -> None:
        self._prose.break_sentence()

    def _begin(self, text: str) -> None:
        formula, self._formula = self._formula, None
        if not self._prose and self._sort == "prose":
            self._prose = self.outline.begin_paragraph(EQUATION if formula else text)
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
            if self._sort == "footnote":
                self._outer_states[-1][0].attach_notes([prose])
            return
        if prose and not self.outline.in_references:
            self.outline.end_paragraph(prose, self._last_sign)
        elif formula:
            self.outline.formula(*formula)
        if not self._outer_states:
            self._release()

    def _release(self) -> None:
        for prose, sort in self._queue:
            self.outline.block(prose, _KINDS[sort])
        self._queue.clear()

    def enter(self, frame: TypstFrame) -> None:
        """Begin content with a purpose."""
        if self._sort != "prose" and frame.purpose in ("heading", "title", "abstract", "author", "cell"):
            frame.purpose = "text"
        if frame.purpose in ("heading", "abstract"):
            self.flush()
        if frame.purpose == "abstract":
            self.outline.heading("Abstract", 0)
        elif frame.purpose != "text":
            if self._formula:
                self._begin("")
            self._outer_states.append((self._prose, self._sort, self.silent))
            self._prose = Prose()
            self._sort = frame.purpose if frame.purpose in ("caption", "footnote", "cell") else "words"
            self.silent = self.silent or frame.purpose == "dropped"

    def leave(self, frame: TypstFrame) -> None:
        """End content with a purpose."""
        if frame.purpose in ("caption", "footnote", "abstract"):
            self.flush()
        if frame.purpose == "abstract":
            self.outline.heading("", 0)
        elif frame.purpose != "text":
            prose = self._prose
            words = heading_words(prose) if self._sort == "words" else ""
            self._prose, self._sort, self.silent = self._outer_states.pop()
            if frame.purpose == "cell" and prose.has_citations:
                self._queue.append((prose, "cell"))
            elif frame.purpose == "heading" and not self.silent:
                self.outline.heading(words, frame.level, prose)
            elif frame.purpose == "title" and not self.silent:
                self.title = self.title or words
            elif frame.purpose == "author" and words:
                self.authors.append(words)
