"""`whycite annotate`: collect labels for passages and turn them into datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import AsJson, CommandGroup, Interruption, count, escape_markup, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from whycite.lab.annotate.aggregation import AggregationRow
    from whycite.lab.annotate.sampling import SamplingShares
    from whycite.lab.annotate.tasks import LabellingTask, TaskKind

__all__ = ["app", "read_answers", "show_aggregation", "show_sampling"]


app = CommandGroup(no_args_is_help=True)


class TaskKindOption(StrEnum):
    """Kinds of tasks."""

    br = "BR"
    bce = "BC-E"
    bcr = "BC-R"
    tc = "TC"


class AggregationOption(StrEnum):
    """Ways to aggregate answers."""

    vote = "vote"
    glad = "glad"


TasksFile = Annotated[Path, typer.Argument(metavar="TASKS", help="File made by `whycite annotate make`.")]
AnswersFile = Annotated[Path, typer.Option("--answers", metavar="FILE", help="File of answers.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]


@app.callback()
def _annotate() -> None:
    """Collect labels for passages and turn them into datasets."""


@app.command(short_help="Create tasks from claims and the documents they cite.")
def make(
    claims: Annotated[
        str,
        typer.Argument(
            metavar="CLAIMS",
            help='JSON Lines {"id": …, "claim": …, "paper": PATH or "sentences": […]}; - reads stdin.',
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="TASKS", help="File to write the tasks to.")],
    kind: Annotated[
        list[TaskKindOption] | None,
        typer.Option(
            help="BR (compare two sentences), BC-E (evidence), BC-R (relation) or TC (supports, contradicts or "
            "neither); repeatable."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=2, help="Candidates per claim, the most similar sentences.")
    ] = 10,
    pairs: Annotated[int, typer.Option(metavar="N", min=1, help="Comparisons per claim.")] = 5,
    discarded: Annotated[
        int, typer.Option(metavar="N", min=0, help="Dissimilar sentences to keep for the augmented dataset.")
    ] = 8,
    seed: Seed = 0,
    encoder: Annotated[str | None, typer.Option(metavar="NAME", help="Encoder: a name or a folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create tasks that ask labellers to compare or judge the sentences most similar to a claim."""
    from rich.console import Console

    from whycite.cli.progress import count_progress
    from whycite.files import write_lines
    from whycite.lab.annotate.sampling import check_sampling, make_tasks, read_claims, sample
    from whycite.lab.annotate.tasks import task_lines
    from whycite.models import DEFAULT, load_encoder
    from whycite.models.cache import CachedEncoder

    kinds: list[TaskKind] = [option.value for option in kind or [TaskKindOption.br]]
    if claims != "-" and out.exists() and Path(claims).exists() and out.samefile(claims):
        raise UserError(f"{out}: this is the file of claims; choose another file for --out")
    sampled = []
    encode = CachedEncoder(load_encoder(encoder or DEFAULT)).encode
    with count_progress(Console(stderr=True, highlight=False), "claim") as tell:
        for sampled_claim in sample(read_claims(claims), encode, top):
            sampled.append(sampled_claim)
            tell(len(sampled))
    tasks = make_tasks(sampled, kinds, pairs, discarded, seed)
    if not tasks:
        raise UserError(f"{claims}: no tasks can be created; a comparison needs a document with at least two sentences")
    write_lines(out, task_lines(tasks))
    checked = check_sampling(sampled)
    by_kind = {name: sum(task.kind == name for task in tasks) for name in kinds}
    if as_json:
        shares = asdict(checked) if checked else None
        counts = {"tasks": len(tasks), "kinds": by_kind, "claims": len(sampled)}
        print_json(counts | {"sampling": shares, "out": str(out)})
        return
    console = Console(highlight=False)
    target = shorten_paths(str(out))
    kind_counts = ", ".join(f"{number:,} {name}" for name, number in by_kind.items())
    say(
        console,
        printable(f"Wrote {count(len(tasks), 'task')} ({kind_counts}) for {count(len(sampled), 'claim')} to {target}."),
    )
    if checked is not None:
        show_sampling(checked, console)


