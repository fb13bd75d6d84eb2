"""`whycite train passages`: the models of "Why did they cite that?"."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import escape_markup
from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from whycite.lab.thesis.datasets import PassageCase
    from whycite.lab.thesis.experiment import CaseSplit
    from whycite.lab.thesis.measures import Scorer
    from whycite.lab.thesis.wordvectors import WordVectors

__all__ = ["PairKind", "load_lexicon", "passages", "require_extra", "similarity"]


class PairKind(StrEnum):
    """Which pairs a model learns from."""

    hard = "hard"
    augmented = "augmented"


def passages(
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="rnn, gru, lstm, bilstm, bidaf, document, document-attention or document-bidaf.",
        ),
    ],
    data: Annotated[list[Path], typer.Option(metavar="DIR", help="Folders named clscisumm or scifact.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the model.")],
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Vectors of words in GloVe's text form; else the encoder's own."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The encoder whose vectors and similarity are used, if not the bundled one."),
    ] = None,
    pairs: Annotated[PairKind, typer.Option(help="The thesis's pairs, or more of them.")] = PairKind.augmented,
    words_width: Annotated[int, typer.Option("--words", min=1, help="Numbers in an encoder's vector of a word.")] = 200,
    hidden: Annotated[int, typer.Option(min=2, help="Numbers in a state.")] = 80,
    epochs: Annotated[int, typer.Option(min=1, help="Times that every pair is shown at most.")] = 12,
    patience: Annotated[int, typer.Option(min=1, help="Epochs without a better one after which it ends.")] = 3,
    rate: Annotated[float, typer.Option(min=0, help="How large steps are.")] = 2e-3,
    seed: Annotated[int, typer.Option(help="What decides every draw.")] = 0,
) -> None:
    """Train a model that tells which of two sentences of a cited paper backs a claim more.

    70 % of the claims are learnt from, 15 % say when to stop, 15 % are tested once; no document, citing or cited, is in
    two of these parts.
    """
    require_extra()
    from whycite.lab.thesis.datasets import load_datasets
    from whycite.lab.thesis.modelstore import PassageTrainer, config_of
    from whycite.lab.thesis.networks import PassageRecipe
    from whycite.models import DEFAULT

    recipe = PassageRecipe(
        model=model, words=words_width, hidden=hidden, epochs=epochs, patience=patience, rate=rate, seed=seed
    )
    sets = {
        name: cases
        for name, cases in load_datasets([*data, *(extra_paths or ())]).items()
        if any(case.gold for case in cases)
    }
    if not sets:
        raise UserError("none of the data sets tells which sentences back a claim: give clscisumm or scifact")
    all_cases = [case for cases in sets.values() for case in cases]
    lexicon = load_lexicon(vectors, encoder or DEFAULT, recipe.words, all_cases)
    maker = PassageTrainer(lexicon, similarity(encoder or DEFAULT), pairs.value, _tell)
    maker.make(_split_cases(sets, seed), recipe, out)
    figures = (config_of(out) or {})["figures"]
    _tell(", ".join(f"{part} accuracy {value:.4f}" for part, value in figures.items()))


def _split_cases(sets: dict[str, list[PassageCase]], seed: int) -> CaseSplit:
    from whycite.lab.thesis.experiment import join_parts, split

    return join_parts([split(cases, seed=seed) for cases in sets.values()])


def load_lexicon(file: Path | None, encoder: str, width: int, cases: list[PassageCase]) -> WordVectors:
    """The words of a file, or an encoder's."""
    from whycite.lab.thesis.wordvectors import encoder_word_vectors, read_word_vectors

    if file is None:
        return encoder_word_vectors(encoder, width)
    texts = {text: None for case in cases for text in (case.claim, *case.sentences)}
    return read_word_vectors(file, texts)


def similarity(encoder: str) -> Scorer:
    """The cosine by an encoder whose vectors are remembered."""
    from whycite.lab.thesis.baselines import Cosine
    from whycite.models import load_encoder
    from whycite.models.cache import CachedEncoder

    return Cosine(CachedEncoder(load_encoder(encoder)).encode)


def require_extra() -> None:
    """Say what is to be installed where it is not."""
    from importlib.util import find_spec

    if any(find_spec(package) is None for package in ("torch", "transformers", "onnx")):
        raise MissingExtra("Training", "train")


def _tell(sentence: str) -> None:
    print(escape_markup(sentence), flush=True)
