"""`whycite eval`: repeat the experiments of the papers behind whycite on your own data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.progress import stage_progress
from whycite.cli.terminal import AsJson, CommandGroup, count, escape_markup, print_json, printable, say
from whycite.files import shorten_paths
from whycite.lab.cli.evaluate_candidates import candidates, rerank
from whycite.lab.cli.evaluate_check import pipeline, worthiness
from whycite.lab.cli.evaluate_passages import passages

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from whycite.lab.evaluate.comparison import MethodRow
    from whycite.lab.ilciter.experiment import IlciterOutcome

__all__ = ["app", "show_methods", "show_outcomes"]


_TABLE_4 = ("bm25-okapi", "bm25-plus", "bm25-plus-rank-bm25", "ilciter", "incite")
_TABLE_5 = ("encoder", "ensemble-okapi-encoder", "ensemble-plus-encoder", "ensemble-all", "ilciter")
_RATIOS = ("MRR", "R@10")
_CHOICES = {"random": "chosen at random", "supported": "that cite the best-supported papers, as in ILCiteR"}


def show_outcomes(outcomes: Sequence[IlciterOutcome], console: Console) -> None:
    """Print table 2 of ILCiteR for all topics, then tables 4 and 5 for each topic and choice of claims."""
    from whycite.lab.ilciter.experiment import AGAINST

    _statistics(outcomes, console)
    for outcome in outcomes:
        name, choices = escape_markup(outcome.prepared.topic), outcome.choices
        for choice, chosen in choices.items():
            say(
                console, printable(f"{outcome.prepared.topic}: {count(len(chosen.cases), 'claim')} {_CHOICES[choice]}.")
            )
            table_4 = [row for row in chosen.rows if row.method in _TABLE_4 or row.method.startswith("whycite")]
            table_5 = [row for row in chosen.rows if row.method in _TABLE_5]
            show_methods(f"{name}, {choice}: lexical methods and whycite (ILCiteR, table 4)", table_4, AGAINST, console)
            if any(row.method != "ilciter" for row in table_5):
                show_methods(f"{name}, {choice}: encoders and ensembles (ILCiteR, table 5)", table_5, AGAINST, console)


def _statistics(outcomes: Sequence[IlciterOutcome], console: Console) -> None:
    heads = ("Topic", "papers", "spans", "characters", "tokens", "cited papers", "held out", "claims", "answerable")
    rows = _make_table("Databases and claims (ILCiteR, table 2)", *heads)
    for outcome in outcomes:
        prepared, database = outcome.prepared, outcome.database
        rows.add_row(
            escape_markup(prepared.topic),
            f"{prepared.papers:,}",
            f"{database.spans:,}",
            f"{database.characters:.2f}",
            f"{database.tokens:.2f}",
            f"{database.papers:,}",
            f"{prepared.held_out:,}",
            f"{len(prepared.claims.cases):,}",
            f"{outcome.answerable:,}",
        )
    console.print(rows)
    for outcome in outcomes:
        prepared = outcome.prepared
        days = f"held out: {prepared.oldest or 'no date'} to {prepared.newest or 'no date'}"
        say(console, printable(f"{prepared.topic}: {prepared.rule}; {days}."))
    console.print()


def show_methods(title: str, rows: Sequence[MethodRow], against: Sequence[str], console: Console) -> None:
    """Print a comparison of methods, with p values against the rivals and ratios to the first rival."""
    rivals = [rival for rival in against if any(rival in row.p for row in rows)]
    heads = [f"{name} ×\n{rivals[0]}" for name in _RATIOS] + [f"p\n{rival}" for rival in rivals] if rivals else []
    columns = ("MRR", "95% CI", "R@1", "R@3", "R@5", "R@10", *heads)
    shown = _make_table(title, "Method", *columns)
    for row in rows:
        recalls = [f"{row.means[name]:.3f}" for name in ("R@1", "R@3", "R@5", "R@10")]
        interval = f"{row.interval.low:.3f}–{row.interval.high:.3f}"
        ratios = [_ratio(row, rivals[0], name) for name in _RATIOS] if rivals else []
        shown.add_row(
            row.method,
            f"{row.means['MRR']:.4f}",
            interval,
            *recalls,
            *ratios,
            *(_p_value(row, rival) for rival in rivals),
        )
    console.print(shown)


def _make_table(title: str, name_head: str, *heads: str) -> Table:
    """A table of names and numbers with narrow gaps, to fit into 120 columns."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(name_head, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _ratio(row: MethodRow, rival: str, measure: str) -> str:
    ratio = row.ratios.get(rival, {}).get(measure)
    return "–" if ratio is None else f"{ratio:.2f}"


def _p_value(row: MethodRow, rival: str) -> str:
    """The p value of a paired t-test of the MRR."""
    if rival not in row.p:
        return "–"
    p = row.p[rival]["MRR"]
    return "<.0001" if p < 0.0001 else f"{p:.4f}"


_WIDTH = 120  # of tables, unless a terminal limits it