@app.command(short_help="Collect answers in a browser.")
def serve(
    tasks: TasksFile,
    answers: AnswersFile,
    votes: Annotated[int, typer.Option(metavar="N", min=1, help="Labellers per task.")] = 3,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")] = 8766,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the tasks to labellers in a browser on this machine, and append their answers to a file."""
    import sys
    import webbrowser

    from whycite.lab.annotate.labelpage import HOST, Desk, application, listen, run
    from whycite.lab.annotate.tasks import Answers

    tasks_by_id = _read_tasks(tasks)
    if answers.exists() and answers.samefile(tasks):
        raise UserError(f"{answers}: this is the file of tasks; choose another file for --answers")
    with Answers(answers, tasks_by_id) as stored_answers, listen(port) as listening:
        earlier_acts = stored_answers.acts
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        if as_json:
            print_json({"address": address, "tasks": len(tasks_by_id), "acts": earlier_acts})
        else:
            print(f"{count(len(tasks_by_id), 'task')}, {count(votes, 'labeller')} per task: {address} (Ctrl-C stops)")
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)
        try:
            run(application(Desk(stored_answers, votes)), listening)
        except KeyboardInterrupt:
            raise Interruption(
                f"{stored_answers.acts - earlier_acts:,} new in {answers}; run the command again to continue"
            ) from None


@app.command(short_help="Aggregate answers into labels.")
def aggregate(
    tasks: TasksFile,
    answers: AnswersFile,
    method: Annotated[AggregationOption, typer.Option(help="vote (majority) or glad (weighted by skill).")] = (
        AggregationOption.vote
    ),
    votes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Use only tasks with N answers, and the first N of them.")
    ] = None,
    least: Annotated[
        float, typer.Option(metavar="SHARE", min=0.5, max=1, help="Least share of votes, or probability, for a label.")
    ] = 0.5,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write the labels to, as JSON Lines.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Aggregate answers into labels, and compare them with gold labels if known (thesis, table 4.1)."""
    from rich.console import Console

    from whycite.files import write_lines
    from whycite.lab.annotate import aggregation
    from whycite.lab.annotate.aggregation import first_votes
    from whycite.lab.annotate.pairs import judgement_row
    from whycite.lab.jsonlines import as_line

    tasks_by_id, answered = read_answers(tasks, answers)
    chosen = answered if votes is None else first_votes(answered, votes)
    labels = aggregation.label_tasks(tasks_by_id, chosen, method.value, least)
    lines = [judgement_row(tasks_by_id[task], decision) for task, decision in labels.items()]
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
        f"{len(labels):,} labelled by {method.value}.",
    )
    for kind, value in agreement.items():
        say(console, f"{kind}: agreement between labellers (kappa) {value:.2f}.")
    if rows:
        show_aggregation(rows, console)
    else:
        say(console, "No task with at least three answers has a gold label to compare with.")


@app.command(short_help="Split labels into training and test data.")
def split(
    tasks: TasksFile,
    answers: AnswersFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to, with one folder per dataset.")],
    votes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Use only tasks with N answers, and the first N of them.")
    ] = None,
    dev: Annotated[float, typer.Option(metavar="SHARE", help="Share of development data.")] = 0.15,
    test: Annotated[float, typer.Option(metavar="SHARE", help="Share of test data.")] = 0.15,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write the datasets majority, high-majority, unanimous and augmented, each split into three parts.

    They contain comparisons (BR); labels of single sentences (BC-E, TC) are written as judgements. The parts share no
    documents, and in each part both options of comparisons are correct equally often.
    """
    from rich.console import Console
    from rich.table import Table

    from whycite.files import make_folder, write_lines
    from whycite.lab.annotate.aggregation import first_votes, vote
    from whycite.lab.annotate.pairs import PARTS, as_dict, assign_parts, build_datasets, document_names, judgement_row
    from whycite.lab.annotate.pairs import split as split_pairs
    from whycite.lab.jsonlines import as_line

    tasks_by_id, answered = read_answers(tasks, answers)
    chosen = answered if votes is None else first_votes(answered, votes)
    pair_sets = build_datasets(tasks_by_id, chosen)
    judged = {task: decision for task, decision in vote(chosen).items() if tasks_by_id[task].kind not in ("BR", "BC-R")}
    part_of = assign_parts([*pair_sets["majority"], *(tasks_by_id[task] for task in judged)], dev, test, seed)
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    if pair_sets["majority"]:
        for name, parts in split_pairs(pair_sets, part_of, seed).items():
            rows[name] = {part_name: list(map(as_dict, pairs)) for part_name, pairs in parts.items()}
    if judged:
        rows["judgements"] = {part_name: [] for part_name in PARTS}
        for task, decision in judged.items():
            part_name = part_of[document_names(tasks_by_id[task])[0]]
            rows["judgements"][part_name].append(judgement_row(tasks_by_id[task], decision))
    for name, row_parts in rows.items():
        folder = make_folder(out / name)
        for part_name, part_rows in row_parts.items():
            write_lines(folder / f"{part_name}.jsonl", map(as_line, part_rows))
    sizes = {
        name: {part_name: len(part_rows) for part_name, part_rows in row_parts.items()}
        for name, row_parts in rows.items()
    }
    if as_json:
        print_json({"out": str(out), "sizes": sizes})
        return
    table = Table("Dataset", *PARTS, title=escape_markup(shorten_paths(str(out))), title_justify="left")
    for name, part_sizes in sizes.items():
        table.add_row(name, *(f"{part_sizes[part_name]:,}" for part_name in PARTS))
    Console(highlight=False).print(table)


