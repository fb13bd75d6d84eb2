"""The command line: a module per command or pair of commands, which imports what is slow to load only when it runs."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, NoReturn

import typer

from whycite.cli.terminal import CommandGroup, HelpGroup, Interruption, printable, usage_message
from whycite.errors import MissingExtra, UserError
from whycite.files import shorten_paths

__all__ = ["app", "main"]

_WrongUse: Any = typer.BadParameter.__mro__[2]  # Typer's base class for usage errors

_LOG = logging.getLogger("whycite")


_ENTRY_POINTS = "whycite.commands"
# The built-in commands in the order of the help page: the function or group of each, and its line there.
_BUILT_IN = {
    "demo": ("whycite.cli.demo:demo", "Try whycite on 122 open-access articles."),
    "add": ("whycite.cli.add:add", "Add papers to your library."),
    "fetch": ("whycite.cli.fetch:fetch", "Download freely available full texts."),
    "cite": ("whycite.cli.cite:cite", "Find papers to cite for a claim."),
    "check": ("whycite.cli.check:check", "Find sentences in a draft that need a citation."),
    "verify": ("whycite.cli.verify:verify", "Check whether cited papers back your claims."),
    "references": (
        "whycite.cli.references:references", "Check whether references are real, right and not retracted."
    ),
    "worth": ("whycite.cli.worth:worth", "Score how likely sentences are to need a citation."),
    "trust": ("whycite.cli.library:trust", "Trust folders that files from elsewhere name."),
    "serve": ("whycite.cli.serve:serve", "Start the web application."),
    "lsp": ("whycite.cli.serve:lsp", "Start the language server for editors."),
    "mcp": ("whycite.cli.serve:mcp", "Give an assistant your library."),
    "read": ("whycite.cli.read:read", "Show how whycite reads a document."),
    "structure": ("whycite.cli.structure:structure", "Show the section structure of documents."),
    "library": ("whycite.cli.library:app", "Show and manage your library."),
    "retractions": ("whycite.cli.references:retractions", "Know which papers were retracted."),
}  # fmt: skip


class _Commands(HelpGroup):
    """The built-in commands, and those that the laboratory and other packages add through entry points.

    Each is imported when it is asked for: to make all of them takes as long as everything else at the start.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: dict[str, Any] = {**dict.fromkeys(_BUILT_IN), **self.commands}  # names, for "did you mean"

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands, *(entry.name for entry in entry_points(group=_ENTRY_POINTS))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if command := self.commands.get(cmd_name):
            return command
        if cmd_name in _BUILT_IN:
            value, short_help = _BUILT_IN[cmd_name]
            command = _make_command(EntryPoint(cmd_name, value, _ENTRY_POINTS))
            command.short_help = short_help
            return command
        for entry in entry_points(group=_ENTRY_POINTS, name=cmd_name):
            try:
                return _make_command(entry)
            except Exception as error:  # noqa: BLE001 - a broken plug-in must not break the other commands
                _LOG.warning("cannot load the command '%s' (%s): %s", entry.name, entry.value, error)
                return None
        return None


@cache
def _make_command(entry: EntryPoint) -> Any:
    target = entry.load()
    if not isinstance(target, typer.Typer):
        function, target = target, CommandGroup()
        target.command(entry.name)(function)
    command: Any = typer.main.get_command(target)
    command.name = entry.name
    return command


app = CommandGroup(cls=_Commands, name="whycite", no_args_is_help=True, pretty_exceptions_enable=False)


def _version(show_version: bool) -> None:
    if show_version:
        from importlib.metadata import version

        print(f"whycite {version('whycite')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Know what to cite, where, and why."""


def main() -> None:
    """Run a command; exits with 0 for success, 1 for findings, and 2 for a mistake that the user can fix."""
    gc.set_threshold(50_000)  # few objects are freed early, so frequent collections only slow down the start
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal has every character
        code = app(prog_name="whycite", standalone_mode=False)
        sys.stdout.flush()
    except (UserError, MissingExtra) as error:
        _exit(2, f"whycite: {shorten_paths(str(error))}")
    except _WrongUse as error:
        if error.ctx and error.message == error.ctx.get_help():  # a command that needs another one was given alone
            _exit(2, error.message)
        _exit(2, f"whycite: {printable(usage_message(error))}")
    except Interruption as error:
        _exit(130, f"whycite: stopped; {error}")
    except (KeyboardInterrupt, typer.Abort):
        _exit(130, "whycite: stopped")
    except BrokenPipeError:  # the reader of our output has closed it
        _exit(141)
    except OSError as error:
        _exit(2, f"whycite: {error.strerror or error}")
    if code == 130:  # how typer reports Ctrl-C
        _exit(130, "whycite: stopped")
    sys.exit(code if isinstance(code, int) else 0)


def _exit(code: int, message: str = "") -> NoReturn:
    """Exit with a message; Python must not complain again when it closes a broken standard output."""
    if message:
        print(message, file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
