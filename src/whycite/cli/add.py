"""`whycite add`: add papers to the library."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.progress import add_with_progress, resumable_progress
from whycite.cli.terminal import AsJson, LibraryPath, count, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import AddReport, LibraryInfo
    from whycite.sources.items import SourceItem, TakeReport

__all__ = ["AddOptions", "add", "summary", "take_with_progress", "with_path"]

_MAX_SKIPPED = 20  # skipped files to name; --json names all of them
_MAX_WARNINGS = 5  # warnings to show; --json has all of them


def add(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Files, folders or archives of papers; - reads standard input. With --zotero, Zotero's folder.",
            show_default=False,
        ),
    ] = None,
    zotero: Annotated[
        bool, typer.Option("--zotero", help="Add what is new in your Zotero library, and keep its citation keys.")
    ] = False,
    collection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this collection or group of Zotero; repeatable."),
    ] = None,
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
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read and encode with the machines of a Ray cluster, which see the same files; local for one of "
            "processes on this machine.",
        ),
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Add papers to your library, with what they say and what they cite for it.

    Your files are never changed. Adding a paper again does nothing; adding a newer version replaces the old one.
    """
    options = AddOptions(library, jobs, encoder, own_text, ray)
    if zotero and ray is not None:
        raise UserError("--ray cannot be used with --zotero")
    if zotero:
        _add_zotero(paths or [], collection or [], format, options, as_json)
        return
    if collection:
        raise UserError("--collection can only be used with --zotero")
    if not paths:
        raise UserError("give files or folders to add, or --zotero")
    for path in paths:  # fail early, before anything is loaded or added
        if not path:
            raise UserError("an empty path; give files or folders, or . for this folder")
        if path != "-" and "://" not in path and not Path(path).exists():
            raise UserError(f"{path}: no such file or folder")

    with _cluster(options):
        report = _add_paths(paths, format, options)
    _show(report, paths, options, as_json)


@dataclass(frozen=True, slots=True)
class AddOptions:
    """The options that every way to add has."""

    library: str | None
    jobs: int | None
    encoder: str | None
    own_text: bool
    ray: str | None = None


def _cluster(options: AddOptions) -> AbstractContextManager[object]:
    """The connection to a cluster, made before the store is loaded: Ray starts processes."""
    if options.ray is None:
        return nullcontext()
    from whycite.library.cluster import connected

    return connected(options.ray, options.jobs)


def _add_paths(paths: list[str], format: str | None, options: AddOptions) -> AddReport:
    """Add paths; the entries of a bibliography that names its files are added with them."""
    from whycite.sources.bibfiles import bibliography_items
    from whycite.sources.items import merge_reports

    items = {path: bibliography_items(path) for path in dict.fromkeys(paths)} if format is None else {}
    plain = [path for path in paths if not items.get(path)]
    if options.ray is not None and len(plain) < len(paths):
        raise UserError("--ray cannot be used with a bibliography that names its files; add it without")
    reports = []
    if plain:
        reports.append(
            add_with_progress(
                options.library, plain, format, options.jobs, options.encoder, options.own_text, options.ray
            )
        )
    for path, entries in items.items():
        if entries:
            reports.append(take_with_progress(entries, f"{Path(path).resolve()}/", options).added)
    return reduce(merge_reports, reports)


def take_with_progress(items: Sequence[SourceItem], origin: str | None, options: AddOptions) -> TakeReport:
    """Add items of a source with a progress display."""
    from whycite.sources.items import take_items

    with resumable_progress() as tell:
        return take_items(
            options.library,
            items,
            origin,
            jobs=options.jobs,
            encoder=options.encoder,
            progress=tell,
            own_text=options.own_text,
        )


def _add_zotero(
    paths: list[str], collections: list[str], format: str | None, options: AddOptions, as_json: bool
) -> None:
    from rich.console import Console

    from whycite.sources.items import open_library
    from whycite.sources.zotero import read_zotero

    if format is not None:
        raise UserError("--format cannot be used with --zotero")
    if len(paths) > 1:
        raise UserError("--zotero takes one folder, that of Zotero's data")
    items, origin = read_zotero(paths[0] if paths else None, collections)
    if not items:
        raise UserError("Zotero has no items" + (" in this collection" if collections else "") + "; nothing to add")
    report = take_with_progress(items, origin, options)
    library = open_library(options.library)
    if library is None:
        raise UserError(_unreadable_message(report.added, ["Zotero"]))
    info = library.info()
    counts = {name: getattr(report, name) for name in ("items", "unchanged", "with_text", "gone")}
    if as_json:
        print_json(_report_json(report.added) | {"zotero": counts, "library": asdict(info)})
        return
    console = Console(highlight=False)
    changed = report.items - report.unchanged
    say(
        console,
        f"Zotero: {count(report.items, 'item')}, {changed:,} new or changed, {report.with_text:,} of them with text.",
    )
    if report.gone:
        say(
            console,
            f"{count(report.gone, 'item')} gone from Zotero; your library keeps the papers until you remove them.",
        )
    _show_report(report.added, info, console)


def _show(report: AddReport, paths: list[str], options: AddOptions, as_json: bool) -> None:
    from rich.console import Console

    from whycite.library import Library

    read = report.added + report.replaced + report.unchanged > 0
    info = Library.open(options.library).info() if read else None
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
        say(console, printable(shorten_paths(f"skipped {with_path(path, reason)}")))
    if len(report.skipped) > _MAX_SKIPPED:
        say(console, f"skipped {len(report.skipped) - _MAX_SKIPPED:,} more; use --json to list them all")
    warnings = _warnings(report)
    for path, warning in warnings[:_MAX_WARNINGS]:
        say(console, printable(shorten_paths(f"warning: {with_path(path, warning)}")))
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
    return with_path(*report.skipped[0]) + (
        f" ({remaining:,} more could not be read; use --json to list them all)" if remaining else ""
    )


def with_path(path: str, reason: str) -> str:
    """The reason, with the path in front unless it already starts with it."""
    return reason if reason.startswith(path) else f"{path}: {reason}"
