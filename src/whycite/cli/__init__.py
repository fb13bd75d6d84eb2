"""The command line: one small file a command, heavy imports inside the command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from whycite.cli.demo import demo
from whycite.cli.read import read
from whycite.cli.structure import structure
from whycite.errors import MissingExtra, UserError

__all__ = ["app", "main"]

app = typer.Typer(
    name="whycite",
    help="Know what to cite, where, and why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(read)
app.command()(structure)


def _version(wanted: bool) -> None:
    if wanted:
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
    try:
        app()
    except (UserError, MissingExtra) as error:
        print(f"whycite: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("whycite: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has enough of it; say no more, not even while Python closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
