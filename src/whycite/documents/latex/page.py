"""What is open in a LaTeX draft, and what its text becomes: environments, paragraphs, notes, headings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whycite.documents.builder import Builder, Prose
from whycite.documents.latex import handlers
from whycite.documents.latex.commands import (
    ENVIRONMENT_ARGUMENTS,
    FLOATS,
    MATH_ENVIRONMENTS,
    PICTURES,
    TABULARS,
    VERBATIM,
)
from whycite.documents.latex.cursor import LatexRange, LatexText
from whycite.documents.latex.formulas import cite_in_formula, display_text
from whycite.documents.markup import EQUATION
from whycite.documents.model import SentenceKind

if TYPE_CHECKING:
    from whycite.documents.latex.walker import LatexWalker

__all__ = ["Environments", "LatexPage", "LatexState"]


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


REFERENCE_LISTS = frozenset({"thebibliography", "CSLReferences"})  # printed lists of references
ABSTRACTS = frozenset({"abstract", "abstract*", "Abstract", "summary"})
ACKNOWLEDGEMENTS = frozenset(
    {"acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments", "acks", "ack"}
)
# Environments inside a sentence; all others end the paragraph before and after.
INLINE = frozenset("small footnotesize scriptsize normalsize large em itshape bfseries sloppypar".split())
LISTS = frozenset("itemize enumerate description inparaenum compactitem compactenum inparaitem list".split())
_BEGIN_COMMAND = re.compile(r"\\begin\s*\{([^{}\\\n]{1,60})\}")
# "\minted{c} … \endminted", as definitions of environments around others are often written.
_SHORT_NAMES = "|".join(sorted(name for name in VERBATIM | TABULARS if name.isalpha()))
_SHORT_BEGIN = re.compile(rf"\\({_SHORT_NAMES})(?![A-Za-z@])")
_DOLLAR = re.compile(r"(?<!\\)\$")
_WORDS = re.compile(r"[^\W\d_]{3}|\\\w*cite")
_LENGTH = re.compile(r"\s*(?:[\d.\\]|[lcrpXm|@!<>{}]+\s*$|#\d)")

# What an environment of a draft may stand for.
_DEFINABLE = MATH_ENVIRONMENTS | FLOATS | TABULARS | VERBATIM | ABSTRACTS | ACKNOWLEDGEMENTS


@dataclass(slots=True)
class _OpenEnvironment:
    name: str
    state: LatexState | None = None  # the state to return to
    is_math: bool = False
    is_section: bool = False


class Environments:
    """The open environments, and what beginning and ending each of them means."""

    def __init__(self, walker: LatexWalker) -> None:
        self.walker = walker
        self._open_environments: list[_OpenEnvironment] = []
        self._open_counts: dict[str, int] = {}
        self._meanings: dict[str, str] = {}  # environments the draft defines -> the LaTeX ones they stand for

    def begin(self, call: LatexRange) -> None:
        """The `\\begin` of an environment."""
        walker = self.walker
        argument = walker.group()
        if argument is None:
            return
        name = argument.text.strip()
        source, frame = call.source, walker.frame
        close = source.environment_end(name, call.start) if frame.source is source else None
        if close is not None and close >= frame.end:
            close = None
        meaning = self._meanings.get(name, name)
        # An environment without an end in its file can only be ended by a macro.
        is_unended = close is None and source.is_file and name not in walker.environments_ended_by_macros
        if meaning == "document":
            walker.page.begin()
        elif meaning in VERBATIM or meaning in PICTURES or meaning in REFERENCE_LISTS:
            self._pass_over(call, name, close)
        elif is_unended and (meaning in MATH_ENVIRONMENTS or meaning in FLOATS or meaning in TABULARS):
            walker.warn(source, call.start, f"\\begin{{{name}}} has no matching \\end{{{name}}}")
        elif meaning in MATH_ENVIRONMENTS:
            self._put_formula(call, name, close)
        elif meaning in FLOATS or meaning in TABULARS:
            self._begin_float(name, meaning)
        elif meaning in ABSTRACTS and not walker.page.in_body and close is not None:
            walker.capture(LatexRange(source, frame.pos, close), walker.page.keep_abstract)
            frame.pos = close + len(f"\\end{{{name}}}")
        else:
            self._begin_text(name, meaning)

    def end(self, call: LatexRange) -> None:
        """The `\\end` of an environment; one that was never begun is ignored."""
        argument = self.walker.group()
        name = argument.text.strip() if argument else ""
        if name == "document":
            self._end_document()
            return
        if not self._open_counts.get(name):
            if name not in INLINE:
                self.walker.page.flush()
            return
        while self._open_environments:
            environment = self._open_environments[-1]
            self._close(call)
            if environment.name == name:
                return

    def define(self, name: str, body: str) -> None:
        """An environment the draft defines: it means what its code begins and leaves open."""
        opened_names = [self._meanings.get(match[1], match[1]) for match in _BEGIN_COMMAND.finditer(body)]
        opened_names += [match[1] for match in _SHORT_BEGIN.finditer(body) if f"\\end{match[1]}" not in body]
        # A verbatim environment hides the brace that ends the code, so that its end seems to stand there, too.
        meanings = [
            name for name in opened_names if name in _DEFINABLE and (name in VERBATIM or f"\\end{{{name}}}" not in body)
        ]
        if meanings:
            self._meanings[name] = meanings[-1]
        elif body.count("\\[") > body.count("\\]") or len(_DOLLAR.findall(body)) % 2:
            self._meanings[name] = "equation"

    def leave_math(self, next_part: str) -> None:
        """Give up on a formula that a macro began and that never ended."""
        while self.walker.page.formulas:
            if self._open_environments[-1].is_math:
                frame = self.walker.frame
                self.walker.warn(frame.source, max(frame.pos - 1, 0), f"formula is not closed before {next_part}")
            self._close(None)

    def leave_floats(self) -> None:
        """End every open figure and table, because a heading begins."""
        while self.walker.page.state.in_float and self._open_environments:
            self._close(None)

    def close_all(self) -> None:
        """End everything that is open, at the end of the text."""
        while self._open_environments:
            self._close(None)

    def _push(self, environment: _OpenEnvironment) -> None:
        self._open_environments.append(environment)
        self._open_counts[environment.name] = self._open_counts.get(environment.name, 0) + 1
        self.walker.page.formulas += environment.is_math

    def _close(self, call: LatexRange | None) -> None:
        environment = self._open_environments.pop()
        walker = self.walker
        self._open_counts[environment.name] -= 1
        walker.page.formulas -= environment.is_math
        if environment.is_math:
            if call is not None:
                walker.page.put(f" {EQUATION} ", call.source, call.start, call.end)
            return
        if environment.name not in INLINE:
            walker.page.flush()
        if environment.state is not None:
            walker.page.state = environment.state
        if environment.is_section:
            walker.page.end_section()

    def _pass_over(self, call: LatexRange, name: str, close: int | None) -> None:
        walker, frame = self.walker, self.walker.frame
        if close is None:
            walker.warn(call.source, call.start, f"\\begin{{{name}}} has no matching \\end{{{name}}}")
            return
        if name in REFERENCE_LISTS:
            handlers.read_printed_references(walker, frame, close)
        elif name.startswith("filecontents"):
            walker.optional_argument()
            target = walker.raw_group()
            if target is not None:
                walker.project.add_file(target.text.strip(), frame.source.text[frame.pos : close])
        frame.pos = close + len(f"\\end{{{name}}}")

    def _put_formula(self, call: LatexRange, name: str, close: int | None) -> None:
        walker = self.walker
        if close is not None:
            end = close + len(f"\\end{{{name}}}")
            walker.page.put(display_text(call.source.text[call.end : close]), call.source, call.start, end)
            cite_in_formula(walker, call.source, call.end, close)
            walker.frame.pos = end
        else:
            self._push(_OpenEnvironment(name, is_math=True))

    def _begin_float(self, name: str, meaning: str) -> None:
        walker = self.walker
        walker.read_arguments(ENVIRONMENT_ARGUMENTS.get(meaning, "o" if meaning in FLOATS else "od"))
        outer_state = walker.page.state
        walker.page.state = LatexState(in_float=True)
        self._push(_OpenEnvironment(name, state=outer_state))

    def _begin_text(self, name: str, meaning: str) -> None:
        walker = self.walker
        if name in ENVIRONMENT_ARGUMENTS:
            walker.read_arguments(ENVIRONMENT_ARGUMENTS[name])
        else:
            self._drop_length()
        if meaning in ABSTRACTS and walker.page.in_body:
            walker.page.begin_section("Abstract", 0)
        elif meaning in ACKNOWLEDGEMENTS and walker.page.in_body:
            walker.page.begin_section("Acknowledgements", 0)
        elif name in LISTS:
            walker.page.state.prose.break_sentence()
        elif name not in INLINE:
            walker.page.flush()
        self._push(_OpenEnvironment(name, is_section=meaning in ABSTRACTS | ACKNOWLEDGEMENTS and walker.page.in_body))
        if name not in ENVIRONMENT_ARGUMENTS:
            self._read_theorem_name()

    def _drop_length(self) -> None:
        """Skip an argument that is a length or a column specification, not text."""
        frame, start = self.walker.frame, self.walker.frame.pos
        if self.walker.peek() == "{" and (argument := self.walker.group()) and not _LENGTH.match(argument.text):
            frame.pos = start

    def _read_theorem_name(self) -> None:
        """The optional argument of a theorem is text: "[Alexeev, see \\cite{a}]"."""
        walker = self.walker
        name = walker.optional_argument() if walker.peek() == "[" else None
        if name and "=" not in name.text and _WORDS.search(name.text):
            prose = walker.page.state.prose
            walker.read_on(name, prose.break_sentence)

    def _end_document(self) -> None:
        for frame in self.walker.frames:
            frame.pos = frame.end
