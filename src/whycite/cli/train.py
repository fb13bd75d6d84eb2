"""`whycite train`: models of your own, from your papers or library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import count, plain
from whycite.cli.trainpassages import passages
from whycite.cli.trainworthiness import worthiness
from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from whycite.training.corpus import Corpus

__all__ = ["app"]

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

Data = Annotated[
    list[Path],
    typer.Option(metavar="PATH...", help="Papers (files, folders, archives), a library, or a file of 'train corpus'."),
]
More = Annotated[list[Path] | None, typer.Argument(metavar="[PATH]...", hidden=True)]  # --data *.jsonl
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes that find evidence; by default one a core.")]
Base = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The model to begin with, if not the bundled encoder: a folder, a Hugging Face name."
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder of the model.")]
Until = Annotated[
    str, typer.Option(metavar="DATE", help="Train on nothing that came out on that day or later, as 2025-09-30.")
]
Without = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keys of papers that are left out, one a line: what you evaluate on."),
]
HeldOut = Annotated[int, typer.Option(min=1, help="Newest articles that are measured on, not trained on.")]
Seed = Annotated[int, typer.Option(help="What decides every draw.")]


class By(StrEnum):
    """How a ranker is trained."""

    own = "own"
    scope = "scope"


class Loss(StrEnum):
    """What a ranker learns from."""

    list = "list"
    triplet = "triplet"


@app.callback()
def _train() -> None:
    """Train models of your own."""


@app.command(short_help="Pack what papers say when they cite into one file.")
def corpus(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE.xz", help="The file to write.")],
    more: More = None,
    jobs: Jobs = None,
) -> None:
    """Pack articles, what they say when they cite, and what they cite, into one file to train from elsewhere."""
    from whycite.training.corpus import save

    if out.suffix != ".xz" or not out.parent.is_dir():
        raise UserError(f"{out}: the file of a corpus ends with .xz, and is written into a folder that is there")
    found = _corpus([*data, *(more or ())], jobs)
    save(found, out)
    sentences = sum(len(article.sentences) for article in found.articles)
    print(
        f"{count(len(found.articles), 'article')}, {count(sentences, 'citing sentence')} written to {plain(str(out))}"
    )


@app.command(short_help="An encoder that brings together what cites the same paper.")
def claims(
    data: Data,
    out: Out,
    base: Base = None,
    more: More = None,
    until: Until = "",
    without: Without = None,
    held_out: HeldOut = 60,
    epochs: Annotated[int, typer.Option(min=1, help="Times that every sentence is shown.")] = 5,
    batch: Annotated[
        int | None,
        typer.Option(min=2, help="Claims that are told from each other in a step; 1024, without a GPU 64."),
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="How large steps are.")] = 2e-4,
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Train a claim encoder: 'whycite library reindex --encoder DIR' then moves a library to it.

    A run that was stopped goes on after its last epoch when it is started again.
    """
    _require()
    from whycite.encoders import DEFAULT
    from whycite.training.claims import Recipe
    from whycite.training.making import make_claims, split

    parts = split(*_left([*data, *(more or ())], jobs, held_out, until, without))
    recipe = Recipe(epochs=epochs, batch=batch or _batch(), rate=rate, seed=seed)
    with _room():
        make_claims(parts, base or DEFAULT, out, recipe, _tell)