@app.command(short_help="Rank the compared sentences of each claim.")
def ranks(
    tasks: TasksFile,
    answers: AnswersFile,
    as_json: AsJson = False,
) -> None:
    """Rank the sentences of each claim by wins minus losses (balanced rank estimation; thesis, 2.1.3)."""
    from rich.console import Console

    from whycite.lab.annotate.pairs import build_datasets, rank_sentences

    tasks_by_id, answered = read_answers(tasks, answers)
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
        raise UserError(f"{answers}: contains no comparison (BR) with a majority")


def _read_tasks(path: Path) -> Mapping[str, LabellingTask]:
    from whycite.lab.annotate.tasks import read_tasks

    return read_tasks(path)


def read_answers(tasks: Path, answers: Path) -> tuple[Mapping[str, LabellingTask], dict[str, dict[str, str]]]:
    """The tasks of a file, and the answers to them by task and labeller."""
    from whycite.lab.annotate.tasks import answers_by_task, read_entries

    tasks_by_id = _read_tasks(tasks)
    answered = answers_by_task(read_entries(answers, tasks_by_id), tasks_by_id)
    if not answered:
        raise UserError(f"{answers}: contains no answers yet")
    return tasks_by_id, answered


def show_sampling(checked: SamplingShares, console: Console) -> None:
    """Print the share of known evidence among the candidates."""
    from rich.table import Table

    table = Table(
        "Most similar", title="Known evidence among the candidates (thesis, figure 3.1)", title_justify="left"
    )
    table.add_column("Evidence found", justify="right")
    table.add_column("Claims with evidence", justify="right")
    for k, share in checked.found.items():
        table.add_row(f"{k}", f"{share:.0%}", f"{checked.any[k]:.0%}")
    console.print(table)
    say(console, f"{count(checked.claims, 'claim')}, {count(checked.evidence, 'sentence')} of known evidence.")


def show_aggregation(rows: Sequence[AggregationRow], console: Console) -> None:
    """Print the methods of aggregation, compared with gold labels."""
    from rich.table import Table

    table = Table(
        "Paradigm", "Aggregation", title="Compared with gold labels (thesis, table 4.1)", title_justify="left"
    )
    for head in ("Tasks", "Cohen", "AUC", "AUC of shares", "F1"):
        table.add_column(head, justify="right")
    for row in rows:
        name = "GLAD" if row.method == "glad" else "Vote"
        figures = [row.kappa, row.auc, row.auc_soft, row.f1]
        shown = ["–" if figure is None else f"{figure:.2f}" for figure in figures]
        table.add_row(row.kind, f"{name} {row.votes}", f"{row.tasks:,}", *shown)
    console.print(table)
