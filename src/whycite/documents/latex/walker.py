"""Walks through a LaTeX project as TeX would, as far as prose is concerned, and fills the document."""

from __future__ import annotations

import re
from collections.abc import Callable

from whycite.documents.builder import Builder
from whycite.documents.latex import handlers
from whycite.documents.latex.characters import MARKS, read_formula, read_letter, read_symbol
from whycite.documents.latex.citations import is_citation, looks_like_citation
from whycite.documents.latex.commands import ARGUMENTS
from whycite.documents.latex.conditionals import Conditionals
from whycite.documents.latex.cursor import Cursor, Frame, Range
from whycite.documents.latex.environments import Environments
from whycite.documents.latex.macros import Macro, expand
from whycite.documents.latex.page import Page
from whycite.documents.latex.project import Project
from whycite.documents.latex.text import LatexText
from whycite.documents.model import Reference
from whycite.documents.prose import Prose

__all__ = ["Walker"]

TOKEN = re.compile(
    r"(?P<text>(?:[^\\%{}$~&#\n\r`'\-]++|-(?!-)|'(?!')|\r?\n(?![ \t]*+[\r\n]))++)"
    r"|\\(?P<word>(?:[A-Za-z]+(?:@[A-Za-z@]*)?|@[A-Za-z@]+))(?P<star>\*?)(?P<gap>[ \t]*)"
    r"|(?P<par>(?:\r?\n|\r(?!\n))[ \t]*(?:\r?\n|\r(?!\n))\s*)"
    r"|(?P<space>(?:\r?\n|\r)[ \t]*|~)"
    r"|(?P<comment>%[^\n\r]*(?:(?:\r\n|\n|\r)[ \t]*|$))"
    r"|(?P<brace>[{}])"
    r"|(?P<math>\$\$?)"
    r"|\\(?P<symbol>(?s:.)|$)"
    r"|(?P<cell>&)"
    r"|(?P<mark>---?|``|''|`|#\d?)"
    r"|(?P<other>(?s:.))"
)
MAX_EXPANSIONS = 100_000
MAX_IN_CALL = 200  # expansions that one call in the text may lead to
MAX_EXPANSION = 500_000  # characters of one expansion
MAX_EXPANDED = 20_000_000  # of all
MAX_ENTERED = 64_000_000  # characters of files, each counted as often as it is read
MAX_FILES = 5_000
MAX_WARNINGS = 50


