"""`whycite add`: add papers to the library."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.progress import add_with_progress
from whycite.cli.terminal import AsJson, LibraryPath, count, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import AddReport, LibraryInfo

__all__ = ["add", "summary"]

_MAX_SKIPPED = 20  # skipped files to name; --json names all of them
_MAX_WARNINGS = 5  # warnings to show; --json has all of them


def add(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders or archives of papers; - reads standard input."),
    ],
    format: Annotated[str | None, typer.Option(help="Format of the papers, if it is not recognised.")] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of processes; one per core by default.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoder for a new library: a name or a folder.")
    ] = None,
    own_text: Annotated[
        bool,
        typer.Option(
            "--own-text/--no-own-text", help="Also search what the papers say in their own words; takes more room."
        ),
    ] = True,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Add papers to your library, with what they say and what they cite for it.

    Your files are never changed. Adding a paper again does nothing; adding a newer version replaces the old one.
    """
    for path in paths:  # fail early, before anything is loaded or added
        if path != "-" and "://" not in path and not Path(path).exists():
            raise UserError(f"{path}: no such file or folder")

    from rich.console import Console

    from whycite.library import Library

    report = add_with_progress(library, paths, format, jobs, encoder, own_text)
    read = report.added + report.replaced + report.unchanged > 0
    info = Library.open(library).info() if read else None
    if as_json:
        print_json(_report_json(report) | {"library": asdict(info) if info else None})
    if info is None:
        raise UserError(_unreadable_message(report, paths))
    if not as_json:
        _show_report(report, info, Console(highlight=False))


def _report_json(report: AddReport) -> dict[str, Any]:
    return asdict(report) | {
        "skipped": [{"path": path, "reason": reason} for path, reason in report.skipped],
        "warnings": [{"path": path, "warning": warning} for path, warning in report.warnings],
    }


def _show_report(report: AddReport, info: LibraryInfo, console: Console) -> None:
    for path, reason in report.skipped[:_MAX_SKIPPED]:
        say(console, printable(shorten_paths(f"skipped {_with_path(path, reason)}")))
    if len(report.skipped) > _MAX_SKIPPED:
        say(console, f"skipped {len(report.skipped) - _MAX_SKIPPED:,} more; use --json to list them all")
    warnings = _warnings(report)
    for path, warning in warnings[:_MAX_WARNINGS]:
        say(console, printable(shorten_paths(f"warning: {_with_path(path, warning)}")))
    if len(warnings) > _MAX_WARNINGS:
        say(console, f"{count(len(warnings) - _MAX_WARNINGS, 'more warning')}; use --json to see them all")
    say(console, summary(report, info))


def summary(report: AddReport, info: LibraryInfo) -> str:
    """One line on what was added and what the library now contains."""
    counts = f"{report.added:,} added, {report.unchanged:,} unchanged, {report.replaced:,} replaced"
    warning_count = len(_warnings(report))
    warnings = f", {count(warning_count, 'warning')}" if warning_count else ""
    uncited = count(report.without_citations, "document")
    nothing = f"; found no citations in {uncited}" if report.without_citations else ""
    holds = f"{count(info.documents, 'document')}, {count(info.papers, 'paper')}, {count(info.spans, 'evidence span')}"
    counts += f", {len(report.skipped):,} skipped{warnings} in {report.seconds:.1f} s{nothing}"
    return f"{counts}; your library now has {holds}."


def _warnings(report: AddReport) -> list[tuple[str, str]]:
    """The warnings, without the reasons why documents were skipped."""
    reasons = set(report.skipped)
    return [warning for warning in report.warnings if warning not in reasons]


def _unreadable_message(report: AddReport, paths: list[str]) -> str:
    if not report.skipped:
        return f"{', '.join(paths)}: contains no document that whycite can read"
    remaining = len(report.skipped) - 1
    return _with_path(*report.skipped[0]) + (
        f" ({remaining:,} more could not be read; use --json to list them all)" if remaining else ""
    )


def _with_path(path: str, reason: str) -> str:
    """The reason, with the path in front unless it already starts with it."""
    return reason if reason.startswith(path) else f"{path}: {reason}"
