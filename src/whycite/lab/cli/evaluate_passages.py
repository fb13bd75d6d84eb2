"""`whycite eval passages`: compare models that rank passages, on the same pairs and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.progress import stage_progress
from whycite.cli.terminal import AsJson, count, escape_markup, print_json, printable, refuse_options, say
from whycite.errors import UserError
from whycite.lab.cli.train_verify import PairKind, load_lexicon, require_extra, similarity

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from whycite.lab.evaluate.topics import Watch
    from whycite.lab.thesis.datasets import PassageCase
    from whycite.lab.thesis.experiment import Fit
    from whycite.lab.thesis.measures import Scorer
    from whycite.models.pairs import EntailmentModel, Ranker

__all__ = ["passages", "show_report"]


_MEASURES = ("pairwise", "MRR", "MAP", "nDCG@10", "R@1", "R@3", "R@5", "R@10", "F1@2")
_INTERVAL_MEASURES = ("pairwise", "MRR")  # measures shown with an interval


def show_report(report: Mapping[str, Any], console: Console) -> None:
    """Print all tables of a report."""
    for name, facts in report.get("datasets", {}).items():
        say(
            console,
            printable(
                f"{name}: {count(facts['cases'], 'claim')}, {facts['with_gold']:,} with known evidence, "
                f"{count(facts['documents'], 'document')}; {count(facts['hard'], 'hard pair')}, "
                f"{facts['augmented']:,} augmented."
            ),
        )
    if "pairs" in report:
        _show_pairs(report["pairs"], console)
    for name, methods in report.get("documents", {}).items():
        _show_documents(name, methods, console)
    for name, methods in report.get("selection", {}).items():
        rows = [
            [method, *(f"{scores[key]:.3f}" for key in ("precision", "recall", "f1"))]
            for method, scores in methods.items()
        ]
        _print_table(
            f"{name}: selected sentences, measured as in SciFact",
            ("Method", "precision", "recall", "F1"),
            rows,
            console,
        )
    if report.get("one_for_all_folds"):
        shared = " and ".join(report["one_for_all_folds"])
        caution = "the same model for all folds; its figures are meaningless if it was trained on these datasets"
        say(console, f"{shared}: {caution}.")
        console.print()
    for name, labels in report.get("labels", {}).items():
        _show_labels(name, labels, console)
    for name, kinds in report.get("altered", {}).items():
        heads = ("Alteration", "claims", "score drops", "backed before", "no longer backed")
        rows = [
            [kind, f"{figures['pairs']}", f"{figures['share']:.0%}", f"{figures['backed']}", f"{figures['lost']}"]
            for kind, figures in kinds.items()
        ]
        _print_table(f"{name}: claims altered to say something else", heads, rows, console)


def _show_pairs(datasets: Mapping[str, Any], console: Console) -> None:
    """Tables 7.1 and 7.2: accuracy on pairs, next to the results of the thesis on its own pairs."""
    from whycite.lab.thesis.experiment import BEST, DOCUMENT, PAIRWISE
    from whycite.lab.thesis.measures import KINDS

    thesis = {
        model: (f"{PAIRWISE['majority'][column]:.3f}", f"{PAIRWISE['augmented'][column]:.3f}")
        for model, column in (("lstm", "rnn"), ("bilstm", "bidirectional"), ("bidaf", "attention"))
    } | {
        "document": (f"{DOCUMENT['base']:.3f}", ""),
        "document-attention": (f"{DOCUMENT['inter-sentence attention']:.3f}", ""),
    }
    heads = ["Method"]
    for name in datasets:
        for kind in KINDS:
            heads += [f"{name}\n{kind}", "\n95% CI"]
    heads += ["thesis\nmajority", "thesis\naugmented"]
    rows = []
    for method in next(iter(datasets.values())):
        cells = [method]
        for methods in datasets.values():
            for kind in KINDS:
                cells += _interval_cells(methods[method][kind])
        rows.append([*cells, *thesis.get(method, ("", ""))])
    _print_table("Which of two sentences backs the claim (thesis, tables 7.1 and 7.2)", heads, rows, console)
    say(console, f"Best result of the thesis on its own pairs: {BEST} (conclusion); {_best(PAIRWISE):.3f} (table 7.1).")
    console.print()


def _best(table: Mapping[str, Mapping[str, float]]) -> float:
    return max(value for row in table.values() for value in row.values())


def _show_documents(name: str, methods: Mapping[str, Any], console: Console) -> None:
    heads = ["Method"]
    for measure in _MEASURES:
        heads += [measure, "95% CI"] if measure in _INTERVAL_MEASURES else [measure]
    rows = []
    for method, figures in methods.items():
        cells = [method]
        for measure in _MEASURES:
            cells += (
                _interval_cells(figures[measure])
                if measure in _INTERVAL_MEASURES
                else [f"{figures[measure]['mean']:.3f}"]
            )
        rows.append(cells)
    _print_table(f"{name}: ranking all sentences of the document", heads, rows, console)


def _show_labels(name: str, labels: Mapping[str, Any], console: Console) -> None:
    mistakes = labels["contradicted_called_backed"]
    contradicted = labels["classes"]["contradicted"]["cases"]
    say(
        console,
        printable(
            f"{name}: {count(labels['cases'], 'claim')}, label accuracy {labels['accuracy']:.3f}, "
            f"macro F1 {labels['macro_f1']:.3f}; always the most frequent label: {labels['majority']:.3f}. "
            f"Contradicted called backed: {mistakes['cases']} of {contradicted} ({mistakes['share']:.0%})."
        ),
    )
    rows = [
        [label, str(figures["cases"]), *(f"{figures[key]:.3f}" for key in ("precision", "recall", "f1"))]
        for label, figures in labels["classes"].items()
    ]
    _print_table(f"{name}: each label", ("Label", "claims", "precision", "recall", "F1"), rows, console)
    verdicts = list(next(iter(labels["confusion"].values())))
    rows = [[label, *(str(row[verdict]) for verdict in verdicts)] for label, row in labels["confusion"].items()]
    _print_table(f"{name}: labels (rows) and verdicts (columns)", ("Label", *verdicts), rows, console)


def _interval_cells(value: Mapping[str, float]) -> list[str]:
    return [f"{value['mean']:.3f}", f"{value['low']:.2f}–{value['high']:.2f}"]


def _print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    from rich import box
    from rich.table import Table

    say(console, printable(title))  # rich would wrap the title to the width of the table
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(escape_markup, row))
    console.print(table)


_WIDTH = 140  # of tables, unless a terminal limits it
_TRAINING_OPTIONS = ("models", "ranker", "vectors", "pairs", "folds", "epochs", "work")
_ALL_MODELS = "rnn,gru,lstm,bilstm,bidaf,document,document-attention,document-bidaf"


def passages(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option(metavar="PATH", help="File or folder of claims with passages or labels; repeatable."),
    ],
    extra_paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", hidden=True)] = None,
    models: Annotated[
        str, typer.Option(metavar="M1,M2", help="Models of the thesis to train; '' for none.")
    ] = _ALL_MODELS,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Only measure this model of `whycite train passages`, on all claims of --data; repeatable.",
        ),
    ] = None,
    ranker: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Ranker to compare: a folder, or one with fold-1, fold-2, …."),
    ] = None,
    recorded: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Judgements of entailment models that had not seen the claims."),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Additional encoder: a folder or Hugging Face name."),
    ] = None,
    vectors: Annotated[Path | None, typer.Option(metavar="FILE", help="Word vectors in GloVe format.")] = None,
    pairs: Annotated[
        PairKind, typer.Option(metavar="KIND", help="Pairs to train on: hard or augmented.")
    ] = PairKind.augmented,
    folds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Cross-validation folds; 1 for the split of the thesis.")
    ] = 5,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of epochs.")] = 12,
    ranking: Annotated[bool, typer.Option(help="Evaluate the order of passages (default).")] = True,
    verdicts: Annotated[bool, typer.Option(help="Evaluate verdicts on labelled and altered claims (default).")] = True,
    altered: Annotated[int, typer.Option(metavar="N", min=0, help="Claims to alter per dataset.")] = 100,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep trained models in for the next run.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Repeat the experiment of "Why did they cite that?" (section 7.1), and measure the verdicts of `verify`.

    The form of the data is recognised: CL-SciSumm, SciFact, Citation-Integrity, rows of claim, evidence and label, or
    what `whycite annotate` wrote. Training and test data share no documents.
    """
    if model:
        refuse_options(ctx, _TRAINING_OPTIONS, "--model, which trains nothing")
        models, folds = "", 0
    from rich.console import Console

    from whycite.lab.thesis import experiment
    from whycite.lab.thesis.casefiles import load_datasets
    from whycite.lab.thesis.experiment import report
    from whycite.models import DEFAULT

    chosen = [name for part in models.split(",") if (name := part.strip())]
    datasets = load_datasets([*data, *(extra_paths or ())])
    ordered = {name: cases for name, cases in datasets.items() if ranking and any(case.gold for case in cases)}
    if not ordered and not verdicts:
        raise UserError("nothing to evaluate: no dataset has known passages, and --no-verdicts leaves out the rest")
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)

    def tell(sentence: str) -> None:
        if errors.is_terminal:
            errors.print(escape_markup(sentence), soft_wrap=True)

    near, rankers = similarity(DEFAULT), _load_rankers(ranker, folds)
    entailment = _load_entailment(recorded, datasets)
    figures: dict[str, Any] = {"seed": seed} | ({} if model else {"folds": folds, "learnt_from": pairs.value})
    with stage_progress(errors) as watch:
        if ordered:
            methods = _baselines(near, encoder or [])
            if model:
                methods |= _trained_models(model)
            else:
                methods |= _fitted_methods(rankers, entailment)
            if chosen:
                methods |= _train_models(chosen, ordered, near, vectors, pairs, epochs, seed, work, tell)
            scored_methods = ("verify",) if recorded else ()
            figures |= report(experiment.run(ordered, methods, near, folds, seed, watch, scored_methods))
            shared = {"ranker": len(set(rankers)) == 1, "verify": recorded is None}
            figures["one_for_all_folds"] = [name for name in methods if shared.get(name)]
        figures |= _judge_claims(datasets, entailment, recorded is not None, altered, seed, watch) if verdicts else {}
    if as_json:
        print_json(figures)
    else:
        show_report(figures, console)


