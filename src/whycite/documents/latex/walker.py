"""Walks through a LaTeX project as TeX would, as far as prose is concerned, and builds the document."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from whycite.documents.builder import Builder, Prose
from whycite.documents.latex import handlers
from whycite.documents.latex.commands import ARGUMENTS, is_citation, looks_like_citation
from whycite.documents.latex.cursor import Cursor, LatexFrame, LatexRange, LatexText
from whycite.documents.latex.formulas import DASHES_AND_QUOTES, read_formula, read_letter, read_symbol
from whycite.documents.latex.macros import Conditionals, Macro, expand
from whycite.documents.latex.page import Environments, LatexPage
from whycite.documents.latex.project import LatexProject, expand_path, may_include
from whycite.documents.model import Reference

__all__ = ["LatexWalker"]

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
# Limits for one draft, far above real ones: macros can double each other, and files include each other.
MAX_EXPANSIONS = 100_000
MAX_EXPANSIONS_IN_CALL = 200  # that one call in the text may lead to
MAX_EXPANSION = 500_000  # characters of one expansion
MAX_EXPANDED_CHARACTERS = 20_000_000  # of all expansions
MAX_ENTERED_CHARACTERS = 16_000_000  # of files, each counted as often as it is read; a long thesis has 3 million
MAX_REPEATED_CHARACTERS = 2_000_000  # of files that were read before: a title page or a table that is used twice
MAX_FILES = 5_000
MAX_WARNINGS = 50  # per file, so that a broken one does not flood the output
_MAX_BRACE_WARNINGS = 3  # per file
_UNDEFINED = re.compile(r"(\\[A-Za-z@]+)[ \t]*/")  # a folder that a macro from outside the project stands for


class LatexWalker(Cursor):
    """One pass over a project: text to the page, bibliographies to lists."""

    def __init__(self, project: LatexProject, builder: Builder) -> None:
        super().__init__()
        self.project = project
        self.builder = builder
        self.page = LatexPage(builder)
        self.environments = Environments(self)
        self.conditionals = Conditionals(self)
        self.macros: dict[str, Macro] = {}
        self.environments_ended_by_macros: set[str] = set()
        self.title = ""
        self.year: int | None = None
        self.bibliographies: list[str] = []
        self.references: list[Reference] = []
        self._expansions = self._characters_expanded = self._expansions_in_call = 0
        self._files_entered = self._characters_entered = self._characters_repeated = 0

    def walk(self, main: LatexText) -> None:
        """Read the main file to its end."""
        self.page.in_body = not self.project.has_document(main.text)
        self._enter(main)
        frames, next_token, read_token = self.frames, TOKEN.match, self._read_token
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

    def capture(self, content: LatexRange, consume: Callable[[Prose], None]) -> None:
        """Read a range separately and pass its prose on; reading then continues after it."""
        end_capture = self.page.capture()
        self.push(LatexFrame(content.source, content.start, content.end, on_end=lambda: consume(end_capture())))

    def read_on(self, content: LatexRange, on_end: Callable[[], None] | None = None) -> None:
        """Read a range as part of the text."""
        self.push(LatexFrame(content.source, content.start, content.end, on_end=on_end))

    def read_arguments(self, spec: str) -> None:
        """Skip a command's arguments, except those that are prose, which are read as text."""
        prose = []
        for kind in spec:
            argument = self.optional_argument("(" if kind == "p" else "[") if kind in "op" else self.group()
            if kind not in "op" and argument is None:
                break
            if kind == "t" and argument is not None:
                prose.append(argument)
        for argument in reversed(prose):
            self.read_on(argument)

    def row(self, call: LatexRange) -> None:
        """End a table's cell or row; elsewhere, print a space."""
        if self.page.state.in_float:
            self.page.flush()
        else:
            self.page.put(" ", call.source, call.start, call.end)

    def call_end(self, call: LatexRange) -> int:
        """How far a call has been read, if that is in the same text."""
        return max(call.end, self.frame.pos) if self.frame.source is call.source else call.end

    def open_file(self, call: LatexRange, file_name: str, command: str, suffix: str = ".tex") -> None:
        """Continue in another file of the project, or warn; packages are usually not part of it."""
        path = self.expand_path(file_name)
        source = self.project.find(path, call.source.file, suffix)
        if isinstance(source, str) and suffix == ".tex" and (folder := _UNDEFINED.match(path)):
            source = self.project.find_by_tail(path[folder.end() :]) or f"{folder[1]} is not defined here; skipped"
        if isinstance(source, str):
            if suffix == ".tex":
                self.warn(call.source, call.start, f"\\{command}{{{file_name}}}: {source}")
        elif self.active.get("/" + source.file):
            self.warn(call.source, call.start, f"\\{command}{{{file_name}}} includes itself; skipped")
        else:
            self._enter(source)

    def expand_path(self, path: str) -> str:
        """A file name with the values of the macros in it."""
        job = posixpath.splitext(posixpath.basename(self.project.main.name))[0]
        return expand_path(path, self.macros, lambda: self.project.path_macros, job)

    def include_part(self, call: LatexRange, name: str) -> bool:
        """Continue in the file that an unknown command names; False if it names none of the project."""
        start = self.frame.pos
        frame = self.frame
        self.optional_argument()
        if (argument := self.group()) is not None:
            source = self.project.find(self.expand_path(argument.text), call.source.file, ".tex")
            if isinstance(source, LatexText) and not self.project.is_read(source):
                self._enter(source)
                return True
            if isinstance(source, str) and "/" in argument.text:
                self.warn(call.source, call.start, f"\\{name}{{{argument.text}}}: {source}")
                return True
        if self.frame is frame:
            frame.pos = start
        return False

    def warn(self, source: LatexText, offset: int, message: str) -> None:
        """Add a warning with file and line."""
        if len(self.builder.warnings) < MAX_WARNINGS:
            line = self.project.line(source.file, source.origin(offset, offset + 1)[0])
            self.builder.warn(f"{source.file}:{line}: {message}")

    def _read_token(self, frame: LatexFrame, match: re.Match[str]) -> None:
        kind = match.lastgroup
        start, end = match.span()
        if kind == "text":
            self.page.add(frame.source, start, end)
        elif kind == "gap":
            self._read_command(frame, match)
        elif kind == "par":
            self.environments.leave_math("the next blank line")
            self.page.flush()
        elif kind == "space":
            self.page.put(" ", frame.source, start, end)
        elif kind == "math":
            read_formula(self, frame, start, end)
        elif kind == "symbol":
            read_symbol(self, frame, match["symbol"], start)
        elif kind == "cell":
            self.row(LatexRange(frame.source, start, end))
        elif kind == "mark":
            self.page.put(DASHES_AND_QUOTES.get(match[0], ""), frame.source, start, end)
        elif kind == "other":
            self.page.put(match[0], frame.source, start, end)

    def _read_command(self, frame: LatexFrame, match: re.Match[str]) -> None:
        """Read a command: known LaTeX commands first, then the draft's macros, then guesses from the name."""
        name = match["word"]
        call = LatexRange(frame.source, match.start(), match.end("word"))
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
        elif name in self.project.including_macros:
            frame.pos = match.end("word")
            self._expand(self.project.including_macros[name], call)
        elif (may_include(name) and self.include_part(call, name)) or read_letter(self, call, name):
            pass
        elif name in ARGUMENTS or name.startswith("index"):
            self.read_arguments(ARGUMENTS.get(name, "odd"))
        elif self.peek() == "[" and (option := self.optional_argument()) and "cite" in option.text:
            self.read_on(option)

    def _expand(self, macro: Macro, call: LatexRange) -> None:
        """Continue in the expansion of a macro. Unlike TeX, keep the space after it: "\\tool is" means "Tool is"."""
        if call.source.is_file:
            self._expansions_in_call = 0
        self._expansions_in_call += 1
        if self.active.get(macro.name) and not call.source.is_argument(call.start):
            self.warn(call.source, call.start, f"\\{macro.name} is defined in terms of itself; not expanded")
            return
        if (
            self._expansions_in_call > MAX_EXPANSIONS_IN_CALL
            or self._expansions > MAX_EXPANSIONS
            or self._characters_expanded > MAX_EXPANDED_CHARACTERS
        ):
            self.warn(call.source, call.start, f"\\{macro.name} expands to too much text; not expanded")
            return
        arguments: list[LatexRange | str] = []
        for parameter in macro.parameters:
            if parameter.kind == "s":
                is_starred = self.peek() == "*"
                self.frame.pos += is_starred
                arguments.append("*" * is_starred)
            else:
                argument = self.optional_argument() if parameter.kind == "o" else self.mandatory_argument()
                arguments.append(argument or parameter.default)
        longest = max((len(a) if isinstance(a, str) else a.end - a.start for a in arguments), default=0)
        if len(macro.body) + macro.body.count("#") * longest > MAX_EXPANSION:
            self.warn(call.source, call.start, f"\\{macro.name} expands to too much text; not expanded")
            return
        expansion = expand(macro, LatexRange(call.source, call.start, self.call_end(call)), arguments)
        self._expansions += 1
        self._characters_expanded += len(expansion.text)
        self.push(LatexFrame(expansion, 0, len(expansion.text), name=macro.name))

    def _enter(self, source: LatexText) -> None:
        self._characters_entered += len(source.text)
        self._files_entered += 1
        is_repeated = self.project.is_read(source)
        self._characters_repeated += len(source.text) * is_repeated
        if (
            self._characters_entered > MAX_ENTERED_CHARACTERS
            or self._characters_repeated > MAX_REPEATED_CHARACTERS
            or self._files_entered > MAX_FILES
        ):
            reason = "read too many times" if is_repeated else "too much text for one document"
            self.warn(source, 0, f"{reason}; skipped from here on")
            return
        self.project.enter(source)
        start, end = 0, len(source.text)
        if self.page.in_body:  # a subfile brings a preamble of its own
            start, end = self.project.body(source.text)
        for brace in source.unclosed_braces[:_MAX_BRACE_WARNINGS]:
            self.warn(source, brace, "{ is never closed")
        self.push(LatexFrame(source, start, end, name="/" + source.file))
