"""What each command of LaTeX means for the text, by its name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from whycite.documents.bibliographies import bbl
from whycite.documents.latex.citations import read_citation
from whycite.documents.latex.commands import INPUTS, NOTES, REFERENCES, SECTIONS
from whycite.documents.latex.cursor import Frame, Range
from whycite.documents.latex.macros import DEFINERS, Argument, read_definition
from whycite.documents.latex.units import QUANTITIES, unit_text
from whycite.documents.prose import Prose
from whycite.text.accents import untex

if TYPE_CHECKING:
    from whycite.documents.latex.walker import Walker

__all__ = ["HANDLERS", "cite", "read_printed"]

Handler = Callable[["Walker", Range, str], None]
HANDLERS: dict[str, Handler] = {}
PLACEHOLDER = "REF"  # what stands for the number of a figure, table or section
# Macros that look at what comes next decide by it; we would read both ways out.
_LOOKAHEAD = re.compile(r"\\(?:@ifnextchar|@ifstar|futurelet|kernel@ifnextchar)")
_END_OF_LIST = re.compile(r"\\endthebibliography|\\end\s*\{(?:document|thebibliography)\}|\\appendix")
_LENGTH = re.compile(
    r"\s*=?\s*-?(?:[\d.]*\s*\\[A-Za-z]+|[\d.]+\s*(?:true)?[a-z]{2})(?:\s+(?:plus|minus)\s+[\d.]+\s*[a-z]{2,5})*"
)
_ENDED = re.compile(r"\\end\s*\{([^{}\\\n]{1,60})\}")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FILE_NAME = re.compile(r"[^\s{}\\%]+")


def _command(names: Iterable[str]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


@_command(["begin"])
def _begin(walker: Walker, call: Range, name: str) -> None:
    walker.environments.begin(call)


@_command(["end"])
def _end(walker: Walker, call: Range, name: str) -> None:
    walker.environments.end(call)


@_command(["par"])
def _par(walker: Walker, call: Range, name: str) -> None:
    walker.page.flush()


@_command(["tabularnewline", "STATE", "State"])
def _row(walker: Walker, call: Range, name: str) -> None:
    walker.row(call)


# Citations and references


def cite(walker: Walker, call: Range, name: str) -> None:
    """A cite command, known or guessed by its name."""
    keys, marker, ranges = read_citation(walker, name)
    if not ranges:
        return
    spots = [call.source.origin(call.start, call.end)]
    spots += [r.source.origin(r.start, r.end + 1) for r in ranges if r.source.file == call.source.file]
    start, end = min(spot[0] for spot in spots), max(spot[1] for spot in spots)
    walker.page.cite(marker, keys, call.source.file, start, end)


@_command(["citeproc"])
def _citeproc(walker: Walker, call: Range, name: str) -> None:
    """A citation as Pandoc writes it out: the key, then what is printed."""
    key, printed = walker.group(), walker.group()
    if key and printed:
        start, end = call.source.origin(call.start, walker.end_of(call))
        walker.page.cite(untex(printed.text), (key.text.strip(),), call.source.file, start, end)


@_command(REFERENCES)
def _reference(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    if walker.group() is not None:
        if name.lower().endswith("range"):
            walker.group()
        walker.page.put(PLACEHOLDER, call.source, call.start, call.end)


@_command(["bibliography", "addbibresource", "addglobalbib"])
def _bibliography(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    if inside := walker.group():
        walker.bibliographies += [part.strip() for part in inside.text.split(",") if part.strip()]


@_command(["thebibliography"])
def _printed_list(walker: Walker, call: Range, name: str) -> None:
    """The list of references begun by a command, not as an environment: it goes on to the end."""
    frame = walker.frame
    end = _END_OF_LIST.search(frame.source.text, frame.pos, frame.end)
    read_printed(walker, frame, end.start() if end else frame.end)


def read_printed(walker: Walker, frame: Frame, close: int) -> None:
    """Read a printed list of references, from here on."""
    references, warnings = bbl.parse(frame.source.text[frame.pos : close], frame.source.file)
    walker.references += references
    for warning in warnings:
        walker.builder.warn(warning)
    frame.pos = close


# Structure


@_command(SECTIONS)
def _section(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    if heading := walker.short_group():
        walker.environments.leave_math("a heading stands in it")
        walker.environments.leave_floats()
        walker.page.flush()
        walker.capture(heading, lambda prose: walker.page.section_from(prose, SECTIONS[name]))


@_command(["title", "Title", "icmltitle", "papertitle"])
def _title(walker: Walker, call: Range, name: str) -> None:
    def keep(prose: Prose) -> None:
        walker.title = walker.title or prose.text

    walker.optional()
    if inside := walker.group():
        walker.capture(inside, keep)


@_command(["date"])
def _date(walker: Walker, call: Range, name: str) -> None:
    """The date of the draft; of several the last holds, and one that is made when TeX runs, or has two, has no year."""
    walker.optional()
    if inside := walker.group():
        years = [] if "\\today" in inside.text else _YEAR.findall(inside.text)
        walker.year = int(years[0]) if len(years) == 1 else None


@_command(["abstract"])
def _abstract(walker: Walker, call: Range, name: str) -> None:
    inside = walker.group()
    if inside is None:
        return
    if walker.page.live:
        walker.page.section("Abstract", 0)
        walker.read_on(inside, walker.page.end_section)
    else:
        walker.capture(inside, walker.page.keep_abstract)


@_command(["acknowledgments", "acknowledgements"])
def _acknowledgements(walker: Walker, call: Range, name: str) -> None:
    walker.page.section("Acknowledgements", 0)


@_command(["appendix"])
def _appendix(walker: Walker, call: Range, name: str) -> None:
    walker.page.appendix()


@_command(["item"])
def _item(walker: Walker, call: Range, name: str) -> None:
    walker.page.state.prose.break_sentence()
    walker.optional("<")  # when a slide shows it
    if label := walker.optional():
        walker.read_on(label, partial(walker.page.put, " ", label.source, label.end, label.end + 1))


# What stands beside the text


@_command(["footnote", "footnotetext"])
def _note(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    if inside := walker.group():
        walker.capture(inside, lambda prose: walker.page.keep(prose, "footnote"))


@_command(["caption", "captionof", "subcaption"])
def _caption(walker: Walker, call: Range, name: str) -> None:
    if name == "captionof":
        walker.group()
    listed = walker.optional()  # the short form, for the list of figures
    if inside := walker.group():
        walker.capture(inside, lambda prose: walker.page.keep(prose, "caption"))
    if listed:
        walker.capture(listed, walker.page.keep_if_cited)


@_command(NOTES)
def _todo(walker: Walker, call: Range, name: str) -> None:
    own = walker.macros.get(name)
    found = [
        walker.optional() if argument.kind == "o" else walker.group()
        for argument in (own.arguments if own else [Argument("o"), Argument("m")])
    ]
    for inside in found:
        if inside is not None:
            walker.capture(inside, walker.page.keep_if_cited)


# Text that is written in its own way


@_command(QUANTITIES)
def _quantity(walker: Walker, call: Range, name: str) -> None:
    spec, form = QUANTITIES[name]
    values = []
    for kind in spec:
        argument = walker.optional() if kind == "o" else walker.group()
        if kind != "o":
            text = argument.text if argument else ""
            values.append(unit_text(text) if kind == "u" else untex(text))
    walker.page.put(form.format(*values).strip(), call.source, call.start, walker.end_of(call))


@_command(["verb", "lstinline", "mintinline"])
def _verb(walker: Walker, call: Range, name: str) -> None:
    if name != "verb":
        walker.optional()
    if name == "mintinline":
        walker.group()
    if walker.peek() == "{" and (inside := walker.group()):
        walker.page.put(inside.text.replace("\\", ""), inside.source, inside.start, inside.end)
        return
    frame = walker.frame
    frame.pos += walker.peek() == "*"
    text = frame.source.text
    close = text.find(walker.peek() or "\n", frame.pos + 1, min(frame.end, frame.pos + 500))
    if close > 0 and frame.pos < frame.end:
        walker.page.put(text[frame.pos + 1 : close].replace("\\", ""), frame.source, frame.pos, close + 1)
        frame.pos = close + 1


@_command(["url", "path", "nolinkurl"])
def _url(walker: Walker, call: Range, name: str) -> None:
    if inside := walker.raw_group():
        walker.page.put(inside.text, inside.source, inside.start, inside.end)


@_command(["href"])
def _link(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    walker.raw_group()


@_command(["hskip", "vskip", "kern", "mskip"])
def _skip(walker: Walker, call: Range, name: str) -> None:
    frame = walker.frame
    if length := _LENGTH.match(frame.source.text, frame.pos, frame.end):
        frame.pos = length.end()
    walker.page.put(" ", call.source, call.start, call.end)


@_command(["enquote"])
def _quote(walker: Walker, call: Range, name: str) -> None:
    if inside := walker.group():
        walker.page.put("“", call.source, call.start, call.end)
        walker.read_on(inside, partial(walker.page.put, "”", inside.source, inside.end, inside.end + 1))


# Definitions and other files


@_command(DEFINERS)
def _define(walker: Walker, call: Range, name: str) -> None:
    macro = read_definition(walker, name)
    if macro is None or _LOOKAHEAD.search(macro.body):
        return
    if call.source.file.endswith(".sty") and f"\\{macro.name}" in macro.body:
        return  # a package that wraps a command of LaTeX's own
    if not name.lower().startswith("provide") or macro.name not in walker.macros:
        walker.macros[macro.name] = macro
        walker.ended_by_macros.update(_ENDED.findall(macro.body))


@_command(["IfBooleanTF", "IfValueTF", "IfNoValueTF", "ifblank", "ifstrempty"])
def _if_given(walker: Walker, call: Range, name: str) -> None:
    """Which of two texts a macro prints depends on whether it was given an argument or a star."""
    tested, first, second = walker.group(), walker.group(), walker.group()
    given = tested is not None and bool(tested.text.strip())
    chosen = first if given == (name in {"IfBooleanTF", "IfValueTF"}) else second
    if chosen is not None:
        walker.read_on(chosen)


@_command(["twocolumn", "only", "onslide", "uncover", "visible", "alert"])
def _spanning(walker: Walker, call: Range, name: str) -> None:
    """Text over both columns stands in brackets; on slides the numbers of slides do, in angles."""
    walker.optional("<")
    frame = walker.frame
    close = frame.source.closing_bracket(frame.pos) if name == "twocolumn" and walker.peek() == "[" else None
    if close is not None and close < frame.end:
        inside = Range(frame.source, frame.pos + 1, close)
        frame.pos = close + 1
        walker.read_on(inside)


@_command(["newenvironment", "renewenvironment"])
def _new_environment(walker: Walker, call: Range, name: str) -> None:
    named = walker.group()
    walker.optional(), walker.optional()
    body, _ = walker.group(), walker.group()
    if named and body:
        walker.environments.define(named.text.strip(), body.text)


@_command(INPUTS)
def _input(walker: Walker, call: Range, name: str) -> None:
    folders = [walker.mandatory() for _ in range(INPUTS[name])]
    inside = walker.group() or _bare_file_name(walker.frame)
    if name == "InputIfFileExists":
        walker.group(), walker.group()
    if inside is not None:
        folders_named = [found.text.strip() for found in folders if found]
        walker.open_file(call, posixpath.join(*folders_named, inside.text.strip()), name)


def _bare_file_name(frame: Frame) -> Range | None:
    match = _FILE_NAME.match(frame.source.text, frame.pos, frame.end)
    if match is None:
        return None
    frame.pos = match.end()
    return Range(frame.source, match.start(), match.end())


@_command(["usepackage", "RequirePackage"])
def _package(walker: Walker, call: Range, name: str) -> None:
    walker.optional()
    inside = walker.group()
    walker.optional()
    if not walker.page.live:
        for package in reversed(inside.text.split(",") if inside else []):
            walker.open_file(call, package.strip(), name, ".sty")


@_command(["endinput"])
def _end_input(walker: Walker, call: Range, name: str) -> None:
    for frame in reversed(walker.frames):
        frame.pos = frame.end
        if frame.name.startswith("/"):
            break
