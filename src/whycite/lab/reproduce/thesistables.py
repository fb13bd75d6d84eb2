"""The thesis's tables 4.1, 7.1, 7.2 and 7.3: labellers, and the models that learn from what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.cli.terminal import count
from whycite.errors import UserError
from whycite.lab.annotate.aggregation import (
    ASSUMPTIONS,
    THESIS_ACCURACY,
    AnswersByTask,
    SimulatedLabellers,
    compare_methods,
    simulate_votes,
)
from whycite.lab.annotate.pairs import PARTS, SentencePair, as_comparisons, assign_parts, build_datasets
from whycite.lab.annotate.pairs import split as split_pairs
from whycite.lab.annotate.sampling import CitingClaim, SampledClaim, make_tasks, sample
from whycite.lab.annotate.tasks import LabellingTask, TaskOption
from whycite.lab.evaluate.comparison import draw
from whycite.lab.evaluate.topics import Watch
from whycite.lab.reproduce.tables import ComparedTable, Figure, FigureStore, OurRow, compare_rows, published_tables
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import split
from whycite.lab.thesis.measures import Scorer, SentenceComparison, make_comparisons
from whycite.lab.thesis.modelstore import accuracy
from whycite.lab.thesis.networks import PassageRecipe, WordVectors
from whycite.lab.thesis.training import train
from whycite.text.tokens import fold

__all__ = ["FULL", "QUICK", "TABLES", "ThesisData", "ThesisPlan", "VotedTasks", "simulated_tasks", "thesis_tables"]

TABLES = ("4.1", "7.1", "7.2", "7.3")


@dataclass(frozen=True, slots=True)
class ThesisPlan:
    """How many claims of each data set are used (0 for all), for how many epochs, and with how many seeds."""

    claims: int
    epochs: int
    seeds: int


FULL = ThesisPlan(0, 12, 3)
QUICK = ThesisPlan(160, 3, 1)

_SHOWN = 10  # sentences labellers see, of which pairs are made
_PAIRS = 5  # comparisons a claim
_DISCARDED = 8  # sentences kept for the augmented data set
_VOTES = 5
_PAIR_MODELS: Mapping[str, str] = MappingProxyType({"rnn": "lstm", "bidirectional": "bilstm", "attention": "bidaf"})
_DOCUMENT_MODELS: Mapping[str, str] = MappingProxyType(
    {"base": "document", "inter-sentence attention": "document-attention"}
)
_GOLD = "marked by annotators"
_SPREAD = "standard deviation of ours over seeds"

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Parts = Mapping[str, Sequence[SentenceComparison]]


@dataclass(frozen=True, slots=True)
class VotedTasks:
    """Tasks and the answers to them, and what the answers are: simulated, or given by people."""

    tasks: Mapping[str, LabellingTask]
    answers: AnswersByTask
    origin: str


@dataclass(frozen=True, slots=True)
class ThesisData:
    """Claims with marked passages of two domains, by name."""

    name: str
    cases: Sequence[PassageCase]
    other_name: str
    other_cases: Sequence[PassageCase]


def simulated_tasks(cases: Sequence[PassageCase], encode: Encode, seed: int) -> VotedTasks:
    """Tasks made of marked passages, and the votes of simulated labellers."""
    sampled = [claim for claim in sample(map(_citing_claim, cases), encode, _SHOWN) if _shows_evidence(claim)]
    every_pair = _SHOWN * (_SHOWN - 1) // 2
    every_task = make_tasks(sampled, ("BR", "BC-E", "BC-R"), every_pair, _DISCARDED, seed)
    counts: dict[str, int] = {}
    tasks: dict[str, LabellingTask] = {}
    for task in every_task:
        if task.gold is None:
            continue  # neither sentence is marked, or both are
        name = f"{task.id.rsplit(':', 2)[0]} {task.kind} {'' if task.kind == 'BR' else task.gold}"
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= (_PAIRS if task.kind == "BR" else 1):  # as many right as wrong ones
            tasks[task.id] = task
    answers = simulate_votes(tasks, SimulatedLabellers(THESIS_ACCURACY), _VOTES, seed)
    return VotedTasks(tasks, answers, ASSUMPTIONS)


def _shows_evidence(sampled: SampledClaim) -> bool:
    return any(option.index in (sampled.cited.gold or ()) for option in sampled.candidates)


def _citing_claim(case: PassageCase) -> CitingClaim:
    claim = fold(case.claim)
    options = (TaskOption(index, text) for index, text in enumerate(case.sentences))
    return CitingClaim(
        f"{case.dataset} {case.id}",
        case.claim,
        case.citing,
        case.document,
        tuple(option for option in options if option.text.strip() and fold(option.text) != claim),
        gold=case.gold,
        related=case.gold,
    )


def thesis_tables(
    data: ThesisData,
    answered: VotedTasks | None,
    encode: Encode,
    lexicon: WordVectors,
    similarity: Scorer,
    plan: ThesisPlan,
    store: FigureStore,
    seed: int,
    watch: Watch,
    numbers: Sequence[str] = TABLES,
) -> list[ComparedTable]:
    """The tables of these numbers, from tasks that people `answered`, or else from simulated votes."""
    bench = _ThesisBench(lexicon, similarity, plan, store, range(seed, seed + plan.seeds), watch)
    cases, other_cases = (_draw_claims(part, plan.claims, seed) for part in (data.cases, data.other_cases))
    tables = []
    labelled = answered
    for number in numbers:
        if number in ("4.1", "7.1") and labelled is None:
            watch("making tasks", 0, None)
            labelled = simulated_tasks(cases, encode, seed)
        if number == "4.1" and labelled is not None:
            tables.append(_annotation_table(labelled, data.name, bench))
        elif number == "7.1" and labelled is not None:
            tables.append(_pair_table(labelled, data.name, bench, seed))
        elif number == "7.2":
            tables.append(_document_table(cases, data.name, bench))
        elif number == "7.3":
            watch("making tasks", 0, None)
            simulated = simulated_tasks(other_cases, encode, seed)
            tables.append(_other_domain_table(other_cases, simulated, data.other_name, bench, seed))
    return tables


def _draw_claims(cases: Sequence[PassageCase], number: int, seed: int) -> list[PassageCase]:
    """Some claims with marked passages, by document, so that claims of one document stay together."""
    marked = [case for case in cases if case.gold]
    if not number or len(marked) <= number:
        return marked
    documents = draw(dict.fromkeys(case.document for case in marked), str, len(marked), seed)
    chosen: list[PassageCase] = []
    for document in documents:
        if len(chosen) < number:
            chosen += [case for case in marked if case.document == document]
    return chosen


@dataclass(frozen=True, slots=True)
class _ThesisBench:
    """Trains and tests models, and keeps what they reach."""

    lexicon: WordVectors
    similarity: Scorer
    plan: ThesisPlan
    store: FigureStore
    seeds: range
    watch: Watch

    def accuracy(self, name: str, model: str, parts: Callable[[int], Parts]) -> Figure | None:
        """The accuracy of a model on the test pairs of each seed; None if a part has no pairs."""
        measured = [
            self.store.measure(f"{name} {model} seed {seed}", self._training(name, model, parts, seed))
            for seed in self.seeds
        ]
        values = [row["accuracy"] for row in measured if row["accuracy"] is not None]
        if len(values) < len(measured):
            return None
        return Figure(fmean(values), stdev(values) if len(values) > 1 else None)

    def _training(
        self, name: str, model: str, parts: Callable[[int], Parts], seed: int
    ) -> Callable[[], dict[str, Any]]:
        def measure() -> dict[str, Any]:
            self.watch(f"training {model} on {name}, seed {seed}", 0, None)
            comparisons = parts(seed)
            sizes = {part: len(comparisons[part]) for part in PARTS}
            if not all(sizes.values()):
                return {"accuracy": None, "pairs": sizes}
            recipe = PassageRecipe(model=model, epochs=self.plan.epochs, seed=seed)
            trained = train(comparisons["train"], comparisons["dev"], self.lexicon, recipe)
            return {
                "accuracy": accuracy(comparisons["test"], trained.model),
                "dev": trained.accuracy,
                "epochs": len(trained.measured),
                "pairs": sizes,
            }

        return measure

    def pairs_of(self, cases: Sequence[PassageCase], name: str) -> Callable[[int], Parts]:
        """Marked sentences against others that labellers would see, split by document."""

        def parts(seed: int) -> Parts:
            parted = split(cases, seed=seed)
            return {part: make_comparisons(getattr(parted, part), self.similarity, "hard", seed) for part in PARTS}

        return parts

    @property
    def conditions(self) -> dict[str, str]:
        """What holds for all models."""
        seeds = count(len(self.seeds), "seed")
        return {
            "pool": "two sentences",
            "k": "1",
            "training": f"the same loss and sizes; at most {self.plan.epochs} epochs, {seeds}",
        }


def _annotation_table(labelled: VotedTasks, name: str, bench: _ThesisBench) -> ComparedTable:
    published = published_tables("thesis")["4.1"]
    rows = bench.store.measure(
        "annotation", lambda: [asdict(row) for row in compare_methods(labelled.tasks, labelled.answers)]
    )
    our_rows = [
        OurRow(
            row["kind"],
            f"{'GLAD' if row['method'] == 'glad' else 'Vote'} {row['votes']}",
            {
                "Cohen": Figure(row["kappa"]),
                "AUC": Figure(row["auc"] if row["auc"] is not None else 0.5),
                "F1": Figure(row["f1"]),
            },
        )
        for row in rows
        if row["kind"] != "TC"
    ]
    if not our_rows:
        raise UserError("no task with at least three answers has a gold label; table 4.1 cannot be made")
    counts = ", ".join(
        f"{sum(task.kind == kind for task in labelled.tasks.values()):,} {kind}" for kind in ("BR", "BC-E", "BC-R")
    )
    return ComparedTable(
        published,
        compare_rows(published, our_rows),
        {
            "data": f"tasks of {name}: {counts}; of the single sentences, half are evidence",
            "pool": f"the {_SHOWN} most similar sentences of the cited document",
            "k": "3, 4 or 5 votes a task",
        },
        "other claims, and other labellers",
        notes=(f"{labelled.origin}.", "For BC-R, what is marked as evidence counts as related."),
    )


def _pair_table(labelled: VotedTasks, name: str, bench: _ThesisBench, seed: int) -> ComparedTable:
    published = published_tables("thesis")["7.1"]
    datasets = dict(build_datasets(labelled.tasks, labelled.answers))
    if not datasets["majority"]:
        raise UserError("no comparison (BR) has a majority; table 7.1 cannot be made")
    part_of = assign_parts(datasets["majority"], seed=seed)
    gold = {id: {"gold": task.gold} for id, task in labelled.tasks.items() if task.kind == "BR" and task.gold}
    if gold:
        datasets[_GOLD] = [
            pair
            for pair in build_datasets(labelled.tasks, gold)["majority"]
            if (pair.citing or pair.document) in part_of
        ]
    our_rows = [
        _voted_row(f"pairs {dataset}", dataset.replace("-", " "), split_pairs({dataset: pairs}, part_of, seed), bench)
        for dataset, pairs in datasets.items()
    ]
    return ComparedTable(
        published,
        compare_rows(published, our_rows),
        {"data": f"comparisons of sentences of {name}", **bench.conditions},
        "other claims, and other labellers",
        notes=(
            f"{labelled.origin}.",
            f"“{_GOLD}”: the same comparisons with the answer that the data set gives, which no labeller voted on.",
            "The column rnn has an LSTM (5.3.1), bidirectional one that reads both ways, attention bidirectional "
            "attention flow.",
        ),
        our_spread=_SPREAD,
    )


def _voted_row(
    measured: str, name: str, split: Mapping[str, Mapping[str, Sequence[SentencePair]]], bench: _ThesisBench
) -> OurRow:
    """The accuracy of each pair model on the one data set of labelled comparisons in `split`."""
    [(dataset, parted)] = split.items()
    comparisons = {part: as_comparisons(parted[part], dataset) for part in PARTS}
    figures = {column: bench.accuracy(measured, model, lambda _: comparisons) for column, model in _PAIR_MODELS.items()}
    sizes = ", ".join(f"{len(comparisons[part]):,}" for part in PARTS)
    return OurRow(
        "",
        name,
        {column: figure for column, figure in figures.items() if figure},
        note=f"{sizes} pairs to train on, choose by and test",
    )


def _document_table(cases: Sequence[PassageCase], name: str, bench: _ThesisBench) -> ComparedTable:
    published = published_tables("thesis")["7.2"]
    parts = bench.pairs_of(cases, name)
    our_rows = []
    for row, model in _DOCUMENT_MODELS.items():
        figure = bench.accuracy("documents", model, parts)
        our_rows.append(OurRow("", row, {"accuracy": figure} if figure else {}))
    documents = len({case.document for case in cases})
    return ComparedTable(
        published,
        compare_rows(published, our_rows),
        {"data": f"{name}: {len(cases):,} claims on {documents:,} documents, marked sentences", **bench.conditions},
        "other claims; sentences marked by annotators instead of votes",
        notes=(
            "The weights of the attention are multiplied by the number of sentences: as published, they sum to 1 over "
            "the document, which scales every state down to almost nothing.",
        ),
        our_spread=_SPREAD,
    )


def _other_domain_table(
    cases: Sequence[PassageCase], simulated: VotedTasks, name: str, bench: _ThesisBench, seed: int
) -> ComparedTable:
    published = published_tables("thesis")["7.3"]
    majority = build_datasets(simulated.tasks, simulated.answers)["majority"]
    if not majority:
        raise UserError(f"{name}: no comparison (BR) has a majority; table 7.3 cannot be made")
    part_of = assign_parts(majority, seed=seed)
    parts = bench.pairs_of(cases, name)
    figures = {column: bench.accuracy(f"domain {name}", model, parts) for column, model in _PAIR_MODELS.items()}
    our_rows = [
        _voted_row(
            f"domain {name} majority",
            f"{name}, majority of votes",
            split_pairs({"majority": majority}, part_of, seed),
            bench,
        ),
        OurRow("", f"{name}, {_GOLD}", {column: figure for column, figure in figures.items() if figure}),
    ]
    return ComparedTable(
        published,
        compare_rows(published, our_rows),
        {"data": f"{name}: {len(cases):,} claims", **bench.conditions},
        "the thesis's argument data are not at hand: claims and abstracts stand for the other domain",
        notes=(f"{simulated.origin}.", "They are simulated here whatever votes the other tables have."),
        our_spread=_SPREAD,
    )
