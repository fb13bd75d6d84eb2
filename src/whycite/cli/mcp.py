"""`whycite mcp`: tools for assistants."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import LibraryPath
from whycite.errors import MissingExtra

__all__ = ["mcp"]


def mcp(
    write: Annotated[
        bool, typer.Option("--write", help="Let the assistant insert citations into drafts; otherwise it only reads.")
    ] = False,
    max_tokens: Annotated[
        int, typer.Option(metavar="N", min=500, max=100_000, help="Longest answer in tokens, roughly.")
    ] = 2_000,
    http: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Serve HTTP on this port of this machine, not stdio."),
    ] = None,
    library: LibraryPath = None,
) -> None:
    """Give an assistant your library: tools that cite, check, verify, find sources and read (MCP)."""
    if find_spec("mcp") is None:
        raise MissingExtra("The server for assistants", "mcp")
    from whycite.mcp.tools import McpSettings, run

    settings = McpSettings(Path(library).expanduser() if library else None, write, max_tokens)
    run(settings, *(("127.0.0.1", http) if http else ()))
