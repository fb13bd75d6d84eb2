"""`whycite train`: models of your own, from your papers or library."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import count, escape_markup
from whycite.errors import MissingExtra, UserError
from whycite.lab.cli.train_passages import passages

if TYPE_CHECKING:
    from whycite.lab.train.corpus import Corpus

__all__ = ["app", "worthiness"]


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
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
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

    from whycite.cli.progress import count_progress

    paths = [*data, *(extra_paths or ())]
    if pack:
        from whycite.lab.train.worthiness.documents import pack_labelled

        with count_progress(Console(stderr=True, highlight=False), "article") as watch:
            written = pack_labelled(paths, out, watch=watch)
        print(f"{written} documents written to {escape_markup(str(out))}")
        return
    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")
    from whycite.lab.train.worthiness import WorthinessRecipe
    from whycite.lab.train.worthiness.build import build_worthiness_model
    from whycite.lab.train.worthiness.documents import read_labelled
    from whycite.models import DEFAULT

    recipe = WorthinessRecipe(
        base=base or DEFAULT, variant=variant, readout=readout.value, conform=conform, epochs=epochs, rate=rate,
        tokens=batch, folds=folds, judge=judge or "", soft=soft, limit=limit, seed=seed,
    )  # fmt: skip
    with count_progress(Console(stderr=True, highlight=False), "article") as watch:
        documents = list(read_labelled(paths, watch))
    build_worthiness_model(documents, out, recipe, _print_line, dev, test, workers, deadline)


def _print_line(sentence: str) -> None:
    print(escape_markup(sentence), flush=True)


app = typer.Typer(help="Train models of your own.", rich_markup_mode=None, no_args_is_help=True)

Data = Annotated[
    list[Path],
    typer.Option(metavar="PATH...", help="Papers (files, folders, archives), a library, or a file of 'train corpus'."),
]
ExtraPaths = Annotated[list[Path] | None, typer.Argument(metavar="[PATH]...", hidden=True)]  # --data *.jsonl
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


class RankerTraining(StrEnum):
    """How a ranker is trained."""

    whycite = "own"
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
    extra_paths: ExtraPaths = None,
    jobs: Jobs = None,
) -> None:
    """Pack articles, what they say when they cite, and what they cite, into one file to train from elsewhere."""
    from whycite.lab.train.corpus import save

    if out.suffix != ".xz" or not out.parent.is_dir():
        raise UserError(f"{out}: the file of a corpus ends with .xz, and is written into a folder that is there")
    article_corpus = _gather_corpus([*data, *(extra_paths or ())], jobs)
    save(article_corpus, out)
    sentences = sum(len(article.sentences) for article in article_corpus.articles)
    print(
        f"{count(len(article_corpus.articles), 'article')}, {count(sentences, 'citing sentence')} "
        f"written to {escape_markup(str(out))}"
    )


@app.command(short_help="An encoder that brings together what cites the same paper.")
def claims(
    data: Data,
    out: Out,
    base: Base = None,
    extra_paths: ExtraPaths = None,
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
    _require_extra()
    from whycite.lab.train.build import build_claim_encoder, split_corpus
    from whycite.lab.train.claimencoder import EncoderRecipe
    from whycite.models import DEFAULT

    parts = split_corpus(*_select_articles([*data, *(extra_paths or ())], jobs, held_out, until, without))
    recipe = EncoderRecipe(epochs=epochs, batch=batch or _default_batch(), rate=rate, seed=seed)
    with _memory_guard():
        build_claim_encoder(parts, base or DEFAULT, out, recipe, _tell)


@app.command(short_help="A model that reads claim and paper side by side.")
def ranker(
    data: Data,
    out: Out,
    base: Base = None,
    extra_paths: ExtraPaths = None,
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
    training: Annotated[
        RankerTraining, typer.Option("--recipe", help="Our own, or SCOPE's reranker with its own epochs.")
    ] = RankerTraining.whycite,
    variant: Annotated[str, typer.Option(metavar="V", help="What SCOPE's reranker reads.")] = "paragraph",
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Train a ranker for papers, citing spans and passages, told apart by a word in front of the claim."""
    _require_extra()
    if training is RankerTraining.scope:
        _train_scope_ranker([*data, *(extra_paths or ())], out, base, until, without, held_out, lists, variant, seed)
        return
    from whycite.documents import stream
    from whycite.lab.train.build import build_ranker, split_corpus
    from whycite.lab.train.ranker import RankerRecipe
    from whycite.lab.train.rankerexamples import restated_pairs as restatements
    from whycite.lab.train.verifyexamples import training_cases
    from whycite.models import DEFAULT

    cases = training_cases(passages or (), whole=whole)
    asking = _read_keys(unseen)
    alike = list(restatements(document for path in restated or () for document in stream(path)))
    parts = split_corpus(*_select_articles([*data, *(extra_paths or ())], jobs, held_out, until, without))
    recipe = RankerRecipe(epochs=epochs, batch=batch, rate=rate, loss=loss.value, seed=seed)
    start = base or DEFAULT
    with _memory_guard():
        build_ranker(parts, cases, encoder or start, start, out, lists, recipe, _tell, asking, alike)


