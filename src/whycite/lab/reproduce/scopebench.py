"""The models and measurements behind SCOPE's tables, made when a table needs them first and kept between runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whycite.check.paragraphs import LabelledDocument
from whycite.lab.evaluate.topics import Watch
from whycite.lab.reproduce.tables import (
    FigureStore,
)
from whycite.lab.scope import prefetching, reranking, triplets
from whycite.lab.scope.candidates import CitingCorpus
from whycite.lab.scope.inputvariants import VARIANTS as RANKER_VARIANTS
from whycite.lab.scope.inputvariants import ranker_variant
from whycite.lab.scope.worthinessexperiments import worthiness_table
from whycite.lab.scope.worthinessmeasures import WorthinessSplit, split_by_date
from whycite.lab.train.bases import load_base, save_base
from whycite.lab.train.worthiness import scope_recipe
from whycite.lab.train.worthiness.examples import read_labelled
from whycite.lab.train.worthiness.training import train as train_worthiness
from whycite.models import DEFAULT
from whycite.models.folders import MODEL
from whycite.models.pairs import load_ranker

__all__ = [
    "FULL",
    "LEXICAL_NAME",
    "MEASURE_NAMES",
    "QUICK",
    "RANKER_NAME",
    "RECOMMENDERS",
    "ScopeBench",
    "ScopeData",
    "ScopePlan",
]


@dataclass(frozen=True, slots=True)
class ScopePlan:
    """How much data is used, and how long models are trained."""

    outlines: int  # papers whose headings are read; 0 for all
    worthiness: tuple[int, int, int]  # papers to train on, to choose thresholds by, and to test on
    epochs: int  # of worthiness models
    rate: float | None  # of worthiness models; None for SCOPE's
    limit: int  # tokens that a worthiness model reads at once
    tokens: int | None  # in a step of a worthiness model; None for SCOPE's four paragraphs or sentences
    seeds: int
    k: int  # candidates
    floor: int  # documents that must cite a candidate
    candidate_epochs: int
    sets: int  # sets and sentences to test prefetchers on
    rankers: int  # sentences to train a reranker on
    ranker_epochs: int
    ranker_rate: float
    negatives: int
    lists: int  # sentences in a step of a reranker
    longest: int  # tokens that a reranker reads
    parity: float | None  # least correlation of a saved reranker's scores; one that hardly learned differs in 8 bits
    claims: int  # sentences to test rerankers on
    rerank_k: int  # candidates to rerank
    drafts: int  # 0 for all
    layers: int  # of the base that are trained; 0 for all


FULL = ScopePlan(
    outlines=0,
    worthiness=(2000, 100, 200),
    epochs=3,
    rate=None,
    limit=512,
    tokens=None,
    seeds=5,
    k=2000,
    floor=1,
    candidate_epochs=20,
    sets=1000,
    rankers=10_000,
    ranker_epochs=5,
    ranker_rate=1e-5,
    negatives=62,
    lists=1,
    longest=512,
    parity=0.95,
    claims=1000,
    rerank_k=2000,
    drafts=0,
    layers=0,
)
QUICK = ScopePlan(
    outlines=200,
    worthiness=(8, 2, 3),
    epochs=1,
    rate=3e-4,
    limit=256,
    tokens=2048,
    seeds=1,
    k=300,
    floor=2,
    candidate_epochs=4,
    sets=60,
    rankers=30,
    ranker_epochs=2,
    ranker_rate=2e-4,
    negatives=7,
    lists=4,
    longest=160,
    parity=None,
    claims=40,
    rerank_k=20,
    drafts=3,
    layers=2,
)


RECOMMENDERS: Mapping[str, str] = MappingProxyType(
    {
        "aae-none": "AAE-none",
        "aae-title": "AAE-title",
        "aae-section-title": "AAE-section-title",
        "aae-section": "AAE-section",
        "random": "Random baseline",
        "accumulated-bm25": "Accumulated BM25 baseline",
        "most-popular": "Most Popular baseline",
        "co-occurrence": "Co-Occurrence baseline",
    }
)
RANKER_NAME, LEXICAL_NAME = "SciBERT", "LocalBM25"  # the paper's names of its models, for ours in their place
MEASURE_NAMES: Mapping[str, str] = MappingProxyType({"R": "recall", "P": "precision", "F1": "f1"})


@dataclass(frozen=True, slots=True)
class ScopeData:
    """Papers to learn from and test on, drafts for the pipeline, and the base of all models."""

    papers: Sequence[Path]
    drafts: Path | None
    base: str = DEFAULT


class ScopeBench:
    """What the tables share: the papers, the base and the trained models, all made when they are needed first."""

    def __init__(self, data: ScopeData, plan: ScopePlan, store: FigureStore, seed: int, watch: Watch) -> None:
        self.data, self.plan, self.store, self.seed, self.watch = data, plan, store, seed, watch
        self.unread: list[str] = []

    @cached_property
    def corpus(self) -> CitingCorpus:
        corpus, unread = prefetching.read_citing_corpus(self.data.papers, None, self.watch)
        self.unread += unread
        return corpus

    @cached_property
    def labelled(self) -> WorthinessSplit:
        train, dev, test = self.plan.worthiness
        documents: Iterable[LabelledDocument] = read_labelled(
            self.data.papers, lambda number: self.watch("reading paragraphs", number, None)
        )
        return split_by_date(islice(documents, train + dev + test), dev, test)

    @cached_property
    def base(self) -> str:
        """The base that is trained: with few layers, a copy of the first ones."""
        if not self.plan.layers:
            return self.data.base
        folder = self.store.folder_for("base")
        if not (folder / "config.json").is_file():
            base = load_base(self.data.base)
            base.model.encoder.layer = base.model.encoder.layer[: self.plan.layers]
            base.model.config.num_hidden_layers = len(base.model.encoder.layer)
            save_base(folder, base.model, base.tokenizer, max_tokens=base.facts.max_tokens)
        return str(folder)

    @property
    def base_name(self) -> str:
        layers = f", the first {self.plan.layers} layers" if self.plan.layers else ""
        return f"{Path(self.data.base).name}{layers}"

    def worthiness(self, variant: str) -> list[dict[str, Any]]:
        """The figures of a variant on the test papers, by seed."""
        return [
            self.store.measure(f"worthiness {variant} seed {seed}", self._worthiness_training(variant, seed))
            for seed in range(self.seed, self.seed + self.plan.seeds)
        ]

    def _worthiness_training(self, variant: str, seed: int) -> Callable[[], dict[str, Any]]:
        def measure() -> dict[str, Any]:
            self.watch(f"cite-worthiness: {variant}, seed {seed}", 0, None)
            recipe = replace(scope_recipe(variant, self.base, seed), epochs=self.plan.epochs, limit=self.plan.limit)
            if self.plan.rate is not None:  # a short training would end before SCOPE's has warmed up
                recipe = replace(recipe, rate=self.plan.rate, warm_up_steps=0)
            if self.plan.tokens is not None:
                recipe = replace(recipe, tokens=self.plan.tokens)
            parts = self.labelled
            outcome = train_worthiness(
                parts.train, parts.dev, parts.test, recipe, lambda text: self.watch(f"{variant}: {text}", 0, None)
            )
            figures: dict[str, Any] = outcome.report["test"]
            return {kind: {name: row[name] for name in MEASURE_NAMES.values()} for kind, row in figures.items()}

        return measure

    def baselines(self) -> list[dict[str, Any]]:
        """The figures of the baselines by seed, and of the logistic regression."""

        def measure(seed: int) -> dict[str, Any]:
            self.watch(f"baselines, seed {seed}", 0, None)
            figures: dict[str, Any] = {}
            for row in worthiness_table(self.labelled, None, None, seed):
                scores = {name: getattr(row.scores, name) for name in MEASURE_NAMES.values()}
                figures.setdefault(row.method, {})[row.kind] = scores
            return figures

        return [
            self.store.measure(f"worthiness baselines seed {seed}", lambda seed=seed: measure(seed))  # type: ignore[misc]
            for seed in range(self.seed, self.seed + self.plan.seeds)
        ]

    def candidates(self) -> dict[str, Any]:
        """The figures of all recommenders."""
        plan = self.plan
        setting = prefetching.PrefetchSetting(
            k=plan.k,
            floor=plan.floor,
            epochs=plan.candidate_epochs,
            again=True,
            limit=plan.sets,
            seed=self.seed,
            methods=tuple(RECOMMENDERS),
        )
        figures: dict[str, Any] = self.store.measure(
            "candidates", lambda: prefetching.as_dict(prefetching.run(self.corpus, setting, self.watch))
        )
        return figures

    def ranker(self, variant: str) -> tuple[Path, list[dict[str, float]]]:
        """A reranker trained with an input variant, and its figures after each epoch."""
        plan = self.plan
        folder = self.store.folder_for(f"ranker {variant}")
        recipe = replace(
            triplets.RECIPE,
            epochs=plan.ranker_epochs,
            rate=plan.ranker_rate,
            negatives=plan.negatives,
            batch=plan.lists,
            longest=plan.longest,
            seed=self.seed,
        )

        def measure() -> list[dict[str, float]]:
            if (folder / MODEL).exists():  # stopped before its figures were kept
                (folder / MODEL).unlink()
            return triplets.build_scope_ranker(
                self.corpus,
                variant,
                self.base,
                folder,
                plan.rankers,
                None,
                lambda text: self.watch(f"reranker {variant}: {text}", 0, None),
                recipe,
                asked=plan.claims,
                max_wrong=max(plan.rerank_k, plan.negatives),
                least_parity=plan.parity,
            )

        return folder, self.store.measure(f"ranker {variant}", measure)

    def reranking(self) -> dict[str, Any]:
        """The figures of six rerankers, each trained with its own input, and of BM25."""

        def measure() -> dict[str, Any]:
            entries = [
                reranking.RankerEntry(RANKER_NAME, load_ranker(folder), reranking.room_of(folder), ranker_variant(name))
                for name in (variant.name for variant in RANKER_VARIANTS)
                for folder, _ in [self.ranker(name)]
            ]
            setting = reranking.RerankSetting(
                k=self.plan.rerank_k,
                floor=self.plan.floor,
                epochs=self.plan.candidate_epochs,
                limit=self.plan.claims,
                seed=self.seed,
            )
            tables = reranking.rerankers(self.corpus.papers.values(), None, entries)
            return reranking.as_dict(reranking.run(self.corpus, setting, *tables, self.watch))

        figures: dict[str, Any] = self.store.measure("reranking", measure)
        return figures
