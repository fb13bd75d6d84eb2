"""`whycite eval candidates`: which papers a draft may cite next, by SCOPE's experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whycite.cli.options import AsJson
from whycite.cli.progress import watched
from whycite.cli.terminal import count, plain, print_json, printable, say

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.candidates import Recommender
    from whycite.evaluation.candidates import Measured, Outcome
    from whycite.evaluation.topics import Topic as TopicOf

__all__ = [
    "Data",
    "Drop",
    "Epochs",
    "Floor",
    "HeldOut",
    "More",
    "Seed",
    "Topic",
    "WordVectors",
    "candidates",
    "consoles",
    "names",
    "print_table",
    "shares",
    "topic_of",
]

_WIDTH = 132  # of tables that no terminal bounds


class By(StrEnum):
    """What a set of cited papers is taken from."""

    paper = "paper"
    section = "section"
    both = "both"


_SETS: Mapping[By, tuple[Literal["paper", "section"], ...]] = {
    By.paper: ("paper",),
    By.section: ("section",),
    By.both: ("paper", "section"),
}


class Split(StrEnum):
    """How documents are held out."""

    date = "date"
    document = "document"


Data = Annotated[list[Path], typer.Option(metavar="PATH...", help="Papers: files, folders, archives.")]
More = Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)]  # --data *.jsonl
Drop = Annotated[
    list[float] | None,
    typer.Option(metavar="SHARE", help="Share of cited papers that is taken out; may be given again. 0.2, 0.5, 0.8."),
]
Floor = Annotated[int, typer.Option(min=1, help="Documents that must cite a paper before it is recommended.")]
Epochs = Annotated[int, typer.Option(min=1, help="Times that an autoencoder sees every set.")]
HeldOut = Annotated[int | None, typer.Option(min=1, help="Documents that are held out; by default a tenth.")]
Seed = Annotated[int, typer.Option(help="What decides every draw: the same seed, the same figures.")]
Topic = Annotated[
    str | None, typer.Option(metavar="T", help="Only papers of this subject, or NAME=words|ABBREVIATION of abstracts.")
]
WordVectors = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Word vectors for titles, as GloVe's files, if not the encoder's.")
]


def candidates(
    data: Data,
    more: More = None,
    by: Annotated[By, typer.Option(help="Sets of whole papers, or of their sections of one type.")] = By.both,
    drop: Drop = None,
    methods: Annotated[str | None, typer.Option(metavar="M1,M2", help="Recommenders to compare, if not all.")] = None,
    k: Annotated[int, typer.Option(min=1, help="Papers in a pool.")] = 2000,
    floor: Floor = 1,
    epochs: Epochs = 20,
    held_out: HeldOut = None,
    split: Annotated[Split, typer.Option(help="Hold out the newest documents, or some by lot.")] = Split.date,
    again: Annotated[
        bool, typer.Option("--again", help="Also learn from the older half of what is held out (table 11).")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="Sets, and sentences, that are asked; 0 for all.")] = 1000,
    topic: Topic = None,
    seed: Seed = 0,
    word_vectors: WordVectors = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the autoencoders there, each in an .npz file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's experiment on pools of candidates (its section 5.3) on your papers.

    Of each document that is held out a share of what it cites is hidden; a recommender that learned from the others
    is given the rest, and is right where it names what is hidden.
    """
    from whycite.evaluation.candidates import DROPS, METHODS, Setting, as_dict, run
    from whycite.evaluation.candidatesets import read

    setting = Setting(
        methods=names(methods) or METHODS,
        by=_SETS[by],
        drops=shares(drop) or DROPS,
        k=k,
        floor=floor,
        epochs=epochs,
        held_out=held_out,
        by_lot=split is Split.document,
        again=again,
        limit=limit,
        seed=seed,
        word_vectors=word_vectors,
    )
    setting.check()
    console, errors = consoles()
    with watched(errors) as watch:
        gathered, unread = read([*data, *(more or ())], topic_of(topic), watch)
        for sentence in unread:
            errors.print(f"warning: {plain(sentence)}", soft_wrap=True)
        outcome = run(gathered, setting, watch, _keeper(out) if out else None)
    if as_json:
        print_json(as_dict(outcome))
    else:
        _show(outcome, console)


