"""`whycite train`: train your own models on your papers or library."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import CommandGroup, count, escape_markup, given_options, refuse_options
from whycite.errors import MissingExtra, UserError
from whycite.files import shorten_paths
from whycite.lab.cli.train_verify import entailment, passages

if TYPE_CHECKING:
    from whycite.lab.train.corpus import Corpus

__all__ = ["app", "worthiness"]


class TrainingRecipe(StrEnum):
    """Recipes for training: our own, or that of SCOPE."""

    whycite = "own"
    scope = "scope"


class Readout(StrEnum):
    """How the score of a sentence is read from its tokens."""

    mean = "mean"
    separator = "separator"


def worthiness(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option(metavar="PATH...", help="Files, folders or archives of papers, or a file made by --pack."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model; with --pack, a .jsonl.bz2 file.")],
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,  # --data *.jsonl
    base: Annotated[str | None, typer.Option(metavar="NAME", help="Base model: a folder or Hugging Face name.")] = None,
    pack: Annotated[
        bool, typer.Option("--pack", help="Only write labelled paragraphs to a file to train from.")
    ] = False,
    training: Annotated[
        TrainingRecipe, typer.Option("--recipe", metavar="RECIPE", help="own, or scope for SCOPE's cite-worthiness.")
    ] = TrainingRecipe.whycite,
    variant: Annotated[
        str, typer.Option(metavar="V", help="Input variant (SCOPE, section 3.2): ctx, ctx-section-extra, solo, …")
    ] = ("ctx-section-extra"),
    readout: Annotated[Readout, typer.Option(metavar="KIND", help="mean of the tokens, or separator as in SCOPE.")] = (
        Readout.mean
    ),
    conform: Annotated[
        bool, typer.Option("--conform", help="Train only on conforming paragraphs, as in SCOPE.")
    ] = False,
    dev: Annotated[
        int, typer.Option(metavar="N", min=1, help="Development documents, the newest before the test set.")
    ] = 100,
    test: Annotated[int, typer.Option(metavar="N", min=1, help="Test documents, the newest.")] = 200,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Number of epochs.")] = 6,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 4e-4,
    batch: Annotated[int, typer.Option(metavar="N", min=64, help="Tokens per step.")] = 32_768,
    folds: Annotated[
        int, typer.Option(metavar="N", min=0, help="Folds for soft labels; 0 to train on labels only.")
    ] = 2,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Base model for soft labels (learning rate 1e-4).")
    ] = None,
    soft: Annotated[float, typer.Option(metavar="SHARE", min=0, max=1, help="Weight of soft labels (0 to 1).")] = 0.5,
    limit: Annotated[int, typer.Option(metavar="N", min=64, help="Longest input in tokens.")] = 512,
    inner: Annotated[
        int, typer.Option(metavar="N", min=0, help="Make a smaller network of an MPNet, with this inner width.")
    ] = 0,
    layers: Annotated[int, typer.Option(metavar="N", min=0, help="With --inner: layers to keep; 0 for all.")] = 0,
    words: Annotated[
        int, typer.Option(metavar="N", min=0, help="With --inner: pieces of the vocabulary to keep; 0 for all.")
    ] = 0,
    bits: Annotated[int, typer.Option(metavar="N", help="Bits of the weights: 8 or 4.")] = 8,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A reader's labels of sentences, to learn from as well.")
    ] = None,
    labelled: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the documents that --labels is about.")
    ] = None,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Stop training after this time.")
    ] = math.inf,
    workers: Annotated[int, typer.Option(metavar="N", min=0, help="Processes that prepare batches.")] = 0,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
) -> None:
    """Train a worthiness model for `whycite check --worthiness` and `whycite worth --model`."""
    from importlib.util import find_spec

    from rich.console import Console

    from whycite.cli.progress import count_progress

    paths = [*data, *(extra_paths or ())]
    if pack:
        from whycite.lab.train.worthiness.examples import pack_labelled

        with count_progress(Console(stderr=True, highlight=False), "article") as watch:
            written = pack_labelled(paths, out, watch=watch)
        print(f"Wrote {count(written, 'document')} to {escape_markup(shorten_paths(str(out)))}.")
        return
    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")
    from dataclasses import replace

    from whycite.lab.train.worthiness import WorthinessRecipe, scope_recipe
    from whycite.lab.train.worthiness.build import build_worthiness_model
    from whycite.lab.train.worthiness.examples import read_labelled
    from whycite.lab.train.worthiness.readerlabels import read_labels, reader_documents, set_aside_keys
    from whycite.models import DEFAULT

    if (labels is None) != (labelled is None):
        raise UserError("--labels needs --labelled, the folder of the documents, and the other way round")
    if training is TrainingRecipe.scope:
        refused_names = (
            "readout", "conform", "batch", "folds", "judge", "soft", "inner", "layers", "words", "bits", "labels",
        )  # fmt: skip
        refuse_options(ctx, refused_names, "--recipe scope")
        chosen_options = given_options(ctx, {"epochs": epochs, "rate": rate, "limit": limit})
        recipe = replace(scope_recipe(variant, base or DEFAULT, seed), **chosen_options)
    else:
        recipe = WorthinessRecipe(
        base=base or DEFAULT, variant=variant, readout=readout.value, conform=conform, epochs=epochs, rate=rate,
        tokens=batch, folds=folds, judge=judge or "", soft=soft, limit=limit, inner=inner, layers=layers, words=words,
        bits=bits, seed=seed,
        )  # fmt: skip
    with count_progress(Console(stderr=True, highlight=False), "article") as watch:
        documents = list(read_labelled(paths, watch))
    judged = []
    if labels and labelled:
        of_reader = read_labels(labels)
        judged, set_aside = reader_documents(of_reader, labelled), set_aside_keys(of_reader, labelled)
        documents = [document for document in documents if document.key not in set_aside]
    build_worthiness_model(documents, out, recipe, _print_line, dev, test, workers, deadline, judged)


def _print_line(sentence: str) -> None:
    print(escape_markup(sentence), flush=True)


app = CommandGroup(no_args_is_help=True)

Data = Annotated[
    list[Path],
    typer.Option(metavar="PATH...", help="Papers, a library, or a file made by `whycite train corpus`."),
]
ExtraPaths = Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)]  # --data *.jsonl
Jobs = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of processes; one per core by default.")]
Base = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Base model: a folder or Hugging Face name."),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")]
Until = Annotated[str, typer.Option(metavar="DATE", help="Train only on papers before this date, such as 2025-09-30.")]
Without = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keys of papers to exclude, one per line."),
]
HeldOut = Annotated[int, typer.Option(metavar="N", min=1, help="Newest articles to hold out for testing.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]


_UNUSED_BY_SCOPE = ("encoder", "passages", "whole", "restated", "unseen", "batch", "loss", "jobs")


class Loss(StrEnum):
    """Loss functions for training a ranker."""

    list = "list"
    triplet = "triplet"


@app.callback()
def _train() -> None:
    """Train your own models."""


@app.command(short_help="Pack papers into one file to train from.")
def corpus(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE.xz", help="File to write.")],
    extra_paths: ExtraPaths = None,
    jobs: Jobs = None,
) -> None:
    """Pack articles with their citing sentences and cited papers into one file to train from."""
    from whycite.lab.train.corpus import save

    if out.suffix != ".xz" or not out.parent.is_dir():
        raise UserError(f"{out}: must end with .xz and be in an existing folder")
    article_corpus = _gather_corpus([*data, *(extra_paths or ())], jobs)
    save(article_corpus, out)
    sentences = sum(len(article.sentences) for article in article_corpus.articles)
    print(
        f"Wrote {count(len(article_corpus.articles), 'article')} with {count(sentences, 'citing sentence')} "
        f"to {escape_markup(shorten_paths(str(out)))}."
    )


@app.command(short_help="Train an encoder for claims and papers.")
def claims(
    data: Data,
    out: Out,
    base: Base = None,
    extra_paths: ExtraPaths = None,
    until: Until = "",
    without: Without = None,
    held_out: HeldOut = 60,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Number of epochs.")] = 5,
    batch: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Claims per step; 1024, or 64 without a GPU."),
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 2e-4,
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Train a claim encoder; `whycite library reindex --encoder DIR` switches a library to it.

    If interrupted, run the same command again to continue after the last epoch.
    """
    _require_extra()
    from whycite.lab.train.build import build_claim_encoder, split_corpus
    from whycite.lab.train.claimencoder import EncoderRecipe
    from whycite.models import DEFAULT

    parts = split_corpus(*_select_articles([*data, *(extra_paths or ())], jobs, held_out, until, without))
    recipe = EncoderRecipe(epochs=epochs, batch=batch or _default_batch(), rate=rate, seed=seed)
    with _memory_guard():
        build_claim_encoder(parts, base or DEFAULT, out, recipe, _tell)


