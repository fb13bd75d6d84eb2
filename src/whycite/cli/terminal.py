"""Shared by all commands: printing text and JSON, output files, common options, help in the style of ruff and uv."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from whycite.errors import UserError
from whycite.files import atomic_write

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "AsJson",
    "CommandGroup",
    "HelpCommand",
    "HelpGroup",
    "Interruption",
    "LibraryPath",
    "confirm_changes",
    "count",
    "draft_errors",
    "escape_markup",
    "given_options",
    "json_line",
    "open_output",
    "print_json",
    "printable",
    "refuse_options",
    "say",
    "size",
    "usage_message",
]


DRAFT_FORMATS = "LaTeX, Markdown, Typst, .docx, .odt or plain text"


def printable(text: str) -> str:
    """Text without control codes, so that a document cannot move the cursor or change colours."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def escape_markup(text: str) -> str:
    """Printable text in which rich does not take brackets for markup."""
    from rich.markup import escape

    return escape(printable(text))


def count(number: int, noun: str) -> str:
    """ "1 section", "2 sections"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """A number of bytes in readable units: "812 bytes", "3.4 MB"."""
    if number < 1000:
        return count(number, "byte")
    amount, unit = number / 1e3, "kB"
    for larger in ("MB", "GB", "TB"):
        if amount < 999.95:
            break
        amount, unit = amount / 1e3, larger
    return f"{amount:.1f} {unit}"


def say(console: Console, text: Text | str, indent: int = 0, mark: str = "") -> None:
    """Print a line, wrapped only on a terminal; `mark` is printed inside the indent."""
    from rich.table import Table
    from rich.text import Text

    line = Text(text) if isinstance(text, str) else text
    if console.is_terminal and indent:
        row = Table.grid()
        row.add_column(width=indent)
        row.add_column(overflow="fold")
        row.add_row(Text(mark), line)
        console.print(row)
    else:
        console.print(Text(mark.ljust(indent)) + line, soft_wrap=not console.is_terminal)


def confirm_changes(console: Console) -> bool:
    """Ask whether to write the changes that were shown."""
    if not sys.stdin.isatty():
        raise UserError("cannot ask for confirmation without a terminal; use --yes to write these changes")
    console.print("Write these changes? [y/N] ", end="", markup=False)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def json_line(content: Mapping[str, Any]) -> bytes:
    """A line of JSON in UTF-8; text that UTF-8 cannot encode (lone surrogates) is escaped."""
    try:
        return (json.dumps(content, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(content) + "\n").encode()


def print_json(content: Mapping[str, Any]) -> None:
    """Print a line of JSON."""
    sys.stdout.buffer.write(json_line(content))


@contextmanager
def draft_errors() -> Iterator[None]:
    """Name the formats of drafts in an error about an unknown one, where --format is that of the output."""
    from whycite.documents.reading import FORMAT_HINT

    try:
        yield
    except UserError as error:
        message = str(error)
        raise UserError(message.replace(FORMAT_HINT, f"; drafts are {DRAFT_FORMATS}")) from error


@contextmanager
def open_output(path: str | None) -> Iterator[IO[bytes]]:
    """Open a file, or standard output for None and "-"; a file is replaced only once all is written."""
    if path is None or path == "-":
        yield sys.stdout.buffer
        return
    with atomic_write(path) as file:
        yield file


def _local_library(path: str | None) -> str | None:
    """The library's folder; that of a copy if the library is in object storage."""
    from whycite.library.paths import local_path, remote_address

    return path if path is None or remote_address(path) is None else str(local_path(path))


