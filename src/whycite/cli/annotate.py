"""`whycite annotate`: let people say which sentences back a claim, and make data of it."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.annotationtables import show_rows, show_sampling
from whycite.cli.options import AsJson
from whycite.cli.stopping import Stopped
from whycite.cli.terminal import count, plain, print_json, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whycite.annotation.model import Kind, Task

__all__ = ["app"]

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


class Kinds(StrEnum):
    """What labellers are asked."""

    br = "BR"
    bce = "BC-E"
    bcr = "BC-R"


class Method(StrEnum):
    """How answers become one."""

    vote = "vote"
    glad = "glad"


Tasks = Annotated[Path, typer.Argument(metavar="TASKS", help="A file of 'annotate make'.")]
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
        list[Kinds] | None, typer.Option(help="BR compares two sentences, BC-E asks for evidence, BC-R for relation.")
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

    from whycite.annotation.claims import read_claims
    from whycite.annotation.making import make_tasks
    from whycite.annotation.sampling import check_sampling, sample
    from whycite.annotation.tasks import task_lines
    from whycite.cli.progress import counted
    from whycite.encoders import DEFAULT, load
    from whycite.encoders.cache import CachedEncoder
    from whycite.files import write_lines

    kinds: list[Kind] = [each.value for each in kind or [Kinds.br]]
    if claims != "-" and out.exists() and Path(claims).exists() and out.samefile(claims):
        raise UserError(f"{out}: these are the claims; name another file for the tasks")
    sampled = []
    encode = CachedEncoder(load(encoder or DEFAULT)).encode
    with counted(Console(stderr=True, highlight=False), "claim") as tell:
        for each in sample(read_claims(claims), encode, top):
            sampled.append(each)
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
    tasks: Tasks,
    answers: AnswersFile,
    votes: Annotated[int, typer.Option(min=1, help="Labellers a task.")] = 3,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8766,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Serve the tasks to labellers on this machine, until Ctrl-C; answers are added to the file as they come."""
    import sys
    import webbrowser

    from whycite.annotation.answers import Answers
    from whycite.annotation.assigning import Desk
    from whycite.annotation.server import HOST, application, listen, run

    known = _tasks(tasks)
    if answers.exists() and answers.samefile(tasks):
        raise UserError(f"{answers}: these are the tasks; name another file for the answers")
    with Answers(answers, known) as kept, listen(port) as listening:
        before = kept.acts
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        if as_json:
            print_json({"address": address, "tasks": len(known), "acts": before})
        else:
            print(f"{count(len(known), 'task')}, {votes} labellers each: {address} (Ctrl-C stops)")
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)
        try:
            run(application(Desk(kept, votes)), listening)
        except KeyboardInterrupt:
            raise Stopped(f"{kept.acts - before:,} new in {answers}, start it again to go on") from None


@app.command(short_help="Make one label of several, and hold it against gold.")
def aggregate(
    tasks: Tasks,
    answers: AnswersFile,
    method: Annotated[Method, typer.Option(help="vote: of most labellers; glad: skilled ones count more.")] = (
        Method.vote
    ),
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

    from whycite.annotation import comparing
    from whycite.annotation.rows import as_line
    from whycite.annotation.votes import first_votes
    from whycite.files import write_lines

    known, answered = _answered(tasks, answers)
    chosen = answered if votes is None else first_votes(answered, votes)
    labels = comparing.labelled(known, chosen, method.value, least)
    lines = [
        {
            "task": task,
            "kind": known[task].kind,
            "label": each.label,
            "share": round(each.share, 6),
            "votes": each.votes,
        }
        for task, each in labels.items()
    ]
    if out is not None:
        write_lines(out, map(as_line, lines))
    rows = comparing.compare(known, answered)
    agreement = comparing.agreements(known, answered)
    if as_json:
        counts = {"tasks": len(known), "answered": len(answered), "labelled": len(labels)}
        print_json(counts | {"agreement": agreement, "table": [asdict(row) for row in rows], "labels": lines})
        return
    console = Console(highlight=False)
    say(
        console,
        f"{count(len(known), 'task')}, {len(answered):,} with answers, {len(labels):,} with a label by {method.value}.",
    )
    for kind, value in agreement.items():
        say(console, f"{kind}: labellers agree with each other at kappa {value:.2f}.")
    if rows:
        show_rows(rows, console)
    else:
        say(console, "No task with three answers or more has gold, so there is nothing to hold them against.")


@app.command(short_help="Part comparisons into data to learn from and to test on.")
def split(
    tasks: Tasks,
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

    from whycite.annotation.pairs import as_dict, datasets
    from whycite.annotation.rows import as_line
    from whycite.annotation.splitting import PARTS
    from whycite.annotation.splitting import split as part
    from whycite.annotation.votes import first_votes
    from whycite.files import make_folder, write_lines

    known, answered = _answered(tasks, answers)
    found = datasets(known, answered if votes is None else first_votes(answered, votes))
    parted = part(found, dev, test, seed)
    for name, parts in parted.items():
        folder = make_folder(out / name)
        for each, pairs in parts.items():
            write_lines(folder / f"{each}.jsonl", (as_line(as_dict(pair)) for pair in pairs))
    sizes = {name: {each: len(pairs) for each, pairs in parts.items()} for name, parts in parted.items()}
    if as_json:
        print_json({"out": str(out), "sizes": sizes})
        return
    table = Table("Data set", *PARTS, title=plain(str(out)), title_justify="left")
    for name, parts_of in sizes.items():
        table.add_row(name, *(f"{parts_of[each]:,}" for each in PARTS))
    Console(highlight=False).print(table)


@app.command(short_help="Order the compared sentences of each claim.")
def ranks(
    tasks: Tasks,
    answers: AnswersFile,
    as_json: AsJson = False,
) -> None:
    """Order the sentences of each claim by wins less losses (balanced rank estimation; the thesis, 2.1.3)."""
    from rich.console import Console

    from whycite.annotation.pairs import datasets
    from whycite.annotation.ranks import rank_sentences

    known, answered = _answered(tasks, answers)
    ranked = rank_sentences(datasets(known, answered)["majority"])
    console = Console(highlight=False)
    for each in ranked:
        if as_json:
            order = [{"index": option.index, "score": score, "text": option.text} for option, score in each.order]
            print_json({"claim": each.claim, "document": each.document, "sentences": order})
            continue
        say(console, printable(each.claim))
        for option, score in each.order:
            say(console, printable(option.text), indent=8, mark=f"{score:>+4}")
    if not ranked:
        raise UserError(f"{answers}: holds no comparison (BR) with an agreed answer")


def _tasks(path: Path) -> Mapping[str, Task]:
    from whycite.annotation.tasks import read_tasks

    return read_tasks(path)


def _answered(tasks: Path, answers: Path) -> tuple[Mapping[str, Task], dict[str, dict[str, str]]]:
    from whycite.annotation.entries import answers_by_task, read_entries

    known = _tasks(tasks)
    answered = answers_by_task(read_entries(answers, known), known)
    if not answered:
        raise UserError(f"{answers}: holds no answers yet")
    return known, answered