@app.command(short_help="Train a model that scores pairs of claim and paper.")
def ranker(
    ctx: typer.Context,
    data: Data,
    out: Out,
    base: Base = None,
    extra_paths: ExtraPaths = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoder that finds candidates; the base model by default.")
    ] = None,
    passages: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="CL-SciSumm, SciFact or Citation-Integrity data; repeatable."),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Train on all of --passages and hold out none of it.")] = False,
    restated: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Papers for training pairs of abstract and body; repeatable."),
    ] = None,
    unseen: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keys of articles unseen by the encoder; take claims only from these."),
    ] = None,
    until: Until = "",
    without: Without = None,
    held_out: HeldOut = 60,
    lists: Annotated[int, typer.Option(metavar="N", min=1, help="Claims with candidates to train on.")] = 45_000,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Number of epochs.")] = 1,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Claims per step.")] = 64,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 1e-4,
    loss: Annotated[Loss, typer.Option(help="list, or triplet as in SCOPE.")] = Loss.list,
    training: Annotated[
        TrainingRecipe, typer.Option("--recipe", metavar="RECIPE", help="own, or scope for SCOPE's reranker.")
    ] = TrainingRecipe.whycite,
    variant: Annotated[str, typer.Option(metavar="V", help="Input variant of SCOPE's reranker.")] = "paragraph",
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Train one ranker for papers, citing spans and passages."""
    _require_extra()
    if training is TrainingRecipe.scope:
        refuse_options(ctx, _UNUSED_BY_SCOPE, "--recipe scope")
        changes = given_options(ctx, {"epochs": epochs, "rate": rate}) | {"seed": seed}
        _train_scope_ranker([*data, *(extra_paths or ())], out, base, until, without, held_out, lists, variant, changes)
        return
    refuse_options(ctx, ("variant",), "--recipe own")
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
    changes: Mapping[str, Any],
) -> None:
    """SCOPE's reranker in one of its variants, by the published recipe, but for what the user changes."""
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
    recipe = replace(RECIPE, **changes)
    with _memory_guard():
        build_scope_ranker(
            exclude_documents(gathered, until, keys), variant, base or DEFAULT, out, lists, held_out, _tell, recipe
        )