LibraryPath = Annotated[
    str | None,
    typer.Option(
        "--library",
        metavar="PATH",
        callback=_local_library,
        help="Library folder, or s3://… to read a published one; can also be set with $WHYCITE_LIBRARY.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Interruption(Exception):
    """The user stopped a command; the message says what was finished."""


# What Typer says of wrong options and arguments, and how we say it.
_USAGE_WORDINGS = [
    (re.compile(r"Invalid value for '([^']+)': (?:Value error, )?"), r"\1: "),
    (re.compile(r"Input should be less than or equal to "), "must be at most "),
    (re.compile(r"Input should be greater than or equal to "), "must be at least "),
    (re.compile(r"Input should be a valid integer.*"), "must be a whole number"),
    (re.compile(r"Input should be a valid number.*"), "must be a number"),
    (re.compile(r"Missing \w+ '([^'.]+)\.*'"), r"\1 is missing"),
    (re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)"), r"unexpected argument: \1"),
    (re.compile(r"Option '([^']+)' requires an argument"), r"\1 needs a value"),
    (re.compile(r"No such (option|command)"), r"no such \1"),
    (re.compile(r" \(Possible options: (.*)\)"), r"; did you mean \1?"),
    (re.compile(r"\. Did you mean (.*)"), r"; did you mean \1"),
]


def usage_message(error: Any) -> str:
    """What is wrong with an option or an argument, in one sentence, and where to read about it."""
    message: str = error.format_message()
    for wording, replacement in _USAGE_WORDINGS:
        message = wording.sub(replacement, message)
    if " is not one of " in message:
        message = re.sub(r"(?<= is not one of ).*", lambda names: names[0].replace("'", ""), message)
    message = message.rstrip(".")
    if not error.ctx:
        return message
    return f"{message}{' See' if message.endswith('?') else '; see'} {error.ctx.command_path} --help"


def refuse_options(ctx: typer.Context, names: Sequence[str], reason: str) -> None:
    """Raise an error if the user gave an option that is not used for a reason, such as another option."""
    for name in names:
        if _is_given(ctx, name):
            parameter = next(parameter for parameter in ctx.command.params if parameter.name == name)
            raise UserError(f"{parameter.opts[0]} is not used with {reason}; leave it out")


def given_options(ctx: typer.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values whose options the user gave."""
    return {name: value for name, value in values.items() if _is_given(ctx, name)}


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


Command = TypeVar("Command", bound=Callable[..., Any])


class HelpCommand(TyperCommand):
    """A command whose usage line reads `whycite check [OPTIONS] DRAFT...`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line after the command's name."""
        return ["[OPTIONS]", *(_usage_name(argument) for argument in _parameters(self, ctx, "argument"))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections "Arguments" and "Options"."""
        _write_parameters(self, ctx, formatter)


class HelpGroup(TyperGroup):
    """A group of commands whose help page looks like that of a command."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections "Options" and "Commands"."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)


class CommandGroup(typer.Typer):
    """A Typer application with our help pages; other arguments are Typer's."""

    def __init__(self, *, cls: type[TyperGroup] = HelpGroup, **settings: Any) -> None:
        super().__init__(cls=cls, add_completion=False, rich_markup_mode=None, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Register a function as a command."""
        return super().command(name, cls=HelpCommand, **settings)


def _parameters(command: Any, ctx: Any, kind: str) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == kind and not param.hidden]


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        if parameters := _parameters(command, ctx, kind):
            with formatter.section(title):
                formatter.write_dl([(_heading(param), _description(param, ctx)) for param in parameters])


def _usage_name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _heading(param: Any) -> str:
    if param.param_type_name == "argument":
        return _usage_name(param)
    names = "/".join([", ".join(sorted(param.opts, key=len)), *param.secondary_opts])
    return names if param.is_flag else f"{names} {param.metavar or param.name.upper().replace('_', '-')}"


def _description(param: Any, ctx: Any) -> str:
    """The help text, and the default where it says something."""
    default = param.get_default(ctx)
    if param.required and param.param_type_name == "option":
        note = "  [required]"
    elif default is None or default == "" or isinstance(default, (bool, list, tuple)) or param.is_eager:
        note = ""
    else:
        note = f"  [default: {getattr(default, 'value', default)}]"
    return f"{param.help or ''}{note}"