def _load_rankers(path: Path | None, folds: int) -> list[Ranker]:
    """One ranker per fold: from fold-1, fold-2, …, or the same for all; none without a path."""
    from whycite.models.pairs import load_ranker

    if path is None:
        return []
    if not (path / "fold-1").is_dir():
        return [load_ranker(path)] * folds
    return [load_ranker(path / f"fold-{fold + 1}") for fold in range(folds)]


def _load_entailment(recorded: Path | None, datasets: Mapping[str, list[PassageCase]]) -> EntailmentModel:
    """The bundled model, or the judgements in a file."""
    from whycite.lab.train.verifyexamples import load_recorded
    from whycite.models.pairs import load_entailment

    if recorded is None:
        return load_entailment()
    return load_recorded(recorded, [case for cases in datasets.values() for case in cases])


def _baselines(near: Scorer, encoders: list[str]) -> dict[str, Fit]:
    """BM25 and encoders."""
    from whycite.lab.thesis.experiment import bm25, fixed_fit

    methods = {"bm25": fixed_fit(bm25()), "encoder": fixed_fit(near)}
    return methods | {f"encoder {Path(name).name}": fixed_fit(similarity(name)) for name in encoders}


def _trained_models(folders: Sequence[Path]) -> dict[str, Fit]:
    """Models as they are, by the names of their folders."""
    from whycite.lab.thesis.experiment import fixed_fit
    from whycite.verify.passages import load_passage_model

    names = [folder.resolve().name for folder in folders]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"two models are called '{repeated}'; rename a folder")
    return {f"model {name}": fixed_fit(load_passage_model(folder)) for name, folder in zip(names, folders, strict=True)}


