"""`whycite lsp`: the language server for editors."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import LibraryPath
from whycite.errors import MissingExtra

__all__ = ["lsp"]


def lsp(
    tcp: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Listen on this port of this machine, not on stdio."),
    ] = None,
    library: LibraryPath = None,
) -> None:
    """Start the language server, which shows findings and completes citations in your editor."""
    if find_spec("pygls") is None:
        raise MissingExtra("The language server", "lsp")
    from whycite.lsp.features import LspSettings, create

    server = create(LspSettings(Path(library).expanduser() if library else None))
    if tcp:
        print(f"whycite: listening on 127.0.0.1:{tcp}", file=sys.stderr, flush=True)
        server.start_tcp("127.0.0.1", tcp)
    else:
        output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # which the server closes
        with redirect_stdout(sys.stderr):  # what else is printed is not part of the protocol
            server.start_io(stdout=output)
