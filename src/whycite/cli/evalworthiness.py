"""`whycite eval worthiness`: how well it is told which sentences need a citation."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from whycite.cli.options import AsJson
from whycite.cli.progress import counted
from whycite.cli.terminal import print_json, say
from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from whycite.evaluation.worthiness import Scores
    from whycite.worthiness.folder import FolderDetector

__all__ = ["worthiness"]

_WIDTH = 120  # of tables that no terminal bounds


def worthiness(
    data: Annotated[
        list[Path] | None, typer.Option(metavar="PATH...", help="Articles: files, folders, archives; newest first.")
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    drafts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of drafts, each in a folder of its own.")
    ] = None,
    test: Annotated[int, typer.Option(min=1, help="The newest articles, to measure on.")] = 200,
    trained: Annotated[int, typer.Option(min=1, help="Older articles that baselines learn from.")] = 1000,
    model: Annotated[
        str | None, typer.Option(metavar="DIR", help="A model of 'whycite train worthiness', if not the bundled one.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What bibliographies are compared by, if not the bundled encoder."),
    ] = None,
    seed: Annotated[int, typer.Option(help="What decides every draw.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Repeat SCOPE's table 3 on articles, or measure on drafts whose citations are masked.

    A draft is decided by what drafts of other projects teach: versions of one project share the first word of their
    folder's name ("thesis-early", "thesis-late").
    """
    from rich.console import Console

    if bool(data) == (drafts is not None) or (more and not data):
        raise UserError("give articles with --data, or a folder of drafts with --drafts")
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    if data:
        rows = _articles([*data, *(more or ())], test, trained, model, encoder, seed, errors)
    else:
        rows = _drafts(cast(Path, drafts), model, encoder, errors)
    if as_json:
        keys = ("method", "sentences_of", "sentences", "P", "R", "F1")
        print_json({"seed": seed, "rows": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        _show(rows, console)


Row = tuple[str, str, int, float, float, float]


def _row(method: str, kind: str, sentences: int, scores: Scores) -> Row:
    return method, kind, sentences, scores.precision, scores.recall, scores.f1


def _articles(
    data: Sequence[Path],
    test: int,
    trained: int,
    model: str | None,
    encoder: str | None,
    seed: int,
    errors: Console,
) -> list[Row]:
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        raise MissingExtra("Evaluation", "eval")
    from whycite import encoders
    from whycite.evaluation.worthiness import by_date
    from whycite.evaluation.worthinesstable import table
    from whycite.training.worthiness.preparing import gathered
    from whycite.worthiness import load

    dev = max(1, test // 2)
    with counted(errors, "article") as tell:
        documents = list(islice(gathered(data, tell), trained + dev + test))
    found = table(
        by_date(documents, dev, test),
        load(model, decision="articles"),
        encoders.load(encoder or encoders.DEFAULT),
        seed,
    )
    return [_row(row.method, row.kind, row.sentences, row.scores) for row in found]


def _drafts(folder: Path, model: str | None, encoder: str | None, errors: Console) -> list[Row]:
    import whycite
    from whycite import encoders
    from whycite.evaluation.pipeline import drafts_in
    from whycite.evaluation.worthiness import TITLES
    from whycite.evaluation.worthinessdrafts import cross_fitted, draft
    from whycite.worthiness import load
    from whycite.worthiness.examples import examples

    detector = cast("FolderDetector", load(model, decision="drafts"))
    compared = encoders.load(encoder or encoders.DEFAULT)
    found = []
    with counted(errors, "draft") as tell:
        for path in drafts_in(folder):
            name = path.name
            found.append(draft(name, name.partition("-")[0], examples(whycite.read(path)), detector, compared))
            tell(len(found))
    number = sum(len(each.worthy) for each in found)
    english = sum(len(each.worthy) for each in found if each.english)
    alone, informed = cross_fitted([replace(each, signs=None) for each in found]), cross_fitted(found)
    method = f"{detector.name}, {TITLES}"
    return [
        _row(detector.name, "all drafts", number, alone.all),
        _row(detector.name, "drafts in English", english, alone.english),
        _row(method, "all drafts", number, informed.all),
        _row(method, "drafts in English", english, informed.english),
        *(_row(method, each.name, len(each.worthy), scores) for each, scores in informed.by_draft),
    ]


def _show(rows: Sequence[Row], console: Console) -> None:
    from rich import box
    from rich.table import Table

    table = Table("Method", "Sentences of", box=box.SIMPLE)
    for name in ("Sentences", "P", "R", "F1"):
        table.add_column(name, justify="right")
    for method, kind, sentences, *values in rows:
        table.add_row(method, kind, f"{sentences:,}", *(f"{value:.3f}" for value in values))
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    say(console, "Precision, recall and F1 of the sentences that cite.")
    console.print(table)