app = CommandGroup(no_args_is_help=True)

WorkFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder to keep libraries in for the next run."),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for TREC runs and qrels.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]


EncoderName = Annotated[
    str | None,
    typer.Option("--encoder", metavar="NAME", help="Encoder: a folder or Hugging Face name."),
]


class ClaimSelection(StrEnum):
    """Ways to choose claims."""

    random = "random"
    supported = "supported"
    combined = "both"


@app.callback()
def _eval() -> None:
    """Evaluate whycite on your own data."""


@app.command(short_help="Repeat ILCiteR's experiment.")
def ilciter(
    data: Annotated[list[Path], typer.Option(metavar="PATH...", help="Files, folders or archives of papers.")],
    topics: Annotated[
        str, typer.Option(metavar="T1,T2", help="Subjects, or NAME=words|ABBREVIATION to search in abstracts.")
    ],
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    work: WorkFolder = None,
    claims: Annotated[int, typer.Option(metavar="N", min=2, help="Claims per topic.")] = 500,
    held_out: Annotated[int, typer.Option(metavar="N", min=1, help="Newest papers per topic to hold out.")] = 200,
    choice: Annotated[
        ClaimSelection, typer.Option(help="Choose claims at random, supported, or both.")
    ] = ClaimSelection.combined,
    seed: Seed = 0,
    methods: Annotated[str | None, typer.Option(metavar="M1,M2", help="Methods to compare.")] = None,
    out: Out = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of processes; one per core by default.")
    ] = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Repeat ILCiteR's experiment (section 7) on your papers.

    The newest papers of each topic are held out, and the others become a library. Claims are the citing spans of the
    held-out papers; a method succeeds if it finds a paper that they cite.
    """
    from whycite.lab.evaluate.comparison import check_installed
    from whycite.lab.evaluate.topics import parse_topics
    from whycite.lab.ilciter import experiment
    from whycite.lab.ilciter.experiment import DEFAULT_METHODS as ALL_METHODS
    from whycite.lab.ilciter.experiment import check_methods
    from whycite.lab.ilciter.workspace import prepare
    from whycite.models import DEFAULT

    method_names = check_methods(_split_names(methods) or ALL_METHODS)
    choices = ("random", "supported") if choice is ClaimSelection.combined else (choice.value,)
    check_installed()
    console, errors = _consoles()
    outcomes = []
    with stage_progress(errors) as watch:
        prepared, unread = prepare(
            [*data, *(extra_paths or ())],
            parse_topics(topics),
            held_out,
            work,
            jobs or _cores(),
            watch,
            encoder or DEFAULT,
        )
        for sentence in unread:
            errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)
        for topic in prepared:
            outcomes.append(experiment.run(topic, choices, claims, method_names, seed, watch))
            if out is not None:
                experiment.write(outcomes[-1], out)
    if as_json:
        print_json({"seed": seed, "topics": [experiment.as_dict(outcome) for outcome in outcomes]})
    else:
        show_outcomes(outcomes, console)


@app.command(short_help="Find cited papers by title and abstract.")
def contexts(
    data: Annotated[Path, typer.Option(metavar="DIR", help="Folder with papers.jsonl and contexts.jsonl.")],
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Sentences to sample; 0 for all.")] = 1000,
    seed: Seed = 0,
    methods: Annotated[str | None, typer.Option(metavar="M1,M2", help="Methods to compare.")] = None,
    work: WorkFolder = None,
    out: Out = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Find the papers that sentences cite, among papers known only by title and abstract."""
    from whycite.lab.evaluate import abstracts as experiment
    from whycite.lab.evaluate.comparison import check_installed
    from whycite.models import DEFAULT

    check_installed()
    console, errors = _consoles()
    with stage_progress(errors) as watch:
        outcome = experiment.run(
            data, limit, _split_names(methods) or experiment.METHODS, seed, work, watch, encoder or DEFAULT
        )
    if out is not None:
        experiment.write(outcome, out)
    if as_json:
        print_json({"seed": seed} | experiment.as_dict(outcome))
        return
    sentence_count, papers = len(outcome.contexts.contexts), len(outcome.contexts.papers)
    say(
        console,
        f"{sentence_count:,} of {count(outcome.contexts.all, 'citing sentence')}, "
        f"{count(papers, 'paper')} to choose from.",
    )
    show_methods("Papers known by title and abstract", outcome.rows, experiment.AGAINST, console)


app.command(short_help="Repeat SCOPE's experiment on candidate pools.")(candidates)
app.command(short_help="Repeat SCOPE's experiments on reranking.")(rerank)
app.command(short_help="Measure which sentences need a citation.")(worthiness)
app.command(short_help="Run SCOPE's pipeline over a folder of drafts.")(pipeline)
app.command(short_help="Compare models that rank passages.")(passages)


def _split_names(text: str | None) -> tuple[str, ...]:
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _consoles() -> tuple[Console, Console]:
    """Standard output, wide enough for tables unless it is a terminal, and standard error."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console, Console(stderr=True, highlight=False)