@app.command(short_help="A model that reads claim and paper side by side.")
def ranker(
    data: Data,
    out: Out,
    base: Base = None,
    more: More = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The encoder that finds what is ranked, if not the base.")
    ] = None,
    passages: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Data of CL-SciSumm, SciFact, Citation-Integrity: claims and their passages."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Train on all of --passages, and hold none of it out.")
    ] = False,
    restated: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Papers whose abstracts say what their bodies say; altered, otherwise."),
    ] = None,
    unseen: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keys of articles that the encoder was not trained on: only these ask."),
    ] = None,
    until: Until = "",
    without: Without = None,
    held_out: HeldOut = 60,
    lists: Annotated[int, typer.Option(min=1, help="Claims with their candidates.")] = 45_000,
    epochs: Annotated[int, typer.Option(min=1, help="Times that every list is shown.")] = 1,
    batch: Annotated[int, typer.Option(min=1, help="Lists in a step.")] = 64,
    rate: Annotated[float, typer.Option(min=0, help="How large steps are.")] = 1e-4,
    loss: Annotated[Loss, typer.Option(help="Whole lists, or SCOPE's pairs with a margin.")] = Loss.list,
    by: Annotated[By, typer.Option("--recipe", help="Our own, or SCOPE's reranker with its own epochs.")] = By.own,
    variant: Annotated[str, typer.Option(metavar="V", help="What SCOPE's reranker reads.")] = "paragraph",
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Train a ranker for papers, citing spans and passages, told apart by a word in front of the claim."""
    _require()
    if by is By.scope:
        _scope([*data, *(more or ())], out, base, until, without, held_out, lists, variant, seed)
        return
    from whycite.documents import stream
    from whycite.encoders import DEFAULT
    from whycite.training.making import make_ranker, split
    from whycite.training.passagedata import training_cases
    from whycite.training.ranker import Recipe
    from whycite.training.stancepairs import restated as restatements

    cases = training_cases(passages or (), whole=whole)
    asking = _keys(unseen)
    alike = list(restatements(document for path in restated or () for document in stream(path)))
    parts = split(*_left([*data, *(more or ())], jobs, held_out, until, without))
    recipe = Recipe(epochs=epochs, batch=batch, rate=rate, loss=loss.value, seed=seed)
    start = base or DEFAULT
    with _room():
        make_ranker(parts, cases, encoder or start, start, out, lists, recipe, _tell, asking, alike)


def _scope(
    paths: list[Path],
    out: Path,
    base: str | None,
    until: str,
    without: Path | None,
    held_out: int,
    lists: int,
    variant: str,
    seed: int,
) -> None:
    """SCOPE's reranker in one of its variants, by the published recipe."""
    from dataclasses import replace

    from rich.console import Console

    from whycite.cli.progress import watched
    from whycite.encoders import DEFAULT
    from whycite.evaluation.candidatesets import read
    from whycite.training.scope import RECIPE, left, make_scope

    keys = _keys(without)
    with watched(Console(stderr=True, highlight=False)) as watch:
        gathered, unread = read(paths, None, watch)
    for sentence in unread:
        _warn(sentence)
    recipe = replace(RECIPE, seed=seed)
    with _room():
        make_scope(left(gathered, until, keys), variant, base or DEFAULT, out, lists, held_out, _tell, recipe)


@app.command(short_help="How much each feature counts in the default method.")
def weights(
    data: Annotated[list[Path], typer.Option(metavar="PATH...", help="Papers: files, folders, archives.")],
    topics: Annotated[
        str, typer.Option(metavar="T1,T2", help="Subjects to fit to, as 'whycite eval ilciter' takes them.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the encoder that the weights are for.")],
    more: More = None,
    claims: Annotated[int, typer.Option(min=2, help="Claims a topic.")] = 1000,
    held_out: Annotated[int, typer.Option(min=1, help="Papers a topic that claims are taken from, the newest.")] = 200,
    work: Annotated[Path | None, typer.Option(metavar="DIR", help="Where libraries are kept for the next run.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Fit the weights of the default method to an encoder: they are kept in its folder, and used with it."""
    _require()
    from rich.console import Console

    from whycite.cli.progress import watched
    from whycite.evaluation.topics import named
    from whycite.training.fitting import fit_weights

    paths = [*data, *(more or ())]
    with watched(Console(stderr=True, highlight=False)) as watch:
        fit_weights(paths, named(topics), out, claims, held_out, work, seed, jobs or os.cpu_count() or 1, watch, _tell)


def _corpus(paths: list[Path], jobs: int | None) -> Corpus:
    from rich.console import Console

    from whycite.cli.progress import counted
    from whycite.training.gathering import corpus_of

    with counted(Console(stderr=True, highlight=False), "article") as watch:
        return corpus_of(paths, jobs or os.cpu_count() or 1, watch, _warn)


def _left(
    paths: list[Path], jobs: int | None, held_out: int, until: str, without: Path | None
) -> tuple[Corpus, int, str, list[str]]:
    """What a split takes; whatever is wrong with --without is said before the work begins."""
    keys = _keys(without)
    found = _corpus(paths, jobs)
    if keys:
        known = {article.key for article in found.articles}
        _tell(f"{len(known.intersection(keys))} of {count(len(keys), 'key')} to leave out are in the data")
    return found, held_out, until, keys


app.command(short_help="The thesis's models that rank passages.")(passages)
app.command(short_help="A model that tells which sentences need a citation.")(worthiness)


def _keys(file: Path | None) -> list[str]:
    """The keys in a file, one a line."""
    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: no keys can be read there ({error})") from error


def _batch() -> int:
    import torch

    return 1024 if torch.cuda.is_available() else 64  # a step of 1,024 claims takes some 50 GB


@contextmanager
def _room() -> Iterator[None]:
    """Say in one sentence that memory is too small."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise UserError("the memory is too small for such steps: lower --batch") from error


def _require() -> None:
    from importlib.util import find_spec

    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")


def _warn(sentence: str) -> None:
    print(f"warning: {plain(sentence)}", file=sys.stderr)


def _tell(sentence: str) -> None:
    print(plain(sentence), flush=True)
