"""`whycite eval passages`: which sentences back a claim, by every model, on the same pairs and documents."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.options import AsJson
from whycite.cli.passagetables import show
from whycite.cli.progress import watched
from whycite.cli.terminal import plain, print_json
from whycite.cli.trainpassages import PairKind, require, similarity, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whycite.evaluation.corpus import Watch
    from whycite.evaluation.passages.experiment import Fit
    from whycite.evaluation.passages.model import Case
    from whycite.evaluation.passages.scoring import Scorer
    from whycite.rerank.ranker import Ranker

__all__ = ["passages"]

_WIDTH = 140  # of tables that no terminal bounds
_ALL = "rnn,gru,lstm,bilstm,bidaf,document,document-attention,document-bidaf"


def passages(
    data: Annotated[list[Path], typer.Option(metavar="DIR", help="Folders named clscisumm, scifact or citint.")],
    more: Annotated[list[Path] | None, typer.Argument(metavar="", hidden=True)] = None,
    models: Annotated[
        str, typer.Option(metavar="M1,M2", help="Models of the thesis to train and compare; '' for none.")
    ] = _ALL,
    ranker: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The ranker, if not the bundled one; its folders fold-1, … are of one fold."),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Encoders beside the bundled one: a folder, a Hugging Face name."),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Vectors of words in GloVe's text form for the models.")
    ] = None,
    pairs: Annotated[PairKind, typer.Option(help="Pairs that the models learn from.")] = PairKind.augmented,
    folds: Annotated[int, typer.Option(min=1, help="Parts to test in turn; 1: the split of the thesis.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Times that a model is shown every pair at most.")] = 12,
    verdicts: Annotated[bool, typer.Option(help="Judge labelled and altered claims too.")] = True,
    altered: Annotated[int, typer.Option(min=1, help="Claims that are altered.")] = 100,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where trained models are kept for the next run.")
    ] = None,
    seed: Annotated[int, typer.Option(help="What decides every draw: the same seed, the same figures.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Repeat the experiment of "Why did they cite that?" (its section 7.1) on data sets that mark what backs a claim.

    Models are trained on documents that share nothing with those they are tested on.
    """
    from rich.console import Console

    from whycite.encoders import DEFAULT
    from whycite.evaluation.passages import experiment
    from whycite.evaluation.passages.datasets import load_all
    from whycite.evaluation.passages.report import report

    chosen = [name for part in models.split(",") if (name := part.strip())]
    every = load_all([*data, *(more or ())])
    ordered = {name: cases for name, cases in every.items() if any(case.gold for case in cases)}
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)

    def tell(sentence: str) -> None:
        if errors.is_terminal:
            errors.print(plain(sentence), soft_wrap=True)

    near, rankers = similarity(DEFAULT), _rankers(ranker, folds)
    figures: dict[str, Any] = {"seed": seed, "folds": folds, "learnt_from": pairs.value}
    with watched(errors) as watch:
        if ordered:
            methods = _baselines(near, encoder or [], rankers)
            if chosen:
                methods |= _trained(chosen, ordered, near, vectors, pairs, epochs, seed, work, tell)
            figures |= report(experiment.run(ordered, methods, near, folds, seed, watch))
            figures["one_for_all_folds"] = [
                name for name in ("ranker", "verify") if name in methods and folds > 1 and len(set(rankers)) == 1
            ]
        figures |= _verdicts(every, rankers, altered, seed, watch) if verdicts else {}
    if as_json:
        print_json(figures)
    else:
        show(figures, console)


def _rankers(folder: Path | None, folds: int) -> list[Ranker | None]:
    """One for each fold: those in fold-1, fold-2, …, else the one in the folder, else the bundled one if there is."""
    from whycite.encoders import load as load_encoder
    from whycite.rerank.ranker import load, stored_with

    if folder is None:
        return [stored_with(load_encoder())] * folds
    if not (folder / "fold-1").is_dir():
        return [load(folder)] * folds
    return [load(folder / f"fold-{fold + 1}") for fold in range(folds)]


def _baselines(near: Scorer, encoders: list[str], rankers: list[Ranker | None]) -> dict[str, Fit]:
    """Words, encoders, the ranker, and what `verify` makes of all of them."""
    from whycite.encoders import load
    from whycite.encoders.cache import CachedEncoder
    from whycite.evaluation.passages.baselines import bm25, side_by_side
    from whycite.evaluation.passages.experiment import always
    from whycite.training.passages.verifying import verifying

    found = {"bm25": always(bm25()), "encoder": always(near)}
    found |= {f"encoder {Path(name).name}": always(similarity(name)) for name in encoders}
    read = [side_by_side(each) for each in rankers if each is not None]
    if read:
        found["ranker"] = lambda parts, fold: read[fold]
    found["verify"] = verifying(CachedEncoder(load()), rankers)
    return found


def _verdicts(
    datasets: Mapping[str, list[Case]], rankers: list[Ranker | None], altered: int, seed: int, watch: Watch
) -> dict[str, Any]:
    """How right verdicts are on labelled claims that their weights were not fitted to, and on altered ones."""
    from whycite import verify
    from whycite.encoders import load
    from whycite.encoders.cache import CachedEncoder
    from whycite.evaluation.passages.report import falls_dict, labels_dict
    from whycite.evaluation.passages.verdicts import altered_pairs, falls, judge, unseen

    parts = unseen(datasets)
    if not parts:
        return {}
    verifier = partial(verify.sentences, ranker=rankers[0], encoder=CachedEncoder(load()))
    labels = {name: judge(cases, verifier, watch) for name, cases in parts.items()}
    pairs = altered_pairs([case for cases in parts.values() for case in cases], altered, seed)
    return {"labels": labels_dict(labels), "altered": falls_dict(falls(pairs, verifier, watch))}


def _trained(
    models: list[str],
    datasets: Mapping[str, list[Case]],
    near: Scorer,
    vectors: Path | None,
    pairs: PairKind,
    epochs: int,
    seed: int,
    work: Path | None,
    tell: Callable[[str], None],
) -> dict[str, Fit]:
    """The models of the thesis, trained for each fold."""
    require()
    from whycite.encoders import DEFAULT
    from whycite.training.passages.making import Maker, fits
    from whycite.training.passages.recipe import Recipe

    recipes = {name: Recipe(model=name, epochs=epochs, seed=seed) for name in models}
    width = next(iter(recipes.values())).words
    lexicon = words(vectors, DEFAULT, width, [case for cases in datasets.values() for case in cases])
    maker = Maker(lexicon, near, pairs.value, tell)
    return {name: fits(maker, recipe, work) for name, recipe in recipes.items()}
