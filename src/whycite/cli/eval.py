"""`whycite eval`: how good recommendations are on your field, by the experiments of the papers behind whycite."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.evalcandidates import candidates
from whycite.cli.evalpassages import passages
from whycite.cli.evalpipeline import pipeline
from whycite.cli.evalrerank import rerank
from whycite.cli.evaltables import show, table
from whycite.cli.evalworthiness import worthiness
from whycite.cli.options import AsJson
from whycite.cli.progress import watched
from whycite.cli.terminal import count, plain, print_json, say

if TYPE_CHECKING:
    from rich.console import Console


__all__ = ["app"]

_WIDTH = 120  # of tables that no terminal bounds

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

Work = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where libraries are kept for the next run, if not in your cache folder."),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write runs and true papers there, as TREC files.")]
Seed = Annotated[int, typer.Option(help="What decides every draw: the same seed, the same figures.")]


EncoderName = Annotated[
    str | None,
    typer.Option("--encoder", metavar="NAME", help="An encoder's folder or Hugging Face name, if not the bundled one."),
]


class Choice(StrEnum):
    """How claims are chosen."""

    random = "random"
    supported = "supported"
    both = "both"


@app.callback()
def _eval() -> None:
    """Measure how good recommendations are on your field."""


@app.command(short_help="ILCiteR's experiment: claims of the newest papers, evidence of the others.")
def ilciter(
    data: Annotated[list[Path], typer.Option(metavar="PATH...", help="Papers: files, folders, archives.")],
    topics: Annotated[
        str, typer.Option(metavar="T1,T2", help="Subjects, or NAME=words|ABBREVIATION for what abstracts hold.")
    ],
    more: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    work: Work = None,
    claims: Annotated[int, typer.Option(min=2, help="Claims a topic.")] = 500,
    held_out: Annotated[int, typer.Option(min=1, help="Papers a topic that are held out, the most recent.")] = 200,
    choice: Annotated[Choice, typer.Option(help="How claims are chosen.")] = Choice.both,
    seed: Seed = 0,
    methods: Annotated[
        str | None, typer.Option(metavar="M1,M2", help="Methods to compare, if not all that see the claim alone.")
    ] = None,
    out: Out = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes that find evidence; by default one a core.")
    ] = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Repeat ILCiteR's experiment (its section 7) on your papers.

    Of each topic the most recent papers are held out, the others become a library. Claims are what the papers held out
    say when they cite; a method is right that finds a paper they cite.
    """
    from whycite.encoders import DEFAULT
    from whycite.evaluation import ilciter as experiment
    from whycite.evaluation.comparison import check_installed
    from whycite.evaluation.ranking import DEFAULT as ALL_METHODS
    from whycite.evaluation.ranking import check_methods
    from whycite.evaluation.topics import named
    from whycite.evaluation.workspace import prepare

    wanted = check_methods(_names(methods) or ALL_METHODS)
    choices = ("random", "supported") if choice is Choice.both else (choice.value,)
    check_installed()
    console, errors = _consoles()
    outcomes = []
    with watched(errors) as watch:
        prepared, unread = prepare(
            [*data, *(more or ())], named(topics), held_out, work, jobs or _cores(), watch, encoder or DEFAULT
        )
        for sentence in unread:
            errors.print(f"warning: {plain(sentence)}", soft_wrap=True)
        for topic in prepared:
            outcomes.append(experiment.run(topic, choices, claims, wanted, seed, watch))
            if out is not None:
                experiment.write(outcomes[-1], out)
    if as_json:
        print_json({"seed": seed, "topics": [experiment.as_dict(outcome) for outcome in outcomes]})
    else:
        show(outcomes, console)


@app.command(short_help="Citing sentences against papers known by title and abstract alone.")
def contexts(
    data: Annotated[Path, typer.Option(metavar="DIR", help="A folder with papers.jsonl and contexts.jsonl.")],
    limit: Annotated[int, typer.Option(min=0, help="Sentences to draw; 0 for all.")] = 1000,
    seed: Seed = 0,
    methods: Annotated[str | None, typer.Option(metavar="M1,M2", help="Methods to compare, if not all.")] = None,
    work: Work = None,
    out: Out = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Find the paper a sentence cites among papers that no one in the library has cited."""
    from whycite.encoders import DEFAULT
    from whycite.evaluation import abstracts as experiment
    from whycite.evaluation.comparison import check_installed

    check_installed()
    console, errors = _consoles()
    with watched(errors) as watch:
        found = experiment.run(
            data, limit, _names(methods) or experiment.METHODS, seed, work, watch, encoder or DEFAULT
        )
    if out is not None:
        experiment.write(found, out)
    if as_json:
        print_json({"seed": seed} | experiment.as_dict(found))
        return
    asked, papers = len(found.contexts.contexts), len(found.contexts.papers)
    say(
        console,
        f"{asked:,} of {count(found.contexts.all, 'citing sentence')}, {count(papers, 'paper')} to choose from.",
    )
    table("By title and abstract", found.rows, experiment.AGAINST, console)


app.command(short_help="SCOPE's candidate pools for whole papers and sections.")(candidates)
app.command(short_help="SCOPE's reranker in its variants.")(rerank)
app.command(short_help="SCOPE's table 3: which sentences need a citation.")(worthiness)
app.command(short_help="SCOPE's whole pipeline over a folder of drafts.")(pipeline)
app.command(short_help="The thesis's pairs and rankings of passages.")(passages)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _consoles() -> tuple[Console, Console]:
    """Standard output, wide enough for tables where it is no terminal, and standard error."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console, Console(stderr=True, highlight=False)
