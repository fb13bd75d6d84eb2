"""What each LaTeX command does to the text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from whycite.documents.builder import Prose
from whycite.documents.latex.commands import CROSS_REFERENCES, INPUTS, SECTIONS, WRITER_NOTES, is_textual, read_citation
from whycite.documents.latex.cursor import MAX_VERB, LatexFrame, LatexRange
from whycite.documents.latex.formulas import QUANTITIES, unit_text
from whycite.documents.latex.macros import DEFINERS, MacroParameter, read_definition
from whycite.documents.references import bbl
from whycite.text.accents import untex

if TYPE_CHECKING:
    from whycite.documents.latex.walker import LatexWalker

__all__ = ["HANDLERS", "cite", "read_printed_references"]

Handler = Callable[["LatexWalker", LatexRange, str], None]
HANDLERS: dict[str, Handler] = {}
PLACEHOLDER = "REF"  # for the number of a figure, table or section
# Macros that look at what comes next: expanding them would print both alternatives.
_LOOKAHEAD = re.compile(r"\\(?:@ifnextchar|@ifstar|futurelet|kernel@ifnextchar)")
_END_OF_LIST = re.compile(r"\\endthebibliography|\\end\s*\{(?:document|thebibliography)\}|\\appendix")
_LENGTH = re.compile(
    r"\s*+(?:=\s*+)?-?(?:[\d.]*\s*\\[A-Za-z]+|[\d.]+\s*(?:true)?[a-z]{2})(?:\s+(?:plus|minus)\s+[\d.]+\s*[a-z]{2,5})*"
)
_END_COMMAND = re.compile(r"\\end\s*\{([^{}\\\n]{1,60})\}")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FILE_NAME = re.compile(r"[^\s{}\\%]+")


def _command(names: Iterable[str]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


@_command(["begin"])
def _begin(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.environments.begin(call)


@_command(["end"])
def _end(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.environments.end(call)


@_command(["par"])
def _par(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.page.flush()


@_command(["tabularnewline", "STATE", "State"])
def _row(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.row(call)


# Citations and references


def cite(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """A cite command, known or guessed by its name."""
    keys, marker, ranges = read_citation(walker, name)
    if not ranges:
        return
    spots = [call.source.origin(call.start, call.end)]
    spots += [r.source.origin(r.start, r.end + 1) for r in ranges if r.source.file == call.source.file]
    start, end = min(spot[0] for spot in spots), max(spot[1] for spot in spots)
    walker.page.cite(marker, keys, call.source.file, start, end, textual=is_textual(name))


@_command(["citeproc"])
def _citeproc(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """A citation as Pandoc writes it: the key, then the printed form."""
    key, printed_form = walker.group(), walker.group()
    if key and printed_form:
        start, end = call.source.origin(call.start, walker.call_end(call))
        walker.page.cite(untex(printed_form.text), (key.text.strip(),), call.source.file, start, end)


@_command(CROSS_REFERENCES)
def _reference(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    if walker.group() is not None:
        if name.lower().endswith("range"):
            walker.group()
        walker.page.put(PLACEHOLDER, call.source, call.start, call.end)


@_command(["bibliography", "addbibresource", "addglobalbib"])
def _bibliography(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    if argument := walker.group():
        walker.bibliographies += [part.strip() for part in argument.text.split(",") if part.strip()]


@_command(["thebibliography"])
def _reference_list(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """A reference list begun by a command, not an environment: it runs to the end."""
    frame = walker.frame
    end = _END_OF_LIST.search(frame.source.text, frame.pos, frame.end)
    read_printed_references(walker, frame, end.start() if end else frame.end)


def read_printed_references(walker: LatexWalker, frame: LatexFrame, close: int) -> None:
    """Read a printed reference list, from here to `close`."""
    references, warnings = bbl.parse(frame.source.text[frame.pos : close], frame.source.file)
    walker.references += references
    for warning in warnings:
        walker.builder.warn(warning)
    frame.pos = close


# Structure


@_command(SECTIONS)
def _section(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    if heading := walker.short_group():
        walker.environments.leave_math("the next heading")
        walker.environments.leave_floats()
        walker.page.flush()
        walker.capture(heading, lambda prose: walker.page.add_heading(prose, SECTIONS[name]))


@_command(["title", "Title", "icmltitle", "papertitle"])
def _title(walker: LatexWalker, call: LatexRange, name: str) -> None:
    def set_title(prose: Prose) -> None:
        walker.title = walker.title or prose.text

    walker.optional_argument()
    if title := walker.group():
        walker.capture(title, set_title)


@_command(["date"])
def _date(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """The date of the draft: the last one counts; \\today, or a date with two years, gives no year."""
    walker.optional_argument()
    if date := walker.group():
        years = [] if "\\today" in date.text else _YEAR.findall(date.text)
        walker.year = int(years[0]) if len(years) == 1 else None


@_command(["abstract"])
def _abstract(walker: LatexWalker, call: LatexRange, name: str) -> None:
    abstract = walker.group()
    if abstract is None:
        return
    if walker.page.in_body:
        walker.page.begin_section("Abstract", 0)
        walker.read_on(abstract, walker.page.end_section)
    else:
        walker.capture(abstract, walker.page.keep_abstract)


@_command(["acknowledgments", "acknowledgements"])
def _acknowledgements(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.page.begin_section("Acknowledgements", 0)


@_command(["appendix"])
def _appendix(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.page.begin_appendix()


@_command(["item"])
def _item(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.page.state.prose.break_sentence()
    walker.optional_argument("<")  # the slides that show it
    if label := walker.optional_argument():
        walker.read_on(label, partial(walker.page.put, " ", label.source, label.end, label.end + 1))


# Text outside the running text


@_command(["footnote", "endnote", "sidenote"])
def _note(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    if note := walker.group():
        walker.capture(note, walker.page.add_footnote)


@_command(["footnotemark", "endnotemark", "sidenotemark"])
def _note_mark(walker: LatexWalker, call: LatexRange, name: str) -> None:
    number = walker.optional_argument()
    walker.page.mark_footnote(number.text.strip() if number else "")


@_command(["footnotetext", "endnotetext", "sidenotetext"])
def _note_text(walker: LatexWalker, call: LatexRange, name: str) -> None:
    number = walker.optional_argument()
    if note := walker.group():
        walker.capture(note, lambda prose: walker.page.add_footnote_text(prose, number.text.strip() if number else ""))


@_command(["caption", "captionof", "subcaption"])
def _caption(walker: LatexWalker, call: LatexRange, name: str) -> None:
    if name == "captionof":
        walker.group()
    short_caption = walker.optional_argument()  # the short form, for the list of figures
    if caption := walker.group():
        walker.capture(caption, lambda prose: walker.page.queue_note(prose, "caption"))
    if short_caption:
        walker.capture(short_caption, walker.page.queue_if_citing)


@_command(WRITER_NOTES)
def _todo(walker: LatexWalker, call: LatexRange, name: str) -> None:
    macro = walker.macros.get(name)
    arguments = [
        walker.optional_argument() if parameter.kind == "o" else walker.group()
        for parameter in (macro.parameters if macro else [MacroParameter("o"), MacroParameter("m")])
    ]
    for argument in arguments:
        if argument is not None:
            walker.capture(argument, walker.page.queue_if_citing)


# Text with a syntax of its own


@_command(QUANTITIES)
def _quantity(walker: LatexWalker, call: LatexRange, name: str) -> None:
    spec, form = QUANTITIES[name]
    values = []
    for kind in spec:
        argument = walker.optional_argument() if kind == "o" else walker.group()
        if kind != "o":
            text = argument.text if argument else ""
            values.append(unit_text(text) if kind == "u" else untex(text))
    walker.page.put(form.format(*values).strip(), call.source, call.start, walker.call_end(call))


@_command(["verb", "lstinline", "mintinline"])
def _verb(walker: LatexWalker, call: LatexRange, name: str) -> None:
    if name != "verb":
        walker.optional_argument()
    if name == "mintinline":
        walker.group()
    if walker.peek() == "{" and (code := walker.group()):
        walker.page.put(code.text.replace("\\", ""), code.source, code.start, code.end)
        return
    frame = walker.frame
    frame.pos += walker.peek() == "*"
    text = frame.source.text
    close = text.find(walker.peek() or "\n", frame.pos + 1, min(frame.end, frame.pos + MAX_VERB))
    if close > 0 and frame.pos < frame.end:
        walker.page.put(text[frame.pos + 1 : close].replace("\\", ""), frame.source, frame.pos, close + 1)
        frame.pos = close + 1


@_command(["url", "path", "nolinkurl"])
def _url(walker: LatexWalker, call: LatexRange, name: str) -> None:
    if url := walker.raw_group():
        walker.page.put(url.text, url.source, url.start, url.end)


@_command(["href"])
def _link(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    walker.raw_group()


@_command(["hskip", "vskip", "kern", "mskip"])
def _skip(walker: LatexWalker, call: LatexRange, name: str) -> None:
    frame = walker.frame
    if length := _LENGTH.match(frame.source.text, frame.pos, frame.end):
        frame.pos = length.end()
    walker.page.put(" ", call.source, call.start, call.end)


@_command(["enquote"])
def _quote(walker: LatexWalker, call: LatexRange, name: str) -> None:
    if quotation := walker.group():
        walker.page.put("“", call.source, call.start, call.end)
        walker.read_on(quotation, partial(walker.page.put, "”", quotation.source, quotation.end, quotation.end + 1))


# Definitions and other files


@_command(DEFINERS)
def _define(walker: LatexWalker, call: LatexRange, name: str) -> None:
    macro = read_definition(walker, name)
    if macro is None or _LOOKAHEAD.search(macro.body):
        return
    if call.source.file.endswith(".sty") and f"\\{macro.name}" in macro.body:
        return  # a package that wraps a LaTeX command
    if not name.lower().startswith("provide") or macro.name not in walker.macros:
        walker.macros[macro.name] = macro
        walker.environments_ended_by_macros.update(_END_COMMAND.findall(macro.body))


@_command(["IfBooleanTF", "IfValueTF", "IfNoValueTF", "ifblank", "ifstrempty"])
def _conditional_text(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """Print one of two texts, depending on whether the macro got an argument or a star."""
    argument, first_text, second_text = walker.group(), walker.group(), walker.group()
    is_present = argument is not None and bool(argument.text.strip())
    chosen_text = first_text if is_present == (name in {"IfBooleanTF", "IfValueTF"}) else second_text
    if chosen_text is not None:
        walker.read_on(chosen_text)


@_command(["twocolumn", "only", "onslide", "uncover", "visible", "alert"])
def _spanning(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """Read text across both columns, in brackets; skip slide numbers, in angle brackets."""
    walker.optional_argument("<")
    frame = walker.frame
    close = frame.source.closing_bracket(frame.pos) if name == "twocolumn" and walker.peek() == "[" else None
    if close is not None and close < frame.end:
        text_range = LatexRange(frame.source, frame.pos + 1, close)
        frame.pos = close + 1
        walker.read_on(text_range)


@_command(["newenvironment", "renewenvironment"])
def _new_environment(walker: LatexWalker, call: LatexRange, name: str) -> None:
    environment = walker.group()
    walker.optional_argument(), walker.optional_argument()
    body, _ = walker.group(), walker.group()
    if environment and body:
        walker.environments.define(environment.text.strip(), body.text)


@_command(["lstnewenvironment", "DefineVerbatimEnvironment", "newtcblisting"])
def _new_listing(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    environment = walker.group()
    walker.optional_argument(), walker.optional_argument()
    walker.group(), walker.group()
    if environment:
        walker.environments.define(environment.text.strip(), r"\begin{verbatim}")


@_command(["newminted"])
def _new_minted(walker: LatexWalker, call: LatexRange, name: str) -> None:
    """Define an environment for one language, by default named after it: "pythoncode"."""
    environment = walker.optional_argument()
    language, _ = walker.group(), walker.group()
    if name_range := environment or language:
        walker.environments.define(name_range.text.strip() + ("" if environment else "code"), r"\begin{minted}")


@_command(INPUTS)
def _input(walker: LatexWalker, call: LatexRange, name: str) -> None:
    folders = [walker.mandatory_argument() for _ in range(INPUTS[name])]
    file_name = walker.group() or _bare_file_name(walker.frame)
    if name == "InputIfFileExists":
        walker.group(), walker.group()
    if file_name is not None:
        folder_names = [folder.text.strip() for folder in folders if folder]
        walker.open_file(call, posixpath.join(*folder_names, file_name.text.strip()), name)


def _bare_file_name(frame: LatexFrame) -> LatexRange | None:
    match = _FILE_NAME.match(frame.source.text, frame.pos, frame.end)
    if match is None:
        return None
    frame.pos = match.end()
    return LatexRange(frame.source, match.start(), match.end())


@_command(["usepackage", "RequirePackage"])
def _package(walker: LatexWalker, call: LatexRange, name: str) -> None:
    walker.optional_argument()
    packages = walker.group()
    walker.optional_argument()
    if not walker.page.in_body:
        for package in reversed(packages.text.split(",") if packages else []):
            walker.open_file(call, package.strip(), name, ".sty")


@_command(["endinput"])
def _end_input(walker: LatexWalker, call: LatexRange, name: str) -> None:
    for frame in reversed(walker.frames):
        frame.pos = frame.end
        if frame.name.startswith("/"):
            break
