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
    more: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,
    models: Annotated[
        str, typer.Option(metavar="M1,M2", help="Models of the thesis to train and compare; '' for none.")
    ] = _ALL,
    ranker: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A ranker beside them: a folder, one with folders fold-1, fold-2, …, or a file of its scores.",
        ),
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
    altered: Annotated[int, typer.Option(min=1, help="Claims of each data set that are altered.")] = 100,
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

    near, rankers = similarity(DEFAULT), _rankers(ranker, folds, ordered)
    figures: dict[str, Any] = {"seed": seed, "folds": folds, "learnt_from": pairs.value}
    with watched(errors) as watch:
        if ordered:
            methods = _baselines(near, encoder or [], rankers)
            if chosen:
                methods |= _trained(chosen, ordered, near, vectors, pairs, epochs, seed, work, tell)
            known = ("ranker", "verify") if ranker and ranker.is_file() else ()
            figures |= report(experiment.run(ordered, methods, near, folds, seed, watch, known))
            figures["one_for_all_folds"] = [
                name
                for name in ("ranker", "verify")
                if name in methods and not known and len(set(rankers)) == 1 and rankers[0]
            ]
        figures |= _verdicts(every, altered, seed, watch) if verdicts else {}
    if as_json:
        print_json(figures)
    else:
        show(figures, console)


def _rankers(given: Path | None, folds: int, datasets: Mapping[str, list[Case]]) -> list[Ranker | None]:
    """One for each fold: those in fold-1, fold-2, …, else the one in the folder, or scores in a file.

    None by default: the bundled one has learnt from all of CL-SciSumm and SciFact, so its figures would say nothing.
    """
    from whycite.rerank.ranker import load
    from whycite.training.passages.verifying import out_of_fold

    if given is None:
        return [None] * folds
    if given.is_file():
        return [out_of_fold(given, [case for cases in datasets.values() for case in cases])] * folds
    if not (given / "fold-1").is_dir():
        return [load(given)] * folds
    return [load(given / f"fold-{fold + 1}") for fold in range(folds)]


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


def _verdicts(datasets: Mapping[str, list[Case]], altered: int, seed: int, watch: Watch) -> dict[str, Any]:
    """How right verdicts are on labelled claims that they were not fitted to, and on the same ones altered.

    As `verify` gives them on Citation-Integrity, whose dev part nothing of it has learnt from; on SciFact, of which it
    knows all, without its ranker and with weights fitted anew to other claims.
    """
    from whycite.encoders import load
    from whycite.encoders.cache import CachedEncoder
    from whycite.evaluation.passages.report import falls_dict, labels_dict
    from whycite.evaluation.passages.splitting import split
    from whycite.evaluation.passages.verdicts import Verifier, altered_pairs, falls, judge
    from whycite.rerank.ranker import stored_with
    from whycite.training.passages.verifying import refitted
    from whycite.verify import sentences as verified

    encoder = CachedEncoder(load())  # brings no ranker along, as the plain one would
    asked: dict[str, tuple[list[Case], Verifier]] = {}
    if "citint" in datasets:
        unseen = [case for case in datasets["citint"] if case.id.startswith("dev:")]
        asked["citint dev"] = unseen, partial(verified, ranker=stored_with(load()), encoder=encoder)
    if "scifact" in datasets:
        watch("verdicts: fitting", 0, None)
        parts = split(datasets["scifact"], seed=seed)
        weights = refitted(parts, encoder)
        asked["scifact test"] = list(parts.test), partial(verified, encoder=encoder, weights=weights)
    labels = {name: judge(cases, verifier, watch) for name, (cases, verifier) in asked.items()}
    fallen = {
        name: falls_dict(falls(altered_pairs(cases, altered, seed), verifier, watch))
        for name, (cases, verifier) in asked.items()
    }
    return {"labels": labels_dict(labels), "altered": fallen} if labels else {}


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
