"""`whycite train passages` and `whycite train entailment`: the models of `whycite verify`."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import escape_markup, refuse_options
from whycite.errors import MissingExtra, UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from whycite.lab.thesis.datasets import PassageCase
    from whycite.lab.thesis.experiment import CaseSplit
    from whycite.lab.thesis.measures import Scorer
    from whycite.lab.thesis.networks import PassageRecipe, WordVectors

__all__ = ["PairKind", "entailment", "load_lexicon", "passages", "require_extra", "similarity"]


class PairKind(StrEnum):
    """Pairs to train on."""

    hard = "hard"
    augmented = "augmented"


def passages(
    ctx: typer.Context,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="rnn, gru, lstm, bilstm, bidaf, document, document-attention or document-bidaf.",
        ),
    ],
    data: Annotated[
        list[Path], typer.Option(metavar="PATH", help="File or folder of claims with known passages; repeatable.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Word vectors in GloVe format."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoder for similarity and default word vectors."),
    ] = None,
    pairs: Annotated[
        PairKind, typer.Option(metavar="KIND", help="Pairs to train on: hard or augmented.")
    ] = PairKind.augmented,
    words_width: Annotated[
        int, typer.Option("--words", metavar="N", min=1, help="Size of the encoder's word vectors.")
    ] = 200,
    hidden: Annotated[int, typer.Option(metavar="N", min=2, help="Size of the hidden state.")] = 80,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of epochs.")] = 12,
    patience: Annotated[
        int, typer.Option(metavar="N", min=1, help="Stop after this many epochs without improvement.")
    ] = 3,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 2e-3,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
) -> None:
    """Train a model that decides which of two sentences of a cited paper backs a claim better.

    Claims are split into 70% training, 15% development and 15% test data that share no documents. What `whycite
    annotate split` wrote keeps its parts and its pairs.
    """
    require_extra()
    from whycite.lab.annotate.pairs import is_split
    from whycite.lab.thesis.casefiles import load_datasets
    from whycite.lab.thesis.modelstore import PassageTrainer, config_of
    from whycite.lab.thesis.networks import PassageRecipe
    from whycite.models import DEFAULT

    recipe = PassageRecipe(
        model=model, words=words_width, hidden=hidden, epochs=epochs, patience=patience, rate=rate, seed=seed
    )
    paths = [*data, *(extra_paths or ())]
    if any(map(is_split, paths)):
        if not all(map(is_split, paths)):
            raise UserError(
                "folders made by `whycite annotate split` cannot be mixed with other data; train on one kind"
            )
        refuse_options(ctx, ("pairs",), "pairs of `whycite annotate split`")
        _train_on_split(paths, recipe, vectors, encoder or DEFAULT, out)
        return
    sets = {name: cases for name, cases in load_datasets(paths).items() if any(case.gold for case in cases)}
    if not sets:
        raise UserError("none of the datasets has labelled passages, as CL-SciSumm, SciFact and `annotate` have them")
    all_cases = [case for cases in sets.values() for case in cases]
    lexicon = load_lexicon(vectors, encoder or DEFAULT, recipe.words, all_cases)
    maker = PassageTrainer(lexicon, similarity(encoder or DEFAULT), pairs.value, _tell)
    maker.make(_split_cases(sets, seed), recipe, out)
    figures = (config_of(out) or {})["figures"]
    _tell(", ".join(f"{part} accuracy {value:.4f}" for part, value in figures.items()))


def _train_on_split(folders: list[Path], recipe: PassageRecipe, vectors: Path | None, encoder: str, out: Path) -> None:
    """Train on comparisons in the parts that `annotate split` put them in, and compare with BM25 and the encoder."""
    from whycite.lab.annotate.pairs import PARTS, read_split
    from whycite.lab.thesis.experiment import bm25
    from whycite.lab.thesis.modelstore import accuracy, save
    from whycite.lab.thesis.training import train

    splits = [read_split(folder, str(folder)) for folder in folders]
    parts = {part: [comparison for split in splits for comparison in split[part]] for part in PARTS}
    cases = [comparison.case for comparisons in parts.values() for comparison in comparisons]
    lexicon = load_lexicon(vectors, encoder, recipe.words, cases)
    trained = train(parts["train"], parts["dev"], lexicon, recipe, _tell)
    figures = {"dev": trained.accuracy}
    if parts["test"]:
        figures["test"] = accuracy(parts["test"], trained.model)
    sizes = ", ".join(f"{len(parts[part])} {part}" for part in PARTS)
    save(out, trained.model, {"pairs": f"of labellers: {sizes}"}, trained.measured, figures)
    _tell(", ".join(f"{part} accuracy {value:.4f}" for part, value in figures.items()))
    if parts["test"]:
        rivals = {"BM25": bm25(), "encoder": similarity(encoder)}
        _tell(
            "on the same test pairs: "
            + ", ".join(f"{name} {accuracy(parts['test'], rival):.4f}" for name, rival in rivals.items())
        )


def _split_cases(sets: dict[str, list[PassageCase]], seed: int) -> CaseSplit:
    from whycite.lab.thesis.experiment import join_parts, split

    return join_parts([split(cases, seed=seed) for cases in sets.values()])


def load_lexicon(file: Path | None, encoder: str, width: int, cases: list[PassageCase]) -> WordVectors:
    """The word vectors of a file, or of an encoder."""
    from whycite.lab.thesis.networks import encoder_word_vectors, read_word_vectors

    if file is None:
        return encoder_word_vectors(encoder, width)
    texts = {text: None for case in cases for text in (case.claim, *case.sentences)}
    return read_word_vectors(file, texts)


def similarity(encoder: str) -> Scorer:
    """Cosine similarity by an encoder with cached vectors."""
    from whycite.lab.thesis.experiment import Cosine
    from whycite.models import load_encoder
    from whycite.models.cache import CachedEncoder

    return Cosine(CachedEncoder(load_encoder(encoder)).encode)


def require_extra() -> None:
    """Raise MissingExtra if the packages for training are not installed."""
    from importlib.util import find_spec

    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")


def entailment(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder with any of elife, pmc-rct, clscisumm, scifact, citint and entailment."
        ),
    ],
    written: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="Claims written about articles of --data or about passages, JSONL. Can be repeated."
        ),
    ],
    base: Annotated[str, typer.Option(metavar="NAME", help="An MPNet: a folder or Hugging Face name.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    words: Annotated[int, typer.Option(metavar="N", min=1, help="Word pieces to keep, the commonest.")] = 13_000,
    layers: Annotated[int, typer.Option(metavar="N", min=1, help="Layers to keep.")] = 12,
    inner: Annotated[int, typer.Option(metavar="N", min=1, help="Inner neurons of each layer to keep.")] = 1024,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="Steps of all stages together.")] = 5075,
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
    bits: Annotated[int, typer.Option(metavar="8|4", help="Bits of a weight; 4 take half of the room.")] = 8,
) -> None:
    """Train an entailment model, which says whether a passage backs a claim, contradicts it, or does neither.

    A large teacher learns first, then a small student. Nothing is written before the end.
    """
    require_extra()
    from rich.console import Console

    from whycite.cli.progress import count_progress
    from whycite.lab.train.entailmentstages import EntailmentPlan, build_entailment_model

    plan = EntailmentPlan(words, layers, inner, steps, deadline, folds, seed, bits)
    console = Console(stderr=True, highlight=False)
    build_entailment_model(data, written, base, out, plan, _tell, lambda: count_progress(console, "article"))


def _tell(sentence: str) -> None:
    print(escape_markup(shorten_paths(sentence)), flush=True)
