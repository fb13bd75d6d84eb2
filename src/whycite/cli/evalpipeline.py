"""`whycite eval pipeline`: drafts without their citations in, what they should cite back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.options import AsJson
from whycite.cli.progress import watched
from whycite.cli.terminal import count, plain, print_json, say

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.evaluation.pipeline import Outcome

__all__ = ["pipeline"]


def pipeline(
    folder: Annotated[Path, typer.Argument(metavar="DRAFTS", help="A folder of drafts, each in a folder of its own.")],
    library: Annotated[
        str | None, typer.Option("--library", metavar="PATH", help="Papers of this library, too.")
    ] = None,
    bibliography: Annotated[
        bool, typer.Option(help="Whether papers of the drafts' own bibliographies are recommended.")
    ] = True,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="T", help="From which worthiness on, if not from the model's own."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's evaluation of the complete pipeline (its section 5.6) on your drafts.

    Citations are masked, sentence by sentence, and asked back: is the sentence found, and a paper that it cites?
    """
    from rich.console import Console

    from whycite.encoders import load
    from whycite.encoders.cache import CachedEncoder
    from whycite.errors import UserError
    from whycite.evaluation.pipeline import as_dict, drafts_in, run
    from whycite.worthiness import load as load_detector

    if not bibliography and library is None:
        raise UserError("without the drafts' own bibliographies papers must come from a library: give --library")
    opened = None
    if library is not None:
        from whycite.library import Library

        opened = Library.open(library)
    errors = Console(stderr=True, highlight=False)
    drafts = drafts_in(folder)
    with watched(errors) as watch:
        outcome = run(
            drafts,
            load_detector(),
            CachedEncoder(load()),
            opened,
            threshold=threshold,
            bibliography=bibliography,
            watch=watch,
        )
    for sentence in outcome.unread:
        errors.print(f"warning: {plain(sentence)}", soft_wrap=True)
    if as_json:
        print_json(as_dict(outcome))
    else:
        _show(outcome, Console(highlight=False))


def _show(outcome: Outcome, console: Console) -> None:
    from rich import box
    from rich.table import Table

    from whycite.evaluation.pipeline import PUBLISHED, PUBLISHED_MS, as_dict

    found = as_dict(outcome)
    worthy = found["worthy"] / found["sentences"]
    say(
        console,
        f"{count(outcome.drafts, 'draft')}, {count(found['sentences'], 'sentence')}, {worthy:.1%} of which cite.",
    )
    table = Table("", *PUBLISHED, title="The complete pipeline (SCOPE's table 8)", box=box.SIMPLE, title_justify="left")
    table.add_row("these drafts", *(f"{found[name]:.3f}" for name in PUBLISHED))
    table.add_row("SCOPE, on its own", *(f"{value:.3f}" for value in PUBLISHED.values()))
    console.print(table)
    times = Table("Stage", "ms", title="Time by stage (SCOPE's 5.6)", box=box.SIMPLE, title_justify="left")
    for stage, value in found["milliseconds"].items():
        times.add_row(f"{stage}, {_EACH.get(stage, 'a sentence found worthy')}", f"{value:,.1f}")
    for stage, value in PUBLISHED_MS.items():
        times.add_row(f"SCOPE: {stage}, {_EACH.get(stage, 'a sentence found worthy')}", f"{value:,.1f}")
    console.print(times)


_EACH = {"extraction": "a sentence", "worthiness": "a paragraph", "prefetcher": "a section"}
