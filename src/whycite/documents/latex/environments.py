"""Environments: formulas, floats, tables, lists, abstracts, what is not prose at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.documents.latex import handlers
from whycite.documents.latex.characters import cite_inside
from whycite.documents.latex.commands import (
    ENVIRONMENT_ARGUMENTS,
    FLOATS,
    MATH_ENVIRONMENTS,
    PICTURES,
    TABULARS,
)
from whycite.documents.latex.cursor import Range
from whycite.documents.latex.mathtext import EQUATION, displayed
from whycite.documents.latex.page import State
from whycite.documents.latex.text import VERBATIM

if TYPE_CHECKING:
    from whycite.documents.latex.walker import Walker

__all__ = ["Environments"]

LISTED = frozenset({"thebibliography", "CSLReferences"})  # printed lists of references
ABSTRACTS = frozenset({"abstract", "abstract*", "Abstract", "summary"})
THANKS = frozenset({"acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments", "acks", "ack"})
# Environments inside a sentence; all others end the paragraph before and after them.
INLINE = frozenset("small footnotesize scriptsize normalsize large em itshape bfseries sloppypar".split())
LISTS = frozenset("itemize enumerate description inparaenum compactitem compactenum inparaitem list".split())
_BEGUN = re.compile(r"\\begin\s*\{([^{}\\\n]{1,60})\}")
_DOLLAR = re.compile(r"(?<!\\)\$")
_WORDS = re.compile(r"[^\W\d_]{3}|\\\w*cite")
_LENGTH = re.compile(r"\s*(?:[\d.\\]|[lcrpXm|@!<>{}]+\s*$|#\d)")


@dataclass(slots=True)
class _Open:
    name: str
    state: State | None = None  # what to go back to
    math: bool = False
    section: bool = False


class Environments:
    """The environments that are open, and what beginning and ending each of them means."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self._open: list[_Open] = []
        self._names: dict[str, int] = {}
        self._meanings: dict[str, str] = {}  # environments of the draft's own -> LaTeX's that they stand for

    def begin(self, call: Range) -> None:
        """The `\\begin` of an environment."""
        walker = self.walker
        inside = walker.group()
        if inside is None:
            return
        name = inside.text.strip()
        source, frame = call.source, walker.frame
        close = source.environment_end(name, call.start) if frame.source is source else None
        if close is not None and close >= frame.end:
            close = None
        meaning = self._meanings.get(name, name)
        # Only a macro can end what has no end in the file where it begins.
        endless = close is None and source.is_file and name not in walker.ended_by_macros
        if meaning == "document":
            walker.page.begin()
        elif meaning in VERBATIM or meaning in PICTURES or meaning in LISTED:
            self._pass_over(call, name, close)
        elif endless and (meaning in MATH_ENVIRONMENTS or meaning in FLOATS or meaning in TABULARS):
            walker.warn(source, call.start, f"\\begin{{{name}}} has no \\end")
        elif meaning in MATH_ENVIRONMENTS:
            self._formula(call, name, close)
        elif meaning in FLOATS or meaning in TABULARS:
            self._float(name, meaning)
        elif meaning in ABSTRACTS and not walker.page.live and close is not None:
            walker.capture(Range(source, frame.pos, close), walker.page.keep_abstract)
            frame.pos = close + len(f"\\end{{{name}}}")
        else:
            self._text(name, meaning)

    def end(self, call: Range) -> None:
        """The `\\end` of an environment; one that was never begun is passed over."""
        inside = self.walker.group()
        name = inside.text.strip() if inside else ""
        if name == "document":
            self._end_document()
            return
        if not self._names.get(name):
            if name not in INLINE:
                self.walker.page.flush()
            return
        while self._open:
            last = self._open[-1]
            self._close(call)
            if last.name == name:
                return

    def define(self, name: str, body: str) -> None:
        """An environment of the draft's own: what it means is what its code begins and leaves open."""
        opened = [self._meanings.get(match[1], match[1]) for match in _BEGUN.finditer(body)]
        telling = [known for known in opened if known in MATH_ENVIRONMENTS | FLOATS | ABSTRACTS | THANKS]
        if telling:
            self._meanings[name] = telling[-1]
        elif body.count("\\[") > body.count("\\]") or len(_DOLLAR.findall(body)) % 2:
            self._meanings[name] = "equation"

    def leave_math(self, why: str) -> None:
        """Give up on a formula that was begun by a macro and never ended."""
        while self.walker.page.formulas:
            if self._open[-1].math:
                frame = self.walker.frame
                self.walker.warn(frame.source, max(frame.pos - 1, 0), f"a formula is not ended: {why}")
            self._close(None)

    def leave_floats(self) -> None:
        """A heading ends every figure and table that is still open."""
        while self.walker.page.state.scrap and self._open:
            self._close(None)

    def close_all(self) -> None:
        """The end of the text: everything open ends here."""
        while self._open:
            self._close(None)

    def _push(self, entry: _Open) -> None:
        self._open.append(entry)
        self._names[entry.name] = self._names.get(entry.name, 0) + 1
        self.walker.page.formulas += entry.math

    def _close(self, call: Range | None) -> None:
        entry = self._open.pop()
        walker = self.walker
        self._names[entry.name] -= 1
        walker.page.formulas -= entry.math
        if entry.math:
            if call is not None:
                walker.page.put(f" {EQUATION} ", call.source, call.start, call.end)
            return
        if entry.name not in INLINE:
            walker.page.flush()
        if entry.state is not None:
            walker.page.state = entry.state
        if entry.section:
            walker.page.end_section()

    def _pass_over(self, call: Range, name: str, close: int | None) -> None:
        walker, frame = self.walker, self.walker.frame
        if close is None:
            walker.warn(call.source, call.start, f"\\begin{{{name}}} has no \\end")
            return
        if name in LISTED:
            handlers.read_printed(walker, frame, close)
        elif name.startswith("filecontents"):
            walker.optional()
            target = walker.raw_group()
            if target is not None:
                walker.project.add_file(target.text.strip(), frame.source.text[frame.pos : close])
        frame.pos = close + len(f"\\end{{{name}}}")

    def _formula(self, call: Range, name: str, close: int | None) -> None:
        walker = self.walker
        if close is not None:
            end = close + len(f"\\end{{{name}}}")
            walker.page.put(displayed(call.source.text[call.end : close]), call.source, call.start, end)
            cite_inside(walker, call.source, call.end, close)
            walker.frame.pos = end
        else:
            self._push(_Open(name, math=True))

    def _float(self, name: str, meaning: str) -> None:
        walker = self.walker
        walker.read_arguments(ENVIRONMENT_ARGUMENTS.get(meaning, "o" if meaning in FLOATS else "od"))
        before = walker.page.state
        walker.page.state = State(scrap=True)
        self._push(_Open(name, state=before))

    def _text(self, name: str, meaning: str) -> None:
        walker = self.walker
        if name in ENVIRONMENT_ARGUMENTS:
            walker.read_arguments(ENVIRONMENT_ARGUMENTS[name])
        else:
            self._drop_length()
        if meaning in ABSTRACTS and walker.page.live:
            walker.page.section("Abstract", 0)
        elif meaning in THANKS and walker.page.live:
            walker.page.section("Acknowledgements", 0)
        elif name in LISTS:
            walker.page.state.prose.break_sentence()
        elif name not in INLINE:
            walker.page.flush()
        self._push(_Open(name, section=meaning in ABSTRACTS | THANKS and walker.page.live))
        if name not in ENVIRONMENT_ARGUMENTS:
            self._name_of_theorem()

    def _drop_length(self) -> None:
        """Go over an argument that is a measure or a column specification, not text."""
        frame, at = self.walker.frame, self.walker.frame.pos
        if self.walker.peek() == "{" and (inside := self.walker.group()) and not _LENGTH.match(inside.text):
            frame.pos = at

    def _name_of_theorem(self) -> None:
        """The optional argument of a theorem is text: "[Alexeev, see \\cite{a}]"."""
        walker = self.walker
        name = walker.optional() if walker.peek() == "[" else None
        if name and "=" not in name.text and _WORDS.search(name.text):
            prose = walker.page.state.prose
            walker.read_on(name, prose.break_sentence)

    def _end_document(self) -> None:
        for frame in self.walker.frames:
            frame.pos = frame.end
