"""`whycite fetch`: download freely available full texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.add import AddOptions, take_with_progress, with_path
from whycite.cli.terminal import AsJson, Interruption, LibraryPath, count, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.documents.model import Reference
    from whycite.library import LibraryInfo
    from whycite.references.services import Services
    from whycite.sources.fetching import FetchedPaper

__all__ = ["fetch"]

_DEFAULT_NUMBER = 50


def fetch(
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOI...|TOPIC", help="DOIs, arXiv, PMC or PubMed ids; or a topic in words."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Bibliography, or draft whose cited papers are wanted."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("-n", metavar="N", min=1, max=10_000, help="Number of papers on a topic; 50 by default."),
    ] = None,
    to: Annotated[str, typer.Option(metavar="FOLDER", help="Folder for the files.")] = "papers",
    library: LibraryPath = None,
    no_library: Annotated[bool, typer.Option("--no-library", help="Do not add the papers to your library.")] = False,
    as_json: AsJson = False,
) -> None:
    """Download freely available full texts into a folder, and add them to your library.

    Asks Europe PMC, arXiv and, with a key, OpenAlex. What is there already is not asked for again.
    """
    if library is not None and no_library:
        raise UserError("--library cannot be used with --no-library")
    if bool(queries) == (source is not None):
        raise UserError("give DOIs or a topic, or a bibliography or draft with --from")
    from rich.console import Console

    from whycite.check.settings import settings_for
    from whycite.models.cache import cache_folder
    from whycite.references.client import ServiceClient
    from whycite.references.services import Services
    from whycite.sources.fetching import papers_at_hand
    from whycite.sources.items import open_library

    contact = settings_for(Path(source or ".")).contact
    errors = Console(stderr=True, highlight=False)
    folder = Path(to)
    with ServiceClient(cache_folder() / "services", contact) as client:
        services = Services(client, os.environ.get("WHYCITE_OPENALEX_KEY", ""))
        references = _references(queries or [], source, n, services, errors)
        at_hand = papers_at_hand(references, folder, None if no_library else open_library(library))
        papers = _fetch(references, at_hand, folder, services, errors)
    options = AddOptions(library, None, None, True)
    info = None if no_library else _add(papers, folder, options, errors)
    if as_json:
        print_json(_report_json(papers, info))
    else:
        _show(papers, info, Console(highlight=False))


def _references(
    queries: list[str], source: str | None, n: int | None, services: Services, errors: Console
) -> list[Reference]:
    """The papers that are wanted: cited, named, or on a topic."""
    from whycite.references.client import ServiceFailure
    from whycite.sources.fetching import cited_references, identified_references
    from whycite.sources.openaccess import search_topic

    references = cited_references(source) if source is not None else identified_references(queries)
    if references:
        if n is not None:
            raise UserError("-n is the number of papers on a topic; leave it out")
        return references
    topic = " ".join(queries)
    if not any(map(str.isalnum, topic)):
        raise UserError("the topic has no words")
    say(errors, printable(f"Sending the topic “{topic}” to Europe PMC."))
    try:
        references = search_topic(services, topic, n or _DEFAULT_NUMBER)
    except ServiceFailure as failure:
        raise UserError(f"Europe PMC {failure}; try again later") from failure
    if not references:
        raise UserError(f"Europe PMC has no open-access papers on “{topic}”; try fewer or other words")
    return references


def _fetch(
    references: Sequence[Reference],
    at_hand: Sequence[FetchedPaper | None],
    folder: Path,
    services: Services,
    errors: Console,
) -> list[FetchedPaper]:
    """All papers in their order, fetched if they are not at hand, after saying what is sent to whom."""
    from whycite.cli.progress import stage_progress
    from whycite.sources.fetching import can_be_asked_for, fetch_papers
    from whycite.sources.openaccess import OpenAccess

    open_access = OpenAccess(services)
    missing = [reference for reference, paper in zip(references, at_hand, strict=True) if paper is None]
    if not missing:
        return [paper for paper in at_hand if paper is not None]
    contact = services.client.contact
    address = f", with your address {contact}" if contact else ""
    if number := sum(map(can_be_asked_for, missing)):
        say(
            errors,
            f"Sending the identifiers of {count(number, 'paper')}, or titles where there are none, to "
            f"{', '.join(open_access.names)}{address}, and downloading from there and from the publishers they name. "
            "Nothing else leaves this machine.",
        )
    fetched: list[FetchedPaper] = []
    try:
        with stage_progress(errors) as watch:
            watch("fetching", 0, len(missing))
            for paper in fetch_papers(missing, folder, open_access):
                fetched.append(paper)
                watch("fetching", len(fetched), len(missing))
    except KeyboardInterrupt:
        number = sum(paper.status == "fetched" for paper in fetched)
        raise Interruption(f"fetched {count(number, 'paper')}; run the command again to continue") from None
    for name, reason in services.client.failures.items():
        say(errors, printable(f"warning: {name} {reason}"))
    waiting = iter(fetched)
    return [paper or next(waiting) for paper in at_hand]


def _add(papers: Sequence[FetchedPaper], folder: Path, options: AddOptions, errors: Console) -> LibraryInfo | None:
    """Add the files to the library; those that it took before are left as they are."""
    from whycite.sources.fetching import source_items
    from whycite.sources.items import open_library, taken_names

    taken = taken_names(options.library)
    items = [item for item in source_items(papers, folder) if item.name not in taken]
    if items:
        for path, warning in take_with_progress(items, None, options).added.warnings:
            say(errors, printable(shorten_paths(f"warning: {with_path(path, warning)}")))
    library = open_library(options.library)
    return library.info() if library else None


def _report_json(papers: Sequence[FetchedPaper], info: LibraryInfo | None) -> dict[str, Any]:
    statuses = [paper.status for paper in papers]
    return {
        "papers": [_paper_json(paper) for paper in papers],
        **{status: statuses.count(status) for status in ("fetched", "there", "missing")},
        "library": asdict(info) if info else None,
    }


def _paper_json(paper: FetchedPaper) -> dict[str, Any]:
    from whycite.documents.identity import paper_key

    reference = paper.reference
    return {
        "id": reference.id,
        "key": paper_key(reference),
        "title": reference.title,
        "doi": reference.doi,
        "status": paper.status,
        "file": paper.file or None,
        "source": paper.source or None,
        "format": paper.format or None,
        "reason": paper.reason or None,
    }


def _show(papers: Sequence[FetchedPaper], info: LibraryInfo | None, console: Console) -> None:
    from rich.text import Text

    for paper in papers:
        if paper.status == "fetched":
            say(console, printable(shorten_paths(f"{_name(paper)}: {paper.file} ({paper.format} from {paper.source})")))
    missing = [paper for paper in papers if paper.status == "missing"]
    if missing:
        say(console, Text(f"{count(len(missing), 'paper')} could not be had:", style="yellow"))
    for paper in missing:
        say(console, printable(f"{_name(paper)}: {paper.reason}"), indent=2)
    numbers = {status: sum(paper.status == status for paper in papers) for status in ("fetched", "there")}
    holds = f"; your library now has {count(info.documents, 'document')}" if info else ""
    say(
        console,
        f"{numbers['fetched']:,} fetched, {numbers['there']:,} there before, {len(missing):,} could not be had{holds}.",
    )


def _name(paper: FetchedPaper) -> str:
    """What a person knows a paper by: its key in the bibliography or the id that was given, and its title."""
    reference = paper.reference
    return ", ".join(filter(None, (reference.id, reference.title))) or reference.text
