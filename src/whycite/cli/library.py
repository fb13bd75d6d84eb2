"""`whycite library`: what is in the library, and taking care of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.progress import stage_progress, truncate_start
from whycite.cli.terminal import (
    AsJson,
    Interruption,
    LibraryPath,
    count,
    json_line,
    open_output,
    print_json,
    printable,
    say,
    size,
)
from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.library import Library, LibraryDocument

__all__ = ["app"]

app = typer.Typer(rich_markup_mode=None)


class ExportFormat(StrEnum):
    """What an export is written as."""

    ilciter = "ilciter"
    trec = "trec"


@app.callback(invoke_without_command=True)
def _library(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Show what is in your library; remove documents from it, compact it, export it, move it to another encoder."""
    context.obj = library
    if context.invoked_subcommand is None:
        info(context, library, as_json)


@app.command(short_help="Show how much is in the library, and where it is.")
def info(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Show how much is in the library, and where it is."""
    from rich.console import Console

    library_info = _open_library(context, library).info()
    if as_json:
        print_json(asdict(library_info))
        return
    console = Console(highlight=False)
    rows = {
        "library": library_info.path,
        "documents": f"{library_info.documents:,}",
        "papers": f"{library_info.papers:,}",
        "spans": f"{library_info.spans:,}",
        "citations": f"{library_info.citations:,}",
        "size": size(library_info.bytes),
        "encoder": library_info.encoder,
        "changed": library_info.changed,
    }
    for name, value in rows.items():
        say(console, printable(f"{name:<11}{value}"))


@app.command("list", short_help="List the documents.")
def list_(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """List the documents, a line each: year, title and path on a terminal.

    For a file or another program the columns are id, key, year, title and path, with tabs between them.
    """
    from rich.console import Console

    console = Console(highlight=False)
    for entry in sorted(_open_library(context, library).documents(), key=lambda entry: _path_sort_key(entry.path)):
        if as_json:
            print_json(asdict(entry))
        elif console.is_terminal:
            console.print(_document_line(entry, console.width), markup=False, soft_wrap=True)
        else:
            year = "" if entry.year is None else str(entry.year)
            print("\t".join(map(printable, (str(entry.id), entry.key, year, entry.title, entry.path))))


@app.command(short_help="Remove documents.")
def remove(
    context: typer.Context,
    documents: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT", help="Paths of documents; or keys or ids, which list --json shows."),
    ],
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Remove documents with everything that only they brought; your files are left alone."""
    from rich.console import Console

    from whycite import library as libraries

    removed_documents = libraries.remove(library or context.obj, documents)
    if as_json:
        print_json({"removed": [asdict(entry) for entry in removed_documents]})
        return
    console = Console(highlight=False)
    for entry in removed_documents:
        say(console, printable(f"removed {entry.title or entry.key or '(no title)'} ({entry.path})"))
    say(console, f"{count(len(removed_documents), 'document')} removed.")


@app.command(short_help="Give back space and speed.")
def compact(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Rewrite the library without what is no longer used, and index all of it."""
    from rich.console import Console

    from whycite import library as libraries

    old_size, new_size = libraries.compact(library or context.obj)
    if as_json:
        print_json({"before": old_size, "after": new_size})
    else:
        # What was packed is written anew, and what it was before is kept for readers for a while.
        later = "; the state before, which others may still be reading, goes later" if new_size > old_size else ""
        say(Console(highlight=False), f"{size(old_size)} before, {size(new_size)} now{later}.")


@app.command(short_help="Move the library to another encoder.")
def reindex(
    context: typer.Context,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="A name, or the folder of one; by default the bundled encoder.")
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Make all vectors anew with another encoder; what is stopped goes on where it was when it is run again."""
    from rich.console import Console

    from whycite.library import maintenance

    encoded_count, total = 0, 0

    def tell(stage: str, texts: int, text_total: int | None) -> None:
        nonlocal encoded_count, total
        encoded_count, total = texts, text_total or 0
        watch(stage, texts, text_total)

    try:
        with stage_progress(Console(stderr=True, highlight=False)) as watch:
            reindexing_report = maintenance.reindex(library or context.obj, encoder=encoder, progress=tell)
    except KeyboardInterrupt:
        if not total:
            raise
        raise Interruption(
            f"{encoded_count:,} of {count(total, 'text')} encoded and kept, run it again to go on"
        ) from None
    if as_json:
        print_json(asdict(reindexing_report))
    elif reindexing_report.before == reindexing_report.encoder:
        say(Console(highlight=False), f"Nothing to do: the library's encoder is {reindexing_report.encoder}.")
    else:
        counts = f"{count(reindexing_report.spans, 'evidence span')} and {count(reindexing_report.papers, 'paper')}"
        say(
            Console(highlight=False),
            f"{counts} encoded by {reindexing_report.encoder} in {reindexing_report.seconds:.1f} s.",
        )


@app.command(short_help="Write all evidence spans for other programs.")
def export(
    context: typer.Context,
    format: Annotated[
        ExportFormat, typer.Option(help="ILCiteR's form (JSON Lines), or TREC documents.")
    ] = ExportFormat.ilciter,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Write every evidence span of the library, with the papers it cites and how often."""
    from rich.console import Console

    from whycite import library as libraries

    if as_json and output is None and format is not ExportFormat.ilciter:
        raise UserError("TREC documents are no JSON; with -o FILE, --json tells what was written to it")
    opened = _open_library(context, library)
    lines: Iterable[bytes]
    if format is ExportFormat.ilciter:
        lines = map(json_line, libraries.export_ilciter(opened))
    else:
        lines = (text.encode("utf-8", "replace") for text in libraries.export_trec(opened))
    spans = 0
    with open_output(output) as file:
        for line in lines:
            file.write(line)
            spans += 1
    if output is not None:
        if as_json:
            print_json({"path": output, "format": format.value, "spans": spans})
        else:
            say(Console(highlight=False), printable(f"{count(spans, 'span')} written to {output}"))


def _open_library(context: typer.Context, library: str | None) -> Library:
    """The library named here, or before the name of the command."""
    from whycite.library import Library

    return Library.open(library or context.obj)


def _path_sort_key(path: str) -> str:
    """What paths are sorted by so that the second record of a file comes before the tenth."""
    return re.sub("[0-9]+", lambda number: number[0].zfill(20), path)


def _document_line(entry: LibraryDocument, width: int) -> str:
    """A document in a line of a terminal."""
    room = max(width - 8, 20)
    path = truncate_start(printable(entry.path), room // 3)
    title = _truncate_end(printable(entry.title or entry.key or "(no title)"), room - len(path))
    return f"{entry.year or '':>4}  {title:<{room - len(path)}}  {path}"


def _truncate_end(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