@app.command(short_help="Fit the weights of the default method.")
def weights(
    data: Annotated[list[Path], typer.Option(metavar="PATH...", help="Files, folders or archives of papers.")],
    topics: Annotated[str, typer.Option(metavar="T1,T2", help="Subjects to fit to, as in `whycite eval ilciter`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the encoder that the weights are for.")],
    extra_paths: ExtraPaths = None,
    claims: Annotated[int, typer.Option(metavar="N", min=2, help="Claims per topic.")] = 1000,
    held_out: Annotated[
        int, typer.Option(metavar="N", min=1, help="Newest papers per topic to take claims from.")
    ] = 200,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep libraries in for the next run.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
) -> None:
    """Fit the weights of the default method to an encoder and save them in its folder."""
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
    """The arguments of `split_corpus`; reads --without first, to report mistakes in it early."""
    keys = _read_keys(without)
    article_corpus = _gather_corpus(paths, jobs)
    if keys:
        article_keys = {article.key for article in article_corpus.articles}
        _tell(f"{len(article_keys.intersection(keys))} of {count(len(keys), 'key')} to exclude are in the data")
    return article_corpus, held_out, until, keys


app.command(short_help="Train a model that judges claims by passages.")(entailment)
app.command(short_help="Train a model that ranks passages.")(passages)
app.command(short_help="Train a model that finds sentences that need a citation.")(worthiness)


def _read_keys(file: Path | None) -> list[str]:
    """The keys in a file, one per line."""
    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot read keys ({error})") from error


def _default_batch() -> int:
    import torch

    return 1024 if torch.cuda.is_available() else 64  # a step of 1,024 claims takes about 50 GB


@contextmanager
def _memory_guard() -> Iterator[None]:
    """Turn out-of-memory errors into a UserError."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise UserError("out of memory; use a smaller --batch") from error


def _require_extra() -> None:
    from importlib.util import find_spec

    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")


def _warn(sentence: str) -> None:
    print(f"warning: {escape_markup(shorten_paths(sentence))}", file=sys.stderr)


def _tell(sentence: str) -> None:
    print(escape_markup(sentence), flush=True)