def _fitted_methods(rankers: list[Ranker], entailment: EntailmentModel) -> dict[str, Fit]:
    """The ranker of each fold, and `verify` with weights fitted to it."""
    from whycite.lab.thesis.experiment import side_by_side
    from whycite.lab.train.verifyweights import verify_fit
    from whycite.models import load_encoder
    from whycite.models.cache import CachedEncoder

    methods: dict[str, Fit] = {}
    if rankers:
        read = [side_by_side(ranker) for ranker in rankers]
        methods["ranker"] = lambda parts, fold: read[fold]
    methods["verify"] = verify_fit(CachedEncoder(load_encoder()), entailment)
    return methods


def _judge_claims(
    datasets: Mapping[str, list[PassageCase]],
    entailment: EntailmentModel,
    is_recorded: bool,
    altered: int,
    seed: int,
    watch: Watch,
) -> dict[str, Any]:
    """Measure verdicts on labelled claims, and on altered versions of these claims.

    Of the folder of Citation-Integrity, that is done on dev, which `verify` was not trained on. Altered claims were not
    judged by whoever recorded the judgements.
    """
    from whycite.lab.thesis.experiment import drops_as_dict, labels_as_dict
    from whycite.lab.thesis.verdicts import altered_pairs, judge_parts, measure_joint_drops
    from whycite.models import load_encoder
    from whycite.models.cache import CachedEncoder
    from whycite.verify.claims import verify_sentences

    labels, fallen = {}, {}
    verifier = partial(verify_sentences, entailment=entailment, encoder=CachedEncoder(load_encoder()))
    for name, cases in datasets.items():
        if not any(case.label for case in cases):
            continue
        if name == "citint" and (unseen := [case for case in cases if case.id.startswith("dev:")]):
            name, cases = f"{name} dev", unseen
        labels[name] = judge_parts([(cases, verifier)], watch)
        pairs = altered_pairs(cases, altered, seed)
        if pairs and not is_recorded:
            fallen[name] = drops_as_dict(measure_joint_drops([(pairs, verifier)], watch))
    return {"labels": labels_as_dict(labels), "altered": fallen} if labels else {}


def _train_models(
    models: list[str],
    datasets: Mapping[str, list[PassageCase]],
    near: Scorer,
    vectors: Path | None,
    pairs: PairKind,
    epochs: int,
    seed: int,
    work: Path | None,
    tell: Callable[[str], None],
) -> dict[str, Fit]:
    """The models of the thesis, trained per fold."""
    require_extra()
    from whycite.lab.thesis.modelstore import PassageTrainer, fold_trainer
    from whycite.lab.thesis.networks import PassageRecipe
    from whycite.models import DEFAULT

    recipes = {name: PassageRecipe(model=name, epochs=epochs, seed=seed) for name in models}
    width = next(iter(recipes.values())).words
    lexicon = load_lexicon(vectors, DEFAULT, width, [case for cases in datasets.values() for case in cases])
    maker = PassageTrainer(lexicon, near, pairs.value, tell)
    return {name: fold_trainer(maker, recipe, work) for name, recipe in recipes.items()}