def _train_scope_ranker(
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

    from whycite.cli.progress import stage_progress
    from whycite.lab.scope.prefetching import read_citing_corpus
    from whycite.lab.scope.triplets import RECIPE, build_scope_ranker, exclude_documents
    from whycite.models import DEFAULT

    keys = _read_keys(without)
    with stage_progress(Console(stderr=True, highlight=False)) as watch:
        gathered, unread = read_citing_corpus(paths, None, watch)
    for sentence in unread:
        _warn(sentence)
    recipe = replace(RECIPE, seed=seed)
    with _memory_guard():
        build_scope_ranker(
            exclude_documents(gathered, until, keys), variant, base or DEFAULT, out, lists, held_out, _tell, recipe
        )


@app.command(short_help="How much each feature counts in the default method.")
def weights(
    data: Annotated[list[Path], typer.Option(metavar="PATH...", help="Papers: files, folders, archives.")],
    topics: Annotated[
        str, typer.Option(metavar="T1,T2", help="Subjects to fit to, as 'whycite eval ilciter' takes them.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the encoder that the weights are for.")],
    extra_paths: ExtraPaths = None,
    claims: Annotated[int, typer.Option(min=2, help="Claims a topic.")] = 1000,
    held_out: Annotated[int, typer.Option(min=1, help="Papers a topic that claims are taken from, the newest.")] = 200,
    work: Annotated[Path | None, typer.Option(metavar="DIR", help="Where libraries are kept for the next run.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Fit the weights of the default method to an encoder: they are kept in its folder, and used with it."""
    _require_extra()
    from rich.console import Console

    from whycite.cli.progress import stage_progress
    from whycite.lab.evaluate.topics import parse_topics
    from whycite.lab.train.citeweights import fit_weights

    paths = [*data, *(extra_paths or ())]
    with stage_progress(Console(stderr=True, highlight=False)) as watch:
        fit_weights(
            paths, parse_topics(topics), out, claims, held_out, work, seed, jobs or os.cpu_count() or 1, watch, _tell
        )


def _gather_corpus(paths: list[Path], jobs: int | None) -> Corpus:
    from rich.console import Console

    from whycite.cli.progress import count_progress
    from whycite.lab.train.corpus import corpus_of

    with count_progress(Console(stderr=True, highlight=False), "article") as watch:
        return corpus_of(paths, jobs or os.cpu_count() or 1, watch, _warn)


def _select_articles(
    paths: list[Path], jobs: int | None, held_out: int, until: str, without: Path | None
) -> tuple[Corpus, int, str, list[str]]:
    """What a split takes; whatever is wrong with --without is said before the work begins."""
    keys = _read_keys(without)
    article_corpus = _gather_corpus(paths, jobs)
    if keys:
        article_keys = {article.key for article in article_corpus.articles}
        _tell(f"{len(article_keys.intersection(keys))} of {count(len(keys), 'key')} to leave out are in the data")
    return article_corpus, held_out, until, keys


app.command(short_help="The thesis's models that rank passages.")(passages)
app.command(short_help="A model that tells which sentences need a citation.")(worthiness)


def _read_keys(file: Path | None) -> list[str]:
    """The keys in a file, one a line."""
    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: no keys can be read there ({error})") from error


def _default_batch() -> int:
    import torch

    return 1024 if torch.cuda.is_available() else 64  # a step of 1,024 claims takes some 50 GB


@contextmanager
def _memory_guard() -> Iterator[None]:
    """Say in one sentence that memory is too small."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise UserError("the memory is too small for such steps: lower --batch") from error


def _require_extra() -> None:
    from importlib.util import find_spec

    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")


def _warn(sentence: str) -> None:
    print(f"warning: {escape_markup(sentence)}", file=sys.stderr)


def _tell(sentence: str) -> None:
    print(escape_markup(sentence), flush=True)
