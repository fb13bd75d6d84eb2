"""`whycite retractions`: know which papers were retracted or corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import AsJson, CommandGroup, LibraryPath, count, print_json, printable, say

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import Paper

__all__ = ["app"]

app = CommandGroup(no_args_is_help=True)
_NOUNS = {
    "retraction": "retraction",
    "concern": "expression of concern",
    "correction": "correction",
    "reinstatement": "reinstatement",
}
_MAX_PAPERS = 20  # papers of the library that are listed


@app.callback()
def _retractions() -> None:
    """Know which papers were retracted or corrected; `cite`, `check` and all other commands then say so."""


@app.command("import", short_help="Import the list of Retraction Watch.")
def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The CSV file of Retraction Watch.")],
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Import the list of Retraction Watch, in place of an earlier one.

    Get it from https://gitlab.com/crossref/retraction-watch-data. Nothing is downloaded by whycite.
    """
    from rich.console import Console

    from whycite.library.retractionwatch import import_list

    report = import_list(library, file)
    if as_json:
        from whycite.cite.recommendations import paper_json

        print_json(
            {
                "notices": dict(report.notices),
                "skipped": report.skipped,
                "papers": [paper_json(paper) for paper in report.papers],
            }
        )
        return
    console = Console(highlight=False)
    counts = [_counted(report.notices[kind], noun) for kind, noun in _NOUNS.items() if report.notices.get(kind)]
    skipped = f"; skipped {count(report.skipped, 'row')} without an identifiable paper" if report.skipped else ""
    say(console, f"Imported {', '.join(counts)}{skipped}.")
    if not report.papers:
        say(console, "No paper in your library is on the list.")
        return
    _list_papers(console, report.papers)


def _list_papers(console: Console, papers: Sequence[Paper]) -> None:
    from rich.text import Text

    from whycite.cli.results import byline
    from whycite.documents.references.notices import describe_status

    number = len(papers)
    say(console, f"{count(number, 'paper')} in your library {'is' if number == 1 else 'are'} on the list:")
    for paper in papers[:_MAX_PAPERS]:
        say(console, Text(printable(paper.title) or "(no title)", style="bold"), indent=2)
        say(console, Text(printable(byline(paper)), style="dim"), indent=4)
        say(console, Text(printable(describe_status(paper.status, paper.notices)), style="red"), indent=4)
    if number > _MAX_PAPERS:
        say(console, f"and {number - _MAX_PAPERS:,} more; --json lists them all", indent=2)


def _counted(number: int, noun: str) -> str:
    """ "2 expressions of concern"."""
    head, _, rest = noun.partition(" ")
    return f"{count(number, head)} {rest}".rstrip()
