"""The command line: a module per command or pair of commands, which imports what is slow to load only when it runs."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
from importlib.metadata import entry_points
from typing import Annotated, Any, NoReturn

import typer

from whycite.cli import library
from whycite.cli.add import add
from whycite.cli.check import check
from whycite.cli.cite import cite
from whycite.cli.demo import demo
from whycite.cli.fetch import fetch
from whycite.cli.library import trust
from whycite.cli.read import read
from whycite.cli.references import references, retractions
from whycite.cli.serve import lsp, mcp, serve
from whycite.cli.structure import structure
from whycite.cli.terminal import CommandGroup, HelpGroup, Interruption, printable, usage_message
from whycite.cli.verify import verify
from whycite.cli.worth import worth
from whycite.errors import MissingExtra, UserError
from whycite.files import shorten_paths

__all__ = ["app", "main"]

_WrongUse: Any = typer.BadParameter.__mro__[2]  # Typer's base class for usage errors

_LOG = logging.getLogger("whycite")


class _Commands(HelpGroup):
    """The built-in commands, and those that the laboratory and other packages add through entry points."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands, *(entry.name for entry in entry_points(group="whycite.commands"))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        for entry in entry_points(group="whycite.commands", name=cmd_name):
            try:
                command = typer.main.get_command(entry.load())
            except Exception as error:  # noqa: BLE001 - a broken plug-in must not break the other commands
                _LOG.warning("cannot load the command '%s' (%s): %s", entry.name, entry.value, error)
                return None
            command.name = cmd_name
            return command
        return None


app = CommandGroup(cls=_Commands, name="whycite", no_args_is_help=True, pretty_exceptions_enable=False)
app.command(short_help="Try whycite on 122 open-access articles.")(demo)
app.command(short_help="Add papers to your library.")(add)
app.command(short_help="Download freely available full texts.")(fetch)
app.command(short_help="Find papers to cite for a claim.")(cite)
app.command(short_help="Find sentences in a draft that need a citation.")(check)
app.command(short_help="Check whether cited papers back your claims.")(verify)
app.command(short_help="Check whether references are real, right and not retracted.")(references)
app.command(short_help="Score how likely sentences are to need a citation.")(worth)
app.add_typer(library.app, name="library", short_help="Show and manage your library.")
app.add_typer(retractions, name="retractions", short_help="Know which papers were retracted.")
app.command(short_help="Trust folders that files from elsewhere name.")(trust)
app.command(short_help="Start the web application.")(serve)
app.command(short_help="Start the language server for editors.")(lsp)
app.command(short_help="Give an assistant your library.")(mcp)
app.command(short_help="Show how whycite reads a document.")(read)
app.command(short_help="Show the section structure of documents.")(structure)


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
