"""`whycite train worthiness`: a model that tells which sentences need a citation, from your papers."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import plain
from whycite.errors import MissingExtra

__all__ = ["worthiness"]


class Readout(StrEnum):
    """Where a sentence's score is read."""

    mean = "mean"
    separator = "separator"


def worthiness(
    data: Annotated[
        list[Path],
        typer.Option(metavar="PATH...", help="Papers: files, folders, archives; or what --pack wrote (.jsonl.bz2)."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write; with --pack a file .jsonl.bz2.")],
    more: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    base: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to start from: a folder or Hugging Face name.")
    ] = None,
    pack: Annotated[
        bool, typer.Option("--pack", help="Only pack labelled paragraphs, to train from elsewhere.")
    ] = False,
    variant: Annotated[str, typer.Option(help="What is read (SCOPE 3.2): ctx, ctx-section-extra, solo, …")] = (
        "ctx-section-extra"
    ),
    readout: Annotated[Readout, typer.Option(help="Over a sentence's own tokens, or as SCOPE behind it.")] = (
        Readout.mean
    ),
    conform: Annotated[bool, typer.Option("--conform", help="Train on conforming paragraphs alone, as SCOPE.")] = False,
    dev: Annotated[int, typer.Option(min=1, help="Documents to choose by, the newest but for the test's.")] = 100,
    test: Annotated[int, typer.Option(min=1, help="Documents to measure on, the newest.")] = 200,
    epochs: Annotated[int, typer.Option(min=1, help="Times that every paragraph is shown.")] = 6,
    rate: Annotated[float, typer.Option(min=0, help="How large steps are.")] = 4e-4,
    batch: Annotated[int, typer.Option(min=64, help="Tokens in a step.")] = 32_768,
    folds: Annotated[
        int, typer.Option(min=0, help="Parts that models of the others judge, to learn from that too; 0: labels alone.")
    ] = 2,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="What these models start from, if not the base (rate 1e-4).")
    ] = None,
    soft: Annotated[
        float, typer.Option(min=0, max=1, help="What their judgement counts beside the label: 0, nothing; 1, all.")
    ] = 0.5,
    limit: Annotated[int, typer.Option(min=64, help="Tokens that are read together.")] = 512,
    deadline: Annotated[float, typer.Option(min=1, help="Seconds after which training is over.")] = math.inf,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make batches.")] = 0,
    seed: Annotated[int, typer.Option(help="What decides every draw.")] = 0,
) -> None:
    """Train a worthiness model; 'whycite check --worthiness DIR' and 'whycite worth --model DIR' then use it."""
    from importlib.util import find_spec

    from rich.console import Console

    from whycite.cli.progress import counted

    paths = [*data, *(more or ())]
    if pack:
        from whycite.training.worthiness.preparing import prepare

        with counted(Console(stderr=True, highlight=False), "article") as watch:
            written = prepare(paths, out, watch=watch)
        print(f"{written} documents written to {plain(str(out))}")
        return
    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")
    from whycite.encoders import DEFAULT
    from whycite.training.worthiness import Recipe
    from whycite.training.worthiness.making import make
    from whycite.training.worthiness.preparing import gathered

    recipe = Recipe(
        base=base or DEFAULT, variant=variant, readout=readout.value, conform=conform, epochs=epochs, rate=rate,
        tokens=batch, folds=folds, judge=judge or "", soft=soft, limit=limit, seed=seed,
    )  # fmt: skip
    with counted(Console(stderr=True, highlight=False), "article") as watch:
        documents = list(gathered(paths, watch))
    make(documents, out, recipe, _tell, dev, test, workers, deadline)


def _tell(sentence: str) -> None:
    print(plain(sentence), flush=True)
