"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AsJson", "LibraryPath"]

LibraryPath = Annotated[
    str | None,
    typer.Option(
        "--library", metavar="PATH", help="Your library, if not $WHYCITE_LIBRARY or the one in your data folder."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
