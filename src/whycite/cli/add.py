"""`whycite add`: put papers into the library."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.options import AsJson, LibraryPath
from whycite.cli.progress import add_shown
from whycite.cli.terminal import count, print_json, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import Info, Report

__all__ = ["add", "summary"]

_SHOWN = 20  # skipped files that are named; --json names all


def add(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Papers: files, folders, archives, or - for standard input.")
    ],
    format: Annotated[str | None, typer.Option(help="Read every paper as this format.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes that find evidence; by default one a core.")
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Add papers to your library: what they say, and what they cite for it.

    Your files are only read. Adding a paper again changes nothing; adding a newer version of it replaces the old one.
    """
    for path in paths:  # before anything is loaded or added
        if path != "-" and "://" not in path and not Path(path).exists():
            raise UserError(f"{path}: no such file or folder")

    from rich.console import Console

    from whycite.library import Library

    report = add_shown(library, paths, format, jobs)
    read = report.added + report.replaced + report.unchanged > 0
    info = Library.open(library).info() if read else None
    if as_json:
        skipped = [{"path": path, "reason": reason} for path, reason in report.skipped]
        print_json(asdict(report) | {"skipped": skipped, "library": asdict(info) if info else None})
    if info is None:
        raise UserError(_nothing(report, paths))
    if not as_json:
        _show(report, info, Console(highlight=False))


def _show(report: Report, info: Info, console: Console) -> None:
    for path, reason in report.skipped[:_SHOWN]:
        say(console, printable(f"skipped {_named(path, reason)}"))
    if len(report.skipped) > _SHOWN:
        say(console, f"skipped {len(report.skipped) - _SHOWN:,} more; --json names them all")
    say(console, summary(report, info))


def summary(report: Report, info: Info) -> str:
    """What was done and what there is now, in a line."""
    done = f"{report.added:,} added, {report.unchanged:,} unchanged, {report.replaced:,} replaced"
    warnings = f", {count(report.warnings, 'warning')}" if report.warnings else ""
    holds = f"{count(info.documents, 'document')}, {count(info.papers, 'paper')}, {count(info.spans, 'evidence span')}"
    return f"{done}, {len(report.skipped):,} skipped{warnings} in {report.seconds:.1f} s; the library has {holds}."


def _nothing(report: Report, paths: list[str]) -> str:
    if not report.skipped:
        return f"{', '.join(paths)}: holds no document that whycite can read"
    more = len(report.skipped) - 1
    return _named(*report.skipped[0]) + (f"; nor can {more:,} more be read; --json names them all" if more else "")


def _named(path: str, reason: str) -> str:
    """The reason with the path before it, once."""
    return reason if reason.startswith(path) else f"{path}: {reason}"
