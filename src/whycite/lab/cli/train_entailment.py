"""`whycite train entailment`: the model that reads claims and passages for `whycite verify`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import escape_markup
from whycite.files import shorten_paths
from whycite.lab.cli.train_passages import require_extra

__all__ = ["entailment"]


def entailment(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder with any of elife, pmc-rct, clscisumm, scifact, citint and entailment."
        ),
    ],
    written: Annotated[Path, typer.Option(metavar="FILE", help="Claims written about articles of --data, JSONL.")],
    base: Annotated[str, typer.Option(metavar="NAME", help="An MPNet: a folder or Hugging Face name.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    words: Annotated[int, typer.Option(metavar="N", min=1, help="Word pieces to keep, the commonest.")] = 13_000,
    layers: Annotated[int, typer.Option(metavar="N", min=1, help="Layers to keep.")] = 6,
    inner: Annotated[int, typer.Option(metavar="N", min=1, help="Inner neurons of each layer to keep.")] = 1536,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="Steps of all stages together.")] = 3969,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Stop training after this time.")
    ] = math.inf,
    folds: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Folds of SciFact and CL-SciSumm for recorded.json; 0 to record nothing."
        ),
    ] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
) -> None:
    """Train an entailment model, which says whether a passage backs a claim, contradicts it, or does neither.

    A large teacher learns first, then a small student. Nothing is written before the end.
    """
    require_extra()
    from rich.console import Console

    from whycite.cli.progress import count_progress
    from whycite.lab.train.entailmentstages import EntailmentPlan, build_entailment_model

    plan = EntailmentPlan(words, layers, inner, steps, deadline, folds, seed)
    console = Console(stderr=True, highlight=False)
    build_entailment_model(data, written, base, out, plan, _tell, lambda: count_progress(console, "article"))


def _tell(sentence: str) -> None:
    print(escape_markup(shorten_paths(sentence)), flush=True)
