"""The command line: one small file a command, heavy imports inside the command."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
from importlib.metadata import entry_points
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from whycite.cli import library
from whycite.cli.add import add
from whycite.cli.check import check
from whycite.cli.cite import cite
from whycite.cli.demo import demo
from whycite.cli.read import read
from whycite.cli.serve import serve
from whycite.cli.structure import structure
from whycite.cli.terminal import Interruption
from whycite.cli.verify import verify
from whycite.cli.worth import worth
from whycite.errors import MissingExtra, UserError

__all__ = ["app", "main"]

_WrongUse: Any = typer.BadParameter.__mro__[2]  # what typer calls every wrong use of the command line

_LOG = logging.getLogger("whycite")


class _Commands(TyperGroup):
    """The commands of the product, and those that entry points add: the laboratory's, and other packages'."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands, *(entry.name for entry in entry_points(group="whycite.commands"))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        for entry in entry_points(group="whycite.commands", name=cmd_name):
            try:
                command = typer.main.get_command(entry.load())
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one plug-in, the other commands work
                _LOG.warning("the command '%s' (%s) cannot be loaded: %s", entry.name, entry.value, error)
                return None
            command.name = cmd_name
            return command
        return None


app = typer.Typer(
    name="whycite",
    cls=_Commands,
    help="Know what to cite, where, and why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(short_help="See it work on 122 articles.")(demo)
app.command(short_help="Add papers to your library.")(add)
app.command(short_help="Find what a claim should cite, and why.")(cite)
app.command(short_help="Find where a draft lacks a citation.")(check)
app.command(short_help="Find whether a cited paper says so.")(verify)
app.command(short_help="Tell how much sentences need a citation.")(worth)
app.add_typer(library.app, name="library", short_help="Show, remove, compact, export or reindex what is in it.")
app.command(short_help="Open the web application.")(serve)
app.command(short_help="Show what whycite sees of a document.")(read)
app.command(short_help="Show section structure; learn headings.")(structure)


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
    """Run a command: exit 0 fine, 1 findings, 2 a user's mistake told in one sentence."""
    gc.set_threshold(50_000)  # a command makes much that stays, and looking through it took a tenth of its start
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to stop
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except (UserError, MissingExtra) as error:
        _exit(2, f"whycite: {error}")
    except _WrongUse as error:
        error.show()
        _exit(2)
    except Interruption as error:
        _exit(130, f"whycite: stopped; {error}")
    except (KeyboardInterrupt, typer.Abort):
        _exit(130, "whycite: stopped")
    except BrokenPipeError:  # whoever read our output has enough of it
        _exit(141)
    except OSError as error:
        _exit(2, f"whycite: {error.strerror or error}")
    if code == 130:  # what typer makes of Ctrl-C
        _exit(130, "whycite: stopped")
    sys.exit(code if isinstance(code, int) else 0)


def _exit(code: int, message: str = "") -> NoReturn:
    """Say why and go, without a second complaint while Python closes what cannot be written."""
    if message:
        print(message, file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
