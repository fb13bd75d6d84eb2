"""`whycite annotate`: let people say which sentences back a claim, and make data of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import AsJson, Interruption, count, escape_markup, print_json, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from whycite.lab.annotate.aggregation import AggregationRow
    from whycite.lab.annotate.sampling import SamplingShares
    from whycite.lab.annotate.tasks import LabellingTask, TaskKind

__all__ = ["app", "show_aggregation", "show_sampling"]


app = typer.Typer(help="Label passages and turn the labels into data.", rich_markup_mode=None, no_args_is_help=True)


class TaskKindOption(StrEnum):
    """What labellers are asked."""

    br = "BR"
    bce = "BC-E"
    bcr = "BC-R"


class AggregationOption(StrEnum):
    """How answers become one."""

    vote = "vote"
    glad = "glad"


TasksFile = Annotated[Path, typer.Argument(metavar="TASKS", help="A file of 'annotate make'.")]
AnswersFile = Annotated[Path, typer.Option("--answers", metavar="FILE", help="The file of answers.")]
Seed = Annotated[int, typer.Option(help="What decides every draw.")]


@app.callback()
def _annotate() -> None:
    """Let people say which sentences back a claim, and make data of it."""


@app.command(short_help="Make tasks out of claims and the documents they cite.")
def make(
    claims: Annotated[
        str,
        typer.Argument(
            metavar="CLAIMS",
            help='Lines {"id": …, "claim": …, "paper": a path, or "sentences": […]}; - reads them from stdin.',
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="TASKS", help="The file of tasks to write.")],
    kind: Annotated[
        list[TaskKindOption] | None,
        typer.Option(help="BR compares two sentences, BC-E asks for evidence, BC-R for relation."),
    ] = None,
    top: Annotated[int, typer.Option(min=2, help="Candidates a claim: the sentences most like it.")] = 10,
    pairs: Annotated[int, typer.Option(min=1, help="Comparisons a claim.")] = 5,
    discarded: Annotated[
        int, typer.Option(min=0, help="Sentences that are no candidates, kept for the augmented data set.")
    ] = 8,
    seed: Seed = 0,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="An encoder's folder or name, if not the bundled one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make tasks: of each document the sentences most like the claim, to compare or to judge."""
    from rich.console import Console

    from whycite.cli.progress import count_progress
    from whycite.files import write_lines
    from whycite.lab.annotate.sampling import check_sampling, make_tasks, read_claims, sample
    from whycite.lab.annotate.tasks import task_lines
    from whycite.models import DEFAULT, load_encoder
    from whycite.models.cache import CachedEncoder

    kinds: list[TaskKind] = [option.value for option in kind or [TaskKindOption.br]]
    if claims != "-" and out.exists() and Path(claims).exists() and out.samefile(claims):
        raise UserError(f"{out}: these are the claims; name another file for the tasks")
    sampled = []
    encode = CachedEncoder(load_encoder(encoder or DEFAULT)).encode
    with count_progress(Console(stderr=True, highlight=False), "claim") as tell:
        for sampled_claim in sample(read_claims(claims), encode, top):
            sampled.append(sampled_claim)
            tell(len(sampled))
    tasks = make_tasks(sampled, kinds, pairs, discarded, seed)
    if not tasks:
        raise UserError(f"{claims}: makes no task; a comparison needs a document of two sentences or more")
    write_lines(out, task_lines(tasks))
    checked = check_sampling(sampled)
    by_kind = {name: sum(task.kind == name for task in tasks) for name in kinds}
    if as_json:
        shares = asdict(checked) if checked else None
        counts = {"tasks": len(tasks), "kinds": by_kind, "claims": len(sampled)}
        print_json(counts | {"sampling": shares, "out": str(out)})
        return
    console = Console(highlight=False)
    kinds_said = ", ".join(f"{number:,} {name}" for name, number in by_kind.items())
    say(console, printable(f"{count(len(tasks), 'task')} ({kinds_said}) of {count(len(sampled), 'claim')}: {out}"))
    if checked is not None:
        show_sampling(checked, console)


