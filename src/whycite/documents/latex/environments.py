"""Environments: formulas, floats, tables, lists, abstracts, and those without prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.documents.latex import handlers
from whycite.documents.latex.commands import (
    ENVIRONMENT_ARGUMENTS,
    FLOATS,
    MATH_ENVIRONMENTS,
    PICTURES,
    TABULARS,
    VERBATIM,
)
from whycite.documents.latex.cursor import LatexRange
from whycite.documents.latex.formulas import EQUATION, cite_in_formula, display_text
from whycite.documents.latex.page import LatexState

if TYPE_CHECKING:
    from whycite.documents.latex.walker import LatexWalker

__all__ = ["Environments"]

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