class Walker(Cursor):
    """One pass over a project: text to the page, bibliographies to lists."""

    def __init__(self, project: Project, builder: Builder) -> None:
        super().__init__()
        self.project = project
        self.builder = builder
        self.page = Page(builder)
        self.environments = Environments(self)
        self.conditionals = Conditionals(self)
        self.macros: dict[str, Macro] = {}
        self.ended_by_macros: set[str] = set()  # environments
        self.title = ""
        self.year: int | None = None
        self.bibliographies: list[str] = []
        self.references: list[Reference] = []
        self._expansions = self._expanded = self._in_call = self._entered = self._files = 0

    def walk(self, main: LatexText) -> None:
        """Read the main file to its end."""
        self.page.live = not self.project.has_document(main.text)
        self._enter(main)
        frames, next_token, read_token = self.frames, TOKEN.match, self._token
        while frames:
            frame = frames[-1]
            if frame.pos >= frame.end:
                self.pop()
                continue
            match = next_token(frame.source.text, frame.pos, frame.end)
            assert match is not None  # the last alternative takes any character
            frame.pos = match.end()
            read_token(frame, match)
        self.environments.close_all()
        self.page.flush()

    def capture(self, inside: Range, then: Callable[[Prose], None]) -> None:
        """Read a range on its own and hand its prose on; reading goes on behind it afterwards."""
        done = self.page.capture()
        self.push(Frame(inside.source, inside.start, inside.end, on_end=lambda: then(done())))

    def read_on(self, inside: Range, then: Callable[[], None] | None = None) -> None:
        """Read a range as part of the text."""
        self.push(Frame(inside.source, inside.start, inside.end, on_end=then))

    def read_arguments(self, spec: str) -> None:
        """Go over a command's arguments; those that are prose are read as text."""
        prose = []
        for kind in spec:
            argument = self.optional("(" if kind == "p" else "[") if kind in "op" else self.group()
            if kind not in "op" and argument is None:
                break
            if kind == "t" and argument is not None:
                prose.append(argument)
        for argument in reversed(prose):
            self.read_on(argument)

    def row(self, call: Range) -> None:
        """The end of a table's cell or row; elsewhere just a space."""
        if self.page.state.scrap:
            self.page.flush()
        else:
            self.page.put(" ", call.source, call.start, call.end)

    def end_of(self, call: Range) -> int:
        """How far a call has been read, where that is in the same text."""
        return max(call.end, self.frame.pos) if self.frame.source is call.source else call.end

    def open_file(self, call: Range, wanted: str, command: str, suffix: str = ".tex") -> None:
        """Go on in another file of the project, or say why not; packages are mostly not the project's own."""
        source = self.project.find(wanted, call.source.file, suffix)
        if isinstance(source, str):
            if suffix == ".tex":
                self.warn(call.source, call.start, f"\\{command}{{{wanted}}}: {source}")
        elif self.active.get("/" + source.file):
            self.warn(call.source, call.start, f"\\{command}{{{wanted}}} reads itself; left out")
        else:
            self._enter(source)

    def warn(self, source: LatexText, at: int, message: str) -> None:
        """A warning with file and line."""
        if len(self.builder.warnings) < MAX_WARNINGS:
            line = self.project.line(source.file, source.origin(at, at + 1)[0])
            self.builder.warn(f"{source.file}:{line}: {message}")

    def _token(self, frame: Frame, match: re.Match[str]) -> None:
        kind = match.lastgroup
        start, end = match.span()
        if kind == "text":
            self.page.add(frame.source, start, end)
        elif kind == "gap":
            self._word(frame, match)
        elif kind == "par":
            self.environments.leave_math("a blank line in a formula")
            self.page.flush()
        elif kind == "space":
            self.page.put(" ", frame.source, start, end)
        elif kind == "math":
            read_formula(self, frame, start, end)
        elif kind == "symbol":
            read_symbol(self, frame, match["symbol"], start)
        elif kind == "cell":
            self.row(Range(frame.source, start, end))
        elif kind == "mark":
            self.page.put(MARKS.get(match[0], ""), frame.source, start, end)
        elif kind == "other":
            self.page.put(match[0], frame.source, start, end)

    def _word(self, frame: Frame, match: re.Match[str]) -> None:
        """A command: what we know of LaTeX's own comes first, then the draft's macros, then guesses by the name."""
        name = match["word"]
        call = Range(frame.source, match.start(), match.end("word"))
        if handler := handlers.HANDLERS.get(name):
            handler(self, call, name)
        elif is_citation(name):
            handlers.cite(self, call, name)
        elif name in self.macros:
            frame.pos = match.end("word")
            self._expand(self.macros[name], call)
        elif self.conditionals.handle(name):
            pass
        elif looks_like_citation(name):
            handlers.cite(self, call, name)
        elif read_letter(self, call, name):
            pass
        elif name in ARGUMENTS or name.startswith("index"):
            self.read_arguments(ARGUMENTS.get(name, "odd"))
        elif self.peek() == "[" and (option := self.optional()) and "cite" in option.text:
            self.read_on(option)

    def _expand(self, macro: Macro, call: Range) -> None:
        """Go on in what a macro stands for. The space behind a call stays: who writes "\\tool is" means "Tool is"."""
        if call.source.is_file:
            self._in_call = 0
        self._in_call += 1
        if self.active.get(macro.name) and not call.source.is_argument(call.start):
            self.warn(call.source, call.start, f"\\{macro.name} calls itself; not expanded")
            return
        if self._in_call > MAX_IN_CALL or self._expansions > MAX_EXPANSIONS or self._expanded > MAX_EXPANDED:
            self.warn(call.source, call.start, f"\\{macro.name} expands to too much; not expanded")
            return
        arguments: list[Range | str] = []
        for argument in macro.arguments:
            if argument.kind == "s":
                starred = self.peek() == "*"
                self.frame.pos += starred
                arguments.append("*" * starred)
            else:
                found = self.optional() if argument.kind == "o" else self.mandatory()
                arguments.append(found or argument.default)
        longest = max((len(a) if isinstance(a, str) else a.end - a.start for a in arguments), default=0)
        if len(macro.body) + macro.body.count("#") * longest > MAX_EXPANSION:
            self.warn(call.source, call.start, f"\\{macro.name} expands to too much; not expanded")
            return
        expansion = expand(macro, Range(call.source, call.start, self.end_of(call)), arguments)
        self._expansions += 1
        self._expanded += len(expansion.text)
        self.push(Frame(expansion, 0, len(expansion.text), name=macro.name))

    def _enter(self, source: LatexText) -> None:
        self._entered += len(source.text)
        self._files += 1
        if self._entered > MAX_ENTERED or self._files > MAX_FILES:
            self.warn(source, 0, "read too often; left out from here on")
            return
        start, end = 0, len(source.text)
        if self.page.live:  # a subfile brings a preamble of its own
            start, end = self.project.body(source.text)
        for at in source.unclosed[:3]:
            self.warn(source, at, "this brace is never closed")
        self.push(Frame(source, start, end, name="/" + source.file))
