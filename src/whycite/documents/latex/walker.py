"""Walks through a LaTeX project as TeX would, as far as prose is concerned, and fills the document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from whycite.documents import bbl
from whycite.documents.builder import Builder
from whycite.documents.latex.citations import is_citation, looks_like_citation, read_citation
from whycite.documents.latex.commands import ARGUMENTS, INPUTS, NOTES, REFERENCES, SECTIONS
from whycite.documents.latex.conditionals import Conditionals
from whycite.documents.latex.cursor import Cursor, Frame, Range
from whycite.documents.latex.environments import Environments
from whycite.documents.latex.macros import DEFINERS, Macro, expand, read_definition
from whycite.documents.latex.mathtext import EQUATION, math_text
from whycite.documents.latex.project import Project
from whycite.documents.latex.text import LatexText
from whycite.documents.latex.units import QUANTITIES, unit_text
from whycite.documents.model import Kind, Reference
from whycite.documents.prose import Prose
from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS, untex

__all__ = ["Walker"]

TOKEN = re.compile(
    r"(?P<text>(?:[^\\%{}$~&#\n\r`'\-]|-(?!-)|'(?!'))+)"
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
MARKS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘"}
SPACING = {
    " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "\n": " ", "\r": " ", "\t": " ",
    "": "", "+": "", "*": "", "<": "", ">": "",
}  # fmt: skip
# Macros that look at what comes next decide by it; we would read both ways out.
LOOKAHEAD = re.compile(r"\\(?:@ifnextchar|@ifstar|futurelet|kernel@ifnextchar)")
MAX_EXPANSIONS = 100_000
MAX_IN_CALL = 200  # expansions that one call in the text may lead to
MAX_EXPANDED = 20_000_000  # characters
MAX_WARNINGS = 50
END_OF_LIST = re.compile(r"\\endthebibliography|\\end\s*\{(?:document|thebibliography)\}|\\appendix")
PLACEHOLDER = "REF"


@dataclass(slots=True)
class State:
    """What text becomes where it stands."""

    prose: Prose = field(default_factory=Prose)
    scrap: bool = False  # in a float or table: only what cites is kept
    captured: bool = False  # in a heading, note or caption: no paragraph ends here


class Walker(Cursor):
    """One pass over a project: prose, citations and headings to the builder; bibliographies to lists."""

    def __init__(self, project: Project, builder: Builder) -> None:
        super().__init__()
        self.project = project
        self.builder = builder
        self.macros: dict[str, Macro] = {}
        self.state = State()
        self.live = False  # behind \begin{document}
        self.title = ""
        self.bibliographies: list[str] = []
        self.references: list[Reference] = []
        self.environments = Environments(self)
        self.conditionals = Conditionals(self)
        self._queue: list[tuple[Prose, Kind]] = []  # notes and captions wait for their paragraph's end
        self._pending: tuple[str, int] | None = None
        self._shift = 0
        self._expansions = self._expanded = self._in_call = 0
        self._handlers = self._commands()

    # -- the walk --------------------------------------------------------------

    def walk(self, main: LatexText) -> None:
        """Read the main file to its end."""
        self.live = not self.project.has_document(main.text)
        self._enter(main)
        while self.frames:
            frame = self.frame
            if frame.pos >= frame.end:
                self.pop()
                continue
            match = TOKEN.match(frame.source.text, frame.pos, frame.end)
            assert match is not None  # the last alternative takes any character
            frame.pos = match.end()
            self._token(frame, match)
        self.environments.close_all()
        self.flush()

    def _token(self, frame: Frame, match: re.Match[str]) -> None:
        kind = match.lastgroup
        start, end = match.span()
        if kind == "text":
            self.add(frame.source, start, end)
        elif kind == "gap":
            self._word(frame, match)
        elif kind == "par":
            self.environments.leave_math("a blank line in a formula")
            self.flush()
        elif kind == "space":
            self.put(" ", frame.source, start, end)
        elif kind == "math":
            self._math(frame, start, end)
        elif kind == "symbol":
            self._symbol(frame, match["symbol"], start)
        elif kind == "cell":
            self._row(Range(frame.source, start, end), "&")
        elif kind == "mark":
            self.put(MARKS.get(match[0], ""), frame.source, start, end)
        elif kind == "other":
            self.put(match[0], frame.source, start, end)

    def _word(self, frame: Frame, match: re.Match[str]) -> None:
        name = match["word"]
        call = Range(frame.source, match.start(), match.end("word"))
        if handler := self._handlers.get(name):
            handler(call, name)
        elif is_citation(name):
            self._cite(call, name)
        elif name in self.macros:
            if match["star"]:
                frame.pos = match.end("word")
            self._expand(self.macros[name], call, match)
        elif self.conditionals.handle(name):
            pass
        elif looks_like_citation(name):
            self._cite(call, name)
        elif name in ACCENTS and (len(name) == 1 or name == "textcommabelow"):
            self._accent(call, ACCENTS[name])
        elif name in SYMBOLS or name in MATH_SYMBOLS:
            symbol = SYMBOLS[name] if name in SYMBOLS else MATH_SYMBOLS[name]
            self.put(symbol, call.source, call.start, call.end)
        elif name in ARGUMENTS or name.startswith("index"):
            self.read_arguments(ARGUMENTS.get(name, "odd"))
        elif self.peek() == "[":
            self.optional()

    # -- text --------------------------------------------------------------

    @property
    def silent(self) -> bool:
        """Whether text is passed over."""
        return (not self.live and not self.state.captured) or self.environments.in_math

    def add(self, source: LatexText, start: int, end: int) -> None:
        """Text that stands in the source as it is."""
        if self.silent:
            return
        for run_start, run_end in source.runs(start, end):
            first, last = source.origin(run_start, run_end)
            exact = source.is_exact(run_start, run_end)
            self.state.prose.add(source.text[run_start:run_end], source.file, first, None if exact else last)

    def put(self, text: str, source: LatexText, start: int, end: int) -> None:
        """Text that stands for a range of the source as a whole."""
        if text and not self.silent:
            self.state.prose.add(text, source.file, *source.origin(start, end))

    def flush(self) -> None:
        """End the paragraph; inside a note or heading, only the sentence."""
        state = self.state
        if state.captured:
            state.prose.break_sentence()
            return
        prose, state.prose = state.prose, Prose()
        if state.scrap:
            if prose.has_citations:
                self._paragraph(prose, "table")
        elif prose:
            self._paragraph(prose, "prose")
        if not state.scrap:
            queue, self._queue = self._queue, []
            for waiting, kind in queue:
                self._paragraph(waiting, kind)

    def capture(self, inside: Range, then: Callable[[Prose], None]) -> None:
        """Read a range on its own and hand its prose on; reading goes on behind it afterwards."""
        before, self.state = self.state, State(captured=True)

        def done() -> None:
            prose, self.state = self.state.prose, before
            then(prose)

        self.push(Frame(inside.source, inside.start, inside.end, on_end=done))

    def queue(self, kind: Kind) -> Callable[[Prose], None]:
        """Keeps a note or caption until the paragraph around it has ended."""
        return lambda prose: self._queue.append((prose, kind)) if prose and self.live else None

    def begin_section(self, heading: str, level: int) -> None:
        """What comes next stands under this heading."""
        if self.live:
            self.flush()
            self._pending = None
            self.builder.section(heading, level + self._shift if level else 0)

    def end_section(self) -> None:
        """What comes next stands under no heading, until the next one."""
        self.flush()
        self._pending = ("", 0)

    def _paragraph(self, prose: Prose, kind: Kind) -> None:
        if self._pending:
            self.builder.section(*self._pending)
            self._pending = None
        self.builder.paragraph(prose, kind)

    def warn(self, source: LatexText, at: int, message: str) -> None:
        """A warning with file and line."""
        if len(self.builder.warnings) < MAX_WARNINGS:
            line = self.project.line(source.file, source.origin(at, at + 1)[0])
            self.builder.warn(f"{source.file}:{line}: {message}")

    # -- arguments, macros, files --------------------------------------------------------------

    def read_arguments(self, spec: str) -> None:
        """Go over a command's arguments; those that are prose are read as text."""
        prose = []
        for kind in spec:
            argument = self.optional() if kind == "o" else self.group()
            if kind != "o" and argument is None:
                break
            if kind == "t" and argument is not None:
                prose.append(argument)
        for argument in reversed(prose):
            self.push(Frame(argument.source, argument.start, argument.end))

    def _expand(self, macro: Macro, call: Range, match: re.Match[str]) -> None:
        if self.frame.source.is_file:
            self._in_call = 0
        self._in_call += 1
        if self.active.get(macro.name):
            self.warn(call.source, call.start, f"\\{macro.name} calls itself; not expanded")
            return
        if self._in_call > MAX_IN_CALL or self._expansions > MAX_EXPANSIONS or self._expanded > MAX_EXPANDED:
            self.warn(call.source, call.start, f"\\{macro.name} expands to too much; not expanded")
            return
        if not macro.arguments:  # TeX drops this space; whoever writes "\\tool is" wants to read "Tool is"
            self.frame.pos -= len(match["gap"])
        arguments: list[tuple[LatexText, int, int] | str] = []
        for argument in macro.arguments:
            if argument.kind == "s":
                starred = self.peek() == "*"
                self.frame.pos += starred
                arguments.append("*" if starred else "")
                continue
            found = self.optional() if argument.kind == "o" else self.mandatory()
            arguments.append((found.source, found.start, found.end) if found else argument.default)
        end = self.frame.pos if self.frame.source is call.source else call.end
        expansion = expand(macro, call.source, (call.start, max(end, call.end)), arguments)
        self._expansions += 1
        self._expanded += len(expansion.text)
        self.push(Frame(expansion, 0, len(expansion.text), name=macro.name))

    def _define(self, call: Range, name: str) -> None:
        macro = read_definition(self, name)
        kept = name.lower().startswith("provide") and macro is not None and macro.name in self.macros
        if macro is not None and not kept and not LOOKAHEAD.search(macro.body):
            self.macros[macro.name] = macro

    def _input(self, call: Range, name: str) -> None:
        folders = [self.mandatory() for _ in range(INPUTS[name])]
        inside = self.group() or self._bare_file_name()
        if name == "InputIfFileExists":
            self.group(), self.group()
        if inside is None:
            return
        folder = "".join(found.text for found in folders if found)
        self.open_file(call, folder + inside.text.strip(), name)

    def open_file(self, call: Range, wanted: str, command: str, suffix: str = ".tex") -> None:
        """Go on in another file of the project, or say why not."""
        source = self.project.find(wanted, call.source.file, suffix)
        if isinstance(source, str):
            if suffix == ".tex":
                self.warn(call.source, call.start, f"\\{command}{{{wanted}}}: {source}")
        elif self.active.get("/" + source.file):
            self.warn(call.source, call.start, f"\\{command}{{{wanted}}} reads itself; left out")
        else:
            self._enter(source)

    def _enter(self, source: LatexText) -> None:
        start, end = 0, len(source.text)
        if self.live:  # a subfile brings a preamble of its own
            start, end = self.project.body(source.text)
        for at in source.unclosed[:3]:
            self.warn(source, at, "this brace is never closed")
        self.push(Frame(source, start, end, name="/" + source.file))

    def _bare_file_name(self) -> Range | None:
        frame = self.frame
        match = re.compile(r"[^\s{}\\%]+").match(frame.source.text, frame.pos, frame.end)
        if match is None:
            return None
        frame.pos = match.end()
        return Range(frame.source, match.start(), match.end())

    # -- commands --------------------------------------------------------------

    def _commands(self) -> dict[str, Callable[[Range, str], None]]:
        table: dict[str, Callable[[Range, str], None]] = {
            "begin": self.environments.begin,
            "end": self.environments.end,
            "title": self._title,
            "par": lambda call, name: self.flush(),
            "item": self._item,
            "appendix": self._appendix,
            "abstract": self._abstract,
            "acknowledgments": self._acknowledgements,
            "acknowledgements": self._acknowledgements,
            "footnote": self._note,
            "footnotetext": self._note,
            "caption": self._caption,
            "captionof": self._caption,
            "subcaption": self._caption,
            "tabularnewline": self._row,
            "STATE": self._row,
            "State": self._row,
            "citeproc": self._citeproc,
            "thebibliography": self._printed_list,
            "newenvironment": self._new_environment,
            "renewenvironment": self._new_environment,
            "bibliography": self._bibliography,
            "addbibresource": self._bibliography,
            "addglobalbib": self._bibliography,
            "usepackage": self._package,
            "RequirePackage": self._package,
            "verb": self._verb,
            "lstinline": self._verb,
            "mintinline": self._verb,
            "url": self._url,
            "path": self._url,
            "nolinkurl": self._url,
            "href": self._link,
            "enquote": self._quote,
            "endinput": self._end_input,
        }
        table |= dict.fromkeys(SECTIONS, self._section)
        table |= dict.fromkeys(INPUTS, self._input)
        table |= dict.fromkeys(DEFINERS, self._define)
        table |= dict.fromkeys(REFERENCES, self._reference)
        table |= dict.fromkeys(NOTES, self._todo)
        table |= dict.fromkeys(QUANTITIES, self._quantity)
        return table

    def _cite(self, call: Range, name: str) -> None:
        keys, marker, ranges = read_citation(self, name)
        if not ranges or self.silent:
            return
        spots = [call.source.origin(call.start, call.end)]
        spots += [r.source.origin(r.start, r.end + 1) for r in ranges if r.source.file == call.source.file]
        first, last = min(s[0] for s in spots), max(s[1] for s in spots)
        self.state.prose.cite(marker, keys, call.source.file, first, last)

    def _citeproc(self, call: Range, name: str) -> None:
        """A citation as Pandoc writes it out: the key, then what is printed."""
        key, printed = self.group(), self.group()
        if key and printed and not self.silent:
            start, end = call.source.origin(call.start, printed.end + 1)
            self.state.prose.cite(untex(printed.text), (key.text.strip(),), call.source.file, start, end)

    def _section(self, call: Range, name: str) -> None:
        self.optional()
        heading = self.group()
        if heading is None:
            return
        self.environments.leave_math("a heading in a formula")
        self.flush()
        self.capture(heading, lambda prose: self._begin_with(prose, SECTIONS[name]))

    def _begin_with(self, heading: Prose, level: int) -> None:
        """A heading; one that cites is also kept as a sentence, so that its citations are not lost."""
        self.begin_section(heading.text, level)
        if heading.has_citations and self.live:
            self._paragraph(heading, "heading")

    def _title(self, call: Range, name: str) -> None:
        self.optional()
        if inside := self.group():
            self.capture(inside, self._set_title)

    def _set_title(self, prose: Prose) -> None:
        self.title = self.title or prose.text

    def _abstract(self, call: Range, name: str) -> None:
        if self.live and (inside := self.group()):
            self.begin_section("Abstract", 0)
            self.push(Frame(inside.source, inside.start, inside.end, on_end=self.end_section))

    def _acknowledgements(self, call: Range, name: str) -> None:
        self.begin_section("Acknowledgements", 0)

    def _appendix(self, call: Range, name: str) -> None:
        if not self._shift:
            self.begin_section("Appendix", 0)
            self._shift = 1

    def _item(self, call: Range, name: str) -> None:
        self.state.prose.break_sentence()
        if label := self.optional():
            space = lambda: self.put(" ", label.source, label.end, label.end + 1)  # noqa: E731
            self.push(Frame(label.source, label.start, label.end, on_end=space))

    def _note(self, call: Range, name: str) -> None:
        self.optional()
        if inside := self.group():
            self.capture(inside, self.queue("footnote"))

    def _caption(self, call: Range, name: str) -> None:
        if name == "captionof":
            self.group()
        listed = self.optional()
        if inside := self.group():
            self.capture(inside, self.queue("caption"))
        if listed:  # the short form, for the list of figures
            self.capture(listed, self._keep_if_cited)

    def _todo(self, call: Range, name: str) -> None:
        self.optional()
        if inside := self.group():
            self.capture(inside, self._keep_if_cited)

    def _keep_if_cited(self, prose: Prose) -> None:
        if prose.has_citations:
            self.queue("footnote")(prose)

    def _reference(self, call: Range, name: str) -> None:
        self.optional()
        if self.group() is not None:
            if name.lower().endswith("crefrange"):
                self.group()
            self.put(PLACEHOLDER, call.source, call.start, call.end)

    def _quantity(self, call: Range, name: str) -> None:
        spec, form = QUANTITIES[name]
        values = []
        for kind in spec:
            argument = self.optional() if kind == "o" else self.group()
            if kind != "o":
                text = argument.text if argument else ""
                values.append(unit_text(text) if kind == "u" else untex(text))
        self.put(form.format(*values).strip(), call.source, call.start, max(call.end, self._here(call)))

    def _new_environment(self, call: Range, name: str) -> None:
        named = self.group()
        self.optional(), self.optional()
        body, _ = self.group(), self.group()
        if named and body:
            self.environments.define(named.text.strip(), body.text)

    def _printed_list(self, call: Range, name: str) -> None:
        """The list of references begun by a command, not as an environment: it goes on to the end."""
        frame = self.frame
        end = END_OF_LIST.search(frame.source.text, frame.pos, frame.end)
        self.read_printed(frame, end.start() if end else frame.end)

    def read_printed(self, frame: Frame, close: int) -> None:
        """Read a printed list of references, from here on."""
        references, warnings = bbl.parse(frame.source.text[frame.pos : close], frame.source.file)
        self.references += references
        for warning in warnings:
            self.builder.warn(warning)
        frame.pos = close

    def _bibliography(self, call: Range, name: str) -> None:
        self.optional()
        if inside := self.group():
            self.bibliographies += [part.strip() for part in inside.text.split(",") if part.strip()]

    def _package(self, call: Range, name: str) -> None:
        self.optional()
        inside = self.group()
        self.optional()
        if not self.live:
            for package in reversed(inside.text.split(",") if inside else []):
                self.open_file(call, package.strip(), name, ".sty")

    def _verb(self, call: Range, name: str) -> None:
        frame = self.frame
        text = frame.source.text
        if name != "verb":
            self.optional()
        if name == "mintinline":
            self.group()
        if self.peek() == "{" and (inside := self.group()):
            self.put(inside.text.replace("\\", ""), inside.source, inside.start, inside.end)
            return
        frame.pos += self.peek() == "*"
        close = text.find(self.peek() or "\n", frame.pos + 1, min(frame.end, frame.pos + 500))
        if close > 0 and frame.pos < frame.end:
            self.put(text[frame.pos + 1 : close].replace("\\", ""), frame.source, frame.pos, close + 1)
            frame.pos = close + 1

    def _url(self, call: Range, name: str) -> None:
        if inside := self.raw_group():
            self.put(inside.text, inside.source, inside.start, inside.end)

    def _link(self, call: Range, name: str) -> None:
        self.optional()
        self.raw_group()

    def raw_group(self) -> Range | None:
        """A group where % is no comment: an address."""
        self.skip_blank()
        frame = self.frame
        close = frame.source.text.find("}", frame.pos, min(frame.end, frame.pos + 2000))
        if self.peek() != "{" or close < 0:
            return None
        found = Range(frame.source, frame.pos + 1, close)
        frame.pos = close + 1
        return found

    def _quote(self, call: Range, name: str) -> None:
        if inside := self.group():
            self.put("“", call.source, call.start, call.end)
            closing = lambda: self.put("”", inside.source, inside.end, inside.end + 1)  # noqa: E731
            self.push(Frame(inside.source, inside.start, inside.end, on_end=closing))

    def _end_input(self, call: Range, name: str) -> None:
        for frame in reversed(self.frames):
            frame.pos = frame.end
            if frame.name.startswith("/"):
                break

    def _row(self, call: Range, name: str) -> None:
        if self.state.scrap:
            self.flush()
        else:
            self.put(" ", call.source, call.start, call.end)

    # -- symbols, accents, formulas --------------------------------------------------------------

    def _symbol(self, frame: Frame, symbol: str, start: int) -> None:
        call = Range(frame.source, start, frame.pos)
        if symbol in ACCENTS:
            self._accent(call, ACCENTS[symbol])
        elif symbol == "\\":
            frame.pos += self.peek() == "*"
            if self.peek() == "[":
                self.optional()
            self._row(call, symbol)
        elif symbol in "([":
            close = frame.source.environment_end("\\" + symbol, start)
            if close is not None and close < frame.end:
                self._formula(frame.source, start, close + 2, displayed=symbol == "[")
                frame.pos = close + 2
        elif symbol in SPACING:
            self.put(SPACING[symbol], call.source, call.start, call.end)
        elif symbol not in ")]":
            self.put(symbol, call.source, call.start, call.end)

    def _accent(self, call: Range, combining: str) -> None:
        argument = self.mandatory()
        if argument is None:
            return
        base = untex(argument.text)[:2] or " "
        letter = unicodedata.normalize("NFC", base[0].replace("ı", "i").replace("ȷ", "j") + combining) + base[1:]
        self.put(letter.strip(), call.source, call.start, max(call.end, self._here(call)))

    def _math(self, frame: Frame, start: int, end: int) -> None:
        mark = frame.source.text[start:end]
        close = self._closing_dollar(frame, end, mark)
        if close is None:
            if mark == "$$":  # an empty formula, or one whose end is missing
                return
            self.warn(frame.source, start, "this $ is never closed")
            return
        self._formula(frame.source, start, close + len(mark), displayed=mark == "$$")
        frame.pos = close + len(mark)

    def _closing_dollar(self, frame: Frame, at: int, mark: str) -> int | None:
        text = frame.source.text
        stop = min(frame.source.paragraph_end(at), frame.end)
        while (close := text.find("$", at, stop)) >= 0:
            if text[close - 1] != "\\" or text[close - 2 : close] == "\\\\":
                return close if mark == "$" or text.startswith("$$", close) else None
            at = close + 1
        return None

    def _formula(self, source: LatexText, start: int, end: int, *, displayed: bool) -> None:
        inside = source.text[start:end].strip("$")
        inside = inside[2:-2] if inside.startswith(("\\(", "\\[")) else inside
        text = f" {EQUATION} " if displayed else math_text(inside)
        self.put(text, source, start, end)

    def _here(self, call: Range) -> int:
        """The position reached, where it is in the text of the call."""
        return self.frame.pos if self.frame.source is call.source else call.end
