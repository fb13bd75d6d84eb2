"""`whycite trust`: name folders that files from elsewhere may refer to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import AsJson, print_json, printable, say
from whycite.errors import UserError

__all__ = ["trust"]


def trust(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER...", help="Folders with a library, models or projects.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Stop trusting these folders.")] = False,
    as_json: AsJson = False,
) -> None:
    """Trust folders that a library or a project from elsewhere names; without a folder, list those you trust.

    A library may need an encoder from a folder, and the .whycite.toml of a project may name a library outside it. Such
    folders are opened only if you named them yourself.
    """
    from rich.console import Console

    from whycite import consent

    if remove and not folders:
        raise UserError("--remove needs the folders to trust no longer; list them with: whycite trust")
    for name in folders or ():
        folder = Path(name)
        if remove:
            consent.distrust(folder)
        elif not name or not folder.expanduser().is_dir():
            raise UserError(f"{name or 'an empty path'}: no such folder")
        else:
            consent.trust(folder)
    trusted = [str(folder) for folder in consent.trusted_folders()]
    if as_json:
        print_json({"folders": trusted})
        return
    for path in trusted:
        say(Console(highlight=False), printable(path))
    if not trusted:
        say(Console(highlight=False), "You trust no folders yet.")
