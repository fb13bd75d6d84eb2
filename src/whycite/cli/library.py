"""`whycite library`: show and manage the library; `whycite trust`: name folders that files from elsewhere may use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.progress import stage_progress, truncate_start
from whycite.cli.terminal import (
    AsJson,
    CommandGroup,
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
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from whycite.library import Inspection, Library, LibraryDocument

__all__ = ["app", "trust"]

app = CommandGroup()


class ExportFormat(StrEnum):
    """Export formats."""

    ilciter = "ilciter"
    trec = "trec"


@app.callback(invoke_without_command=True)
def _library(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Show and manage your library; without a command, the same as `whycite library info`."""
    context.obj = library
    if context.invoked_subcommand is None:
        info(context, library, as_json)


@app.command(short_help="Show the location and size of the library.")
def info(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Show the location, size and encoder of the library."""
    from rich.console import Console

    library_info = _open_library(context, library).info()
    if as_json:
        print_json(asdict(library_info))
        return
    console = Console(highlight=False)
    rows = {
        "library": shorten_paths(library_info.path),
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


@app.command("list", short_help="List the documents in the library.")
def list_(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """List the documents in the library, one per line.

    A terminal shows year, title and path. Redirected output has five columns separated by tabs: id, key, year, title
    and path.
    """
    from rich.console import Console

    console = Console(highlight=False)
    for entry in sorted(_open_library(context, library).documents(), key=lambda entry: _path_sort_key(entry.path)):
        if as_json:
            print_json(asdict(entry))
        elif console.is_terminal:
            style = "red" if entry.status else ""
            console.print(_document_line(entry, console.width), markup=False, soft_wrap=True, style=style)
        else:
            year = "" if entry.year is None else str(entry.year)
            print("\t".join(map(printable, (str(entry.id), entry.key, year, entry.title, entry.path))))


@app.command(short_help="Remove documents from the library.")
def remove(
    context: typer.Context,
    documents: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT...", help="Paths, keys or ids, as shown by `whycite library list --json`."),
    ],
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Remove documents and all evidence that only they provided; your files are not changed."""
    from rich.console import Console

    from whycite import library as libraries

    removed_documents = libraries.remove(library or context.obj, documents)
    if as_json:
        print_json({"removed": [asdict(entry) for entry in removed_documents]})
        return
    console = Console(highlight=False)
    for entry in removed_documents:
        say(console, printable(f"removed {entry.title or entry.key or '(no title)'} ({shorten_paths(entry.path)})"))
    say(console, f"{count(len(removed_documents), 'document')} removed.")


@app.command(short_help="Free disk space and speed up searches.")
def compact(context: typer.Context, library: LibraryPath = None, as_json: AsJson = False) -> None:
    """Free disk space that is no longer used, and index the whole library."""
    from rich.console import Console

    from whycite import library as libraries

    old_size, new_size = libraries.compact(library or context.obj)
    if as_json:
        print_json({"before": old_size, "after": new_size})
    else:
        # Compacting writes new files; the old ones are kept for a while for those who are still reading them.
        later = "; the old files, which may still be in use, are deleted later" if new_size > old_size else ""
        say(Console(highlight=False), f"{size(old_size)} before, {size(new_size)} after{later}.")


@app.command(short_help="Check that the library is not damaged.")
def check(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild what can be rebuilt: indices, the reading copy, checksums.")
    ] = False,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Compare all files of the library with their checksums; exit with 1 if one is damaged."""
    from rich.console import Console

    from whycite import library as libraries
    from whycite.library.paths import mirrored_address

    inspection = libraries.inspect(library or context.obj, repair=repair)
    if as_json:
        print_json(asdict(inspection) | {"sound": inspection.is_sound})
    else:
        console = Console(highlight=False)
        place = Path(inspection.path)
        is_copy = mirrored_address(place) is not None
        for damage in inspection.damage:
            advice = f"delete {place.parent}, and it is copied again" if is_copy else _ADVICE[damage.kind]
            action = "rebuilt" if damage.repaired else advice
            say(console, printable(f"damaged: {damage.file}; {action}"))
        say(console, _verdict(inspection))
    if not inspection.is_sound:
        raise typer.Exit(1)


_ADVICE = {
    "table": "restore the library from a backup, or add your papers to a new one",
    "index": "mend it with: whycite library check --repair",
    "copy": "mend it with: whycite library check --repair",
    "checksums": "rebuild it with: whycite library check --repair",
    "register": "delete the file, then import the list of retractions again and add your papers again",
}


def _verdict(inspection: Inspection) -> str:
    if not inspection.is_sound:
        broken = [damage for damage in inspection.damage if not damage.repaired]
        return f"{count(len(broken), 'damaged file')}."
    if not inspection.files:
        return "No checksums yet, since an older version wrote this library; add them with --repair."
    state = f"; state {inspection.state}" if inspection.state else ""
    return f"All {count(inspection.files, 'file')} are as they were written{state}."


@app.command(short_help="Send the library to object storage.")
def publish(
    context: typer.Context,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where to, such as s3://bucket/folder.")],
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Send the library to object storage, for readers on other machines: whycite cite --library ADDRESS.

    Only what is new is sent. Readers go on with what they have until all of it is there.
    """
    from rich.console import Console

    from whycite import library as libraries

    report = libraries.publish(library or context.obj, address)
    if as_json:
        print_json(asdict(report))
        return
    say(
        Console(highlight=False),
        printable(
            f"Published version {report.version:,} at {report.address}: {count(report.files, 'file')}, "
            f"{size(report.bytes)}, {size(report.sent)} of them sent."
        ),
    )


@app.command(short_help="Switch the library to another encoder.")
def reindex(
    context: typer.Context,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name or folder of the encoder; the bundled one by default.")
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Compute all vectors again with another encoder; if interrupted, run it again to continue."""
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
            f"encoded {encoded_count:,} of {count(total, 'text')}; run the command again to continue"
        ) from None
    if as_json:
        print_json(asdict(reindexing_report))
    elif reindexing_report.before == reindexing_report.encoder:
        say(Console(highlight=False), f"Nothing to do: the library already uses {reindexing_report.encoder}.")
    else:
        counts = f"{count(reindexing_report.spans, 'evidence span')} and {count(reindexing_report.papers, 'paper')}"
        say(
            Console(highlight=False),
            f"Encoded {counts} with {reindexing_report.encoder} in {reindexing_report.seconds:.1f} s.",
        )


@app.command(short_help="Export all evidence spans.")
def export(
    context: typer.Context,
    format: Annotated[
        ExportFormat, typer.Option(help="Export format: ilciter (JSON Lines) or trec.")
    ] = ExportFormat.ilciter,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; standard output by default.")
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Export every evidence span, with the papers it cites and how often it cites them."""
    from rich.console import Console

    from whycite import library as libraries

    if as_json and output is None and format is not ExportFormat.ilciter:
        raise UserError("--json cannot be used with --format trec on standard output; write to a file with --output")
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
            say(Console(highlight=False), printable(f"Exported {count(spans, 'span')} to {shorten_paths(output)}."))


def _open_library(context: typer.Context, library: str | None) -> Library:
    """Open the library given to this command or before its name."""
    from whycite.library import Library

    return Library.open(library or context.obj)


def _path_sort_key(path: str) -> str:
    """A key that sorts numbers by value, so that record 2 of a file comes before record 10."""
    return re.sub("[0-9]+", lambda number: number[0].zfill(20), path)


def _document_line(entry: LibraryDocument, width: int) -> str:
    """One line about a document, as wide as the terminal."""
    room = max(width - 8, 20)
    path = truncate_start(printable(shorten_paths(entry.path)), room // 3)
    status = f"[{entry.status}] " if entry.status else ""
    title = _truncate_end(printable(status + (entry.title or entry.key or "(no title)")), room - len(path))
    return f"{entry.year or '':>4}  {title:<{room - len(path)}}  {path}"


def _truncate_end(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


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