@app.command(short_help="Collect answers on a page in your browser.")
def serve(
    tasks: TasksFile,
    answers: AnswersFile,
    votes: Annotated[int, typer.Option(min=1, help="Labellers a task.")] = 3,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8766,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Serve the tasks to labellers on this machine, until Ctrl-C; answers are added to the file as they come."""
    import sys
    import webbrowser

    from whycite.lab.annotate.answers import Answers
    from whycite.lab.annotate.assignment import Desk
    from whycite.lab.annotate.server import HOST, application, listen, run

    tasks_by_id = _read_tasks(tasks)
    if answers.exists() and answers.samefile(tasks):
        raise UserError(f"{answers}: these are the tasks; name another file for the answers")
    with Answers(answers, tasks_by_id) as stored_answers, listen(port) as listening:
        earlier_acts = stored_answers.acts
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        if as_json:
            print_json({"address": address, "tasks": len(tasks_by_id), "acts": earlier_acts})
        else:
            print(f"{count(len(tasks_by_id), 'task')}, {votes} labellers each: {address} (Ctrl-C stops)")
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)
        try:
            run(application(Desk(stored_answers, votes)), listening)
        except KeyboardInterrupt:
            raise Interruption(
                f"{stored_answers.acts - earlier_acts:,} new in {answers}, start it again to go on"
            ) from None


@app.command(short_help="Make one label of several, and hold it against gold.")
def aggregate(
    tasks: TasksFile,
    answers: AnswersFile,
    method: Annotated[
        AggregationOption, typer.Option(help="vote: of most labellers; glad: skilled ones count more.")
    ] = (AggregationOption.vote),
    votes: Annotated[
        int | None, typer.Option(min=1, help="Use tasks with so many answers, the first so many; by default all.")
    ] = None,
    least: Annotated[
        float, typer.Option(min=0.5, max=1, help="Share of votes, or probability, that a label needs; 0.8 is 4 of 5.")
    ] = 0.5,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the labels there, as JSON Lines.")] = None,
    as_json: AsJson = False,
) -> None:
    """Aggregate answers; where gold is known, show kappa, AUC and F1 of each way to do so (the thesis, table 4.1)."""
    from rich.console import Console

    from whycite.files import write_lines
    from whycite.lab.annotate import aggregation
    from whycite.lab.annotate.aggregation import first_votes
    from whycite.lab.jsonlines import as_line

    tasks_by_id, answered = _read_answers(tasks, answers)
    chosen = answered if votes is None else first_votes(answered, votes)
    labels = aggregation.label_tasks(tasks_by_id, chosen, method.value, least)
    lines = [
        {
            "task": task,
            "kind": tasks_by_id[task].kind,
            "label": decision.label,
            "share": round(decision.share, 6),
            "votes": decision.votes,
        }
        for task, decision in labels.items()
    ]
    if out is not None:
        write_lines(out, map(as_line, lines))
    rows = aggregation.compare_methods(tasks_by_id, answered)
    agreement = aggregation.labeller_agreement(tasks_by_id, answered)
    if as_json:
        counts = {"tasks": len(tasks_by_id), "answered": len(answered), "labelled": len(labels)}
        print_json(counts | {"agreement": agreement, "table": [asdict(row) for row in rows], "labels": lines})
        return
    console = Console(highlight=False)
    say(
        console,
        f"{count(len(tasks_by_id), 'task')}, {len(answered):,} with answers, "
        f"{len(labels):,} with a label by {method.value}.",
    )
    for kind, value in agreement.items():
        say(console, f"{kind}: labellers agree with each other at kappa {value:.2f}.")
    if rows:
        show_aggregation(rows, console)
    else:
        say(console, "No task with three answers or more has gold, so there is nothing to hold them against.")


@app.command(short_help="Part comparisons into data to learn from and to test on.")
def split(
    tasks: TasksFile,
    answers: AnswersFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to, a folder a data set.")],
    votes: Annotated[
        int | None, typer.Option(min=1, help="Use tasks with so many answers, the first so many; by default all.")
    ] = None,
    dev: Annotated[float, typer.Option(help="Share of the part to choose by.")] = 0.15,
    test: Annotated[float, typer.Option(help="Share of the part to report on.")] = 0.15,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write the data sets majority, high-majority, unanimous and augmented, each in three parts.

    No document, citing or cited, is in two parts, and in each part either option is right equally often.
    """
    from rich.console import Console
    from rich.table import Table

    from whycite.files import make_folder, write_lines
    from whycite.lab.annotate.aggregation import first_votes
    from whycite.lab.annotate.pairs import PARTS, as_dict, build_datasets
    from whycite.lab.annotate.pairs import split as part
    from whycite.lab.jsonlines import as_line

    tasks_by_id, answered = _read_answers(tasks, answers)
    pair_sets = build_datasets(tasks_by_id, answered if votes is None else first_votes(answered, votes))
    parted = part(pair_sets, dev, test, seed)
    for name, parts in parted.items():
        folder = make_folder(out / name)
        for part_name, pairs in parts.items():
            write_lines(folder / f"{part_name}.jsonl", (as_line(as_dict(pair)) for pair in pairs))
    sizes = {name: {part_name: len(pairs) for part_name, pairs in parts.items()} for name, parts in parted.items()}
    if as_json:
        print_json({"out": str(out), "sizes": sizes})
        return
    table = Table("Data set", *PARTS, title=escape_markup(str(out)), title_justify="left")
    for name, part_sizes in sizes.items():
        table.add_row(name, *(f"{part_sizes[part_name]:,}" for part_name in PARTS))
    Console(highlight=False).print(table)


@app.command(short_help="Order the compared sentences of each claim.")
def ranks(
    tasks: TasksFile,
    answers: AnswersFile,
    as_json: AsJson = False,
) -> None:
    """Order the sentences of each claim by wins less losses (balanced rank estimation; the thesis, 2.1.3)."""
    from rich.console import Console

    from whycite.lab.annotate.pairs import build_datasets, rank_sentences

    tasks_by_id, answered = _read_answers(tasks, answers)
    ranked = rank_sentences(build_datasets(tasks_by_id, answered)["majority"])
    console = Console(highlight=False)
    for ranking in ranked:
        if as_json:
            order = [{"index": option.index, "score": score, "text": option.text} for option, score in ranking.order]
            print_json({"claim": ranking.claim, "document": ranking.document, "sentences": order})
            continue
        say(console, printable(ranking.claim))
        for option, score in ranking.order:
            say(console, printable(option.text), indent=8, mark=f"{score:>+4}")
    if not ranked:
        raise UserError(f"{answers}: holds no comparison (BR) with an agreed answer")


def _read_tasks(path: Path) -> Mapping[str, LabellingTask]:
    from whycite.lab.annotate.tasks import read_tasks

    return read_tasks(path)


def _read_answers(tasks: Path, answers: Path) -> tuple[Mapping[str, LabellingTask], dict[str, dict[str, str]]]:
    from whycite.lab.annotate.answers import answers_by_task, read_entries

    tasks_by_id = _read_tasks(tasks)
    answered = answers_by_task(read_entries(answers, tasks_by_id), tasks_by_id)
    if not answered:
        raise UserError(f"{answers}: holds no answers yet")
    return tasks_by_id, answered


def show_sampling(checked: SamplingShares, console: Console) -> None:
    """How much of the known evidence is among the candidates."""
    from rich.table import Table

    table = Table("Most similar", title="Known evidence among them (the thesis, figure 3.1)", title_justify="left")
    table.add_column("of all evidence", justify="right")
    table.add_column("claims with some", justify="right")
    for k, share in checked.found.items():
        table.add_row(f"{k}", f"{share * 100:.0f} %", f"{checked.any[k] * 100:.0f} %")
    console.print(table)
    say(console, f"{count(checked.claims, 'claim')} with {count(checked.evidence, 'sentence')} of evidence.")


def show_aggregation(rows: Sequence[AggregationRow], console: Console) -> None:
    """Ways to aggregate, held against gold."""
    from rich.table import Table

    table = Table("Paradigm", "Aggregation", title="Against gold (the thesis, table 4.1)", title_justify="left")
    for head in ("Tasks", "Cohen", "AUC", "AUC of shares", "F1"):
        table.add_column(head, justify="right")
    for row in rows:
        name = "GLAD" if row.method == "glad" else "Vote"
        figures = [row.kappa, row.auc, row.auc_soft, row.f1]
        shown = ["–" if figure is None else f"{figure:.2f}" for figure in figures]
        table.add_row(row.kind, f"{name} {row.votes}", f"{row.tasks:,}", *shown)
    console.print(table)