def _keeper(folder: Path) -> Callable[[Recommender, str], None]:
    from whycite.candidates.autoencoder import Autoencoder, save
    from whycite.files import make_folder

    make_folder(folder)

    def keep(made: Recommender, by: str) -> None:
        if isinstance(made, Autoencoder):
            save(made, folder / f"{made.name}-by-{by}.npz")

    return keep


def _show(outcome: Outcome, console: Console) -> None:
    setting = outcome.setting
    days = f"{outcome.oldest or 'no date'} to {outcome.newest or 'no date'}"
    told = f"{count(outcome.documents, 'document')} that cite, {outcome.held_out:,} of them held out ({days})."
    say(console, printable(told))
    for each in outcome.learned:
        known = f"{each.known:.1%} of what those held out cite is among them"
        say(console, f"By {each.by}: {count(each.sets, 'set')}, {count(each.papers, 'paper')}; {known}.")
    console.print()
    drops = setting.drops
    for by in setting.by:
        rows = [row for row in outcome.sets if row.by == by]
        _table(f"Papers hidden in sets, by {by} (SCOPE's table 4)", rows, drops, setting.k, console)
    trained = [row for row in outcome.sets if row.method.startswith("aae-")]
    if len(setting.by) > 1 and trained:
        title = "Autoencoders, by paper and by section (table 5)"
        _table(title, trained, drops, setting.k, console, [row.by for row in trained])
    if outcome.later:
        title = "Autoencoders, without and with half of what is held out to learn from (table 11)"
        rows, ends = [*trained, *outcome.later], ["old"] * len(trained) + ["new"] * len(outcome.later)
        _table(title, rows, drops, setting.k, console, [f"{r.by}, {e}" for r, e in zip(rows, ends, strict=True)])
    for by in setting.by:
        rows = [row for row in outcome.contexts if row.by == by]
        _sentences(f"Single sentences, by {by} (table 7)", rows, setting.k, console)


def _table(
    title: str,
    rows: Sequence[Measured],
    drops: Sequence[float],
    k: int,
    console: Console,
    marks: Sequence[str] = (),
) -> None:
    """A line a recommender and mark, two columns a share taken out: mean and standard deviation."""
    lines: dict[tuple[str, ...], dict[float | None, Measured]] = {}
    for at, row in enumerate(rows):
        lines.setdefault((row.method, *marks[at : at + 1]), {})[row.drop] = row
    firsts = ["Recommender", *(["Sets"] if marks else [])]
    heads = [head for drop in drops for head in (f"d = {drop:g}\nMRR", f"\nR@{k}")]
    cells = [[*name, *(cell for drop in drops for cell in _cells(found[drop]))] for name, found in lines.items()]
    asked = " and ".join(f"{number:,}" for number in dict.fromkeys(row.asked for row in rows))
    print_table(f"{title}; sets asked: {asked or 0}", [*firsts, *heads], cells, console, left=len(firsts))


def _cells(row: Measured) -> list[str]:
    return [f"{each.mean:.3f} ({each.deviation:.3f})" for each in (row.mrr, row.recall)]


def _sentences(title: str, rows: Sequence[Measured], k: int, console: Console) -> None:
    cells = [["" if row.drop is None else f"d = {row.drop:g}", row.method, *_cells(row)] for row in rows]
    asked = max((row.asked for row in rows), default=0)
    print_table(f"{title}; {asked:,} asked", ["", "Prefetcher", "MRR", f"R@{k}"], cells, console, left=2)


def print_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console, left: int = 1
) -> None:
    """Names on the left, numbers on the right."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def names(text: str | None) -> tuple[str, ...]:
    """Names between commas, each once."""
    return tuple(dict.fromkeys(name for part in (text or "").split(",") if (name := part.strip())))


def shares(drop: Sequence[float] | None) -> tuple[float, ...]:
    """The shares that are asked, each once."""
    return tuple(dict.fromkeys(drop or ()))


def topic_of(text: str | None) -> TopicOf | None:
    """The one topic a user names."""
    from whycite.errors import UserError
    from whycite.evaluation.topics import named

    if text is None:
        return None
    found = named(text)
    if len(found) != 1:
        raise UserError(f"one topic at a time, not {len(found)}: run it again for the others")
    return found[0]


def consoles() -> tuple[Console, Console]:
    """Standard output, wide enough for tables where it is no terminal, and standard error."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console, Console(stderr=True, highlight=False)
