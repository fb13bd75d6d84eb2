"""SCOPE's tables 2 to 9, 11, 13 and 14: structure, cite-worthiness, candidates, rerankers and the whole pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any

from whycite.check.detector import load_detector
from whycite.check.paragraphs import LabelledDocument
from whycite.cli.terminal import count
from whycite.documents import stream
from whycite.errors import UserError
from whycite.lab.evaluate.topics import Watch
from whycite.lab.reproduce.tables import (
    ComparedTable,
    Figure,
    FigureStore,
    OurRow,
    PublishedTable,
    compare_rows,
    published_tables,
)
from whycite.lab.scope import pipeline, prefetching, reranking, triplets
from whycite.lab.scope.candidates import CitingCorpus
from whycite.lab.scope.inputvariants import VARIANTS as RANKER_VARIANTS
from whycite.lab.scope.inputvariants import ranker_variant
from whycite.lab.scope.worthinessexperiments import worthiness_table
from whycite.lab.scope.worthinessmeasures import WorthinessSplit, split_by_date
from whycite.lab.train.bases import load_base, save_base
from whycite.lab.train.worthiness.documents import read_labelled
from whycite.lab.train.worthiness.recipe import scope_recipe
from whycite.lab.train.worthiness.training import train as train_worthiness
from whycite.models import DEFAULT, load_encoder
from whycite.models.cache import CachedEncoder
from whycite.models.folders import MODEL
from whycite.models.rankers import load_ranker
from whycite.structure import SectionOutline, dictionary, outline, support

__all__ = ["FULL", "QUICK", "TABLES", "ScopeData", "ScopePlan", "scope_tables"]

TABLES = ("2", "3", "4", "5", "6", "7", "8", "9", "11", "13", "14")


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
    parity: float  # least correlation of a saved reranker's scores: one that hardly learned differs in 8 bits
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
    parity=0.5,
    claims=40,
    rerank_k=20,
    drafts=3,
    layers=2,
)

_PARAGRAPH_VARIANTS = ("ctx", "ctx-section-extra", "ctx-section-always", "ctx-section-first")
_SENTENCE_VARIANTS = ("solo", "solo-section-extra", "solo-section-firstalways")
_BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "chance": "chance baseline",
        "class-weighted": "class-weighted baseline",
        "class-weighted by section": "class-weighted baseline + section",
        "logistic regression": "logistic regression (ours)",
    }
)
_RECOMMENDERS: Mapping[str, str] = MappingProxyType(
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
_PREFETCHERS: Mapping[str, str] = MappingProxyType(
    {
        "aae-section-title": "AAE",
        "co-occurrence": "Co-occurrence baseline",
        "most-popular": "Most Popular baseline",
        "local-bm25": "LocalBM25-paragraph (no masking)",
    }
)
_RANKER, _LEXICAL = "SciBERT", "LocalBM25"  # the paper's names of its models, for ours in their place
_LEXICAL_BEST = "bm25-paragraph (no masking)"
_KINDS: Mapping[str, str] = MappingProxyType({"R": "recall", "P": "precision", "F1": "f1"})


@dataclass(frozen=True, slots=True)
class ScopeData:
    """Papers to learn from and test on, drafts for the pipeline, and the base of all models."""

    papers: Sequence[Path]
    drafts: Path | None
    base: str = DEFAULT


def scope_tables(
    data: ScopeData, plan: ScopePlan, store: FigureStore, seed: int, watch: Watch, numbers: Sequence[str] = TABLES
) -> tuple[list[ComparedTable], list[str]]:
    """The tables of these numbers; also a message for each unreadable file."""
    bench = _ScopeBench(data, plan, store, seed, watch)
    compared = []
    for number in numbers:
        if number == "8" and data.drafts is None:
            raise UserError(
                "table 8 is made of drafts; give a folder of them with --drafts, or leave it out of --tables"
            )
        compared.append(_TABLES[number](bench, published_tables("scope")[number]))
    return compared, bench.unread


class _ScopeBench:
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
            if self.plan.rate is not None:
                recipe = replace(recipe, rate=self.plan.rate)
            if self.plan.tokens is not None:
                recipe = replace(recipe, tokens=self.plan.tokens)
            parts = self.labelled
            outcome = train_worthiness(
                parts.train, parts.dev, parts.test, recipe, lambda text: self.watch(f"{variant}: {text}", 0, None)
            )
            figures: dict[str, Any] = outcome.report["test"]
            return {kind: {name: row[name] for name in _KINDS.values()} for kind, row in figures.items()}

        return measure

    def baselines(self) -> list[dict[str, Any]]:
        """The figures of the baselines by seed, and of the logistic regression."""

        def measure(seed: int) -> dict[str, Any]:
            self.watch(f"baselines, seed {seed}", 0, None)
            figures: dict[str, Any] = {}
            for row in worthiness_table(self.labelled, None, None, seed):
                scores = {name: getattr(row.scores, name) for name in _KINDS.values()}
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
            methods=tuple(_RECOMMENDERS),
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
                reranking.RankerEntry(_RANKER, load_ranker(folder), reranking.room_of(folder), ranker_variant(name))
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


def _structure_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    def measure() -> dict[str, Any]:
        documents = (document for path in bench.data.papers for document in stream(path))
        outlines: list[SectionOutline] = []
        for document in islice(documents, bench.plan.outlines or None):
            bench.watch("reading headings", len(outlines), None)
            if document.sections:
                outlines.append(outline(document))
        if not outlines:
            raise UserError("no document has sections; table 2 cannot be made")
        table = support(outlines, [dictionary(block) for block in ("exact", "defined", "learned", "ours")])
        return {
            "documents": table.documents,
            "any": list(table.any),
            "shares": {str(template): list(shares) for template, shares in table.shares.items()},
        }

    figures = bench.store.measure("structure", measure)
    shares = {name.strip("[] "): row for name, row in figures["shares"].items()}
    ours = [
        OurRow(
            "", name, {column: Figure(share) for column, share in zip(published.columns, shares[name], strict=False)}
        )
        for _, name, _ in published.rows
        if name in shares
    ]
    any_share = ", ".join(f"{share:.2f}" for share in figures["any"])
    return ComparedTable(
        published,
        compare_rows(published, ours),
        {"data": f"section headings of {figures['documents']:,} papers"},
        "other papers: the templates are those of computer science",
        notes=(f"Any template: {any_share} (without synonyms, defined, learned, and with whycite's own rules).",),
    )


def _seed_figure(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), stdev(values) if len(values) > 1 else None)


def _worthiness_figures(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, Figure]:
    figures = {}
    for column in columns:
        kind, _, measure = column.rpartition(" ")
        figures[column] = _seed_figure([row[kind][_KINDS[measure]] for row in rows])
    return figures


def _worthiness_rows(bench: _ScopeBench, published: PublishedTable, variants: Sequence[str]) -> list[OurRow]:
    return [
        OurRow("", variant, _worthiness_figures(bench.worthiness(variant), published.columns)) for variant in variants
    ]


def _worthiness_conditions(bench: _ScopeBench) -> dict[str, str]:
    train, dev, test = (len(part) for part in (bench.labelled.train, bench.labelled.dev, bench.labelled.test))
    sentences = [
        sentence.worthy
        for document in bench.labelled.test
        for paragraph in document.paragraphs
        for sentence in paragraph.sentences
    ]
    share = sum(sentences) / max(len(sentences), 1)
    rate = "SCOPE's" if bench.plan.rate is None else f"{bench.plan.rate:g}"
    return {
        "data": f"{train:,} papers to train on, {dev:,} for the threshold, {test:,} to test: {len(sentences):,} "
        f"sentences, {share:.1%} worthy; {bench.base_name}",
        "training": f"SCOPE's recipe, {count(bench.plan.epochs, 'epoch')}, rate {rate}, "
        f"{count(bench.plan.seeds, 'seed')}",
    }


_OTHER_MODELS = "other papers, and another model in place of Longformer"


def _paragraph_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    baselines = bench.baselines()
    rows = _worthiness_rows(bench, published, _PARAGRAPH_VARIANTS)
    rows += [
        OurRow("", name, _worthiness_figures([row[method] for row in baselines], published.columns))
        for method, name in _BASELINES.items()
    ]
    notes = (
        ("Ours has standard deviations in brackets, if there are several seeds.",) if published.number == "3" else ()
    )
    return ComparedTable(
        published, compare_rows(published, rows), _worthiness_conditions(bench), _OTHER_MODELS, notes=notes
    )


def _sentence_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    rows = _worthiness_rows(bench, published, _SENTENCE_VARIANTS)
    return ComparedTable(published, compare_rows(published, rows), _worthiness_conditions(bench), _OTHER_MODELS)


def _set_rows(
    figures: Sequence[Mapping[str, Any]], group: Callable[[Mapping[str, Any]], str], names: Sequence[str]
) -> list[OurRow]:
    """One row per recommender and group, with MRR and R@k for each share that was hidden."""
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in figures:
        if row["method"] in names:
            cells = rows.setdefault((group(row), _RECOMMENDERS[row["method"]]), {})
            for measure, name in (("mrr", "MRR"), ("recall", "R@k")):
                cells[f"d={row['drop']:g} {name}"] = Figure(row[measure]["mean"], row[measure]["deviation"])
    return [OurRow(unit, name, cells) for (unit, name), cells in rows.items()]


_AUTOENCODERS = tuple(name for name in _RECOMMENDERS if name.startswith("aae-"))


def _candidate_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.candidates()
    units = {"paper": "paperwise", "section": "sectionwise"}
    if published.number == "4":
        by_section = [row for row in figures["sets"] if row["by"] == "section"]
        rows = _set_rows(by_section, lambda row: "", tuple(_RECOMMENDERS))
    elif published.number == "5":
        rows = _set_rows(figures["sets"], lambda row: units[row["by"]], _AUTOENCODERS)
    else:
        old, new = ([row for row in figures[part] if row["by"] == "section"] for part in ("sets", "later"))
        rows = [*_set_rows(new, lambda row: "new", _AUTOENCODERS), *_set_rows(old, lambda row: "old", _AUTOENCODERS)]
    return ComparedTable(
        published,
        compare_rows(published, rows),
        _candidate_conditions(bench, figures),
        "other papers; R@k depends on the share of the pool that k papers are",
    )


def _candidate_conditions(bench: _ScopeBench, figures: Mapping[str, Any]) -> dict[str, str]:
    pools = ", ".join(f"{part['papers']:,} by {part['by']}" for part in figures["learned"])
    tested = max((row["asked"] for row in figures["sets"]), default=0)
    return {
        "data": f"{figures['documents']:,} papers, the newest {figures['held_out']:,} held out; {tested:,} sets tested",
        "pool": f"papers that at least {bench.plan.floor} of the others cite ({pools})",
        "k": f"{bench.plan.k:,}",
    }


def _rerank_conditions(bench: _ScopeBench, figures: Mapping[str, Any]) -> dict[str, str]:
    plan = bench.plan
    return {
        "data": f"citing sentences of the newest {figures['held_out']:,} of {figures['documents']:,} papers; "
        f"{bench.base_name}",
        "pool": f"{figures['papers']:,} papers that at least {plan.floor} of the others cite",
        "k": f"{plan.rerank_k:,}",
        "claims": f"{figures['contexts']:,}",
        "training": f"a reranker a variant, on {plan.rankers:,} sentences, {count(plan.ranker_epochs, 'epoch')}, "
        f"{plan.negatives} negatives, {plan.longest} tokens",
    }


_OTHER_RANKER = "other papers, another base in place of SciBERT, and other numbers of candidates"


def _oracle_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.reranking()
    rows = [
        OurRow(
            "",
            row["reranker"].replace("bm25", _LEXICAL),
            {"MRR": _error_figure(row["mrr"]), "R@10": _error_figure(row["recall"]["10"])},
        )
        for row in figures["oracle"]
    ]
    return ComparedTable(published, compare_rows(published, rows), _rerank_conditions(bench, figures), _OTHER_RANKER)


def _error_figure(measure: Mapping[str, float]) -> Figure:
    return Figure(measure["mean"], measure["error"])


def _prefetch_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.reranking()
    cells: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in figures["real"]:
        group = "" if row["drop"] is None else f"d={row['drop']:g}"
        reranker = {f"{_RANKER}-paragraph": f"{_RANKER}-paragraph", _LEXICAL_BEST: f"{_LEXICAL}-paragraph"}
        name = reranker.get(row["reranker"])
        if name is not None:
            line = cells.setdefault((group, _PREFETCHERS[row["prefetch"]]), {})
            line[f"{name} MRR"] = _error_figure(row["mrr"])
            line[f"{name} R@10"] = _error_figure(row["recall"]["10"])
    rows = [OurRow(group, name, line) for (group, name), line in cells.items()]
    return ComparedTable(published, compare_rows(published, rows), _rerank_conditions(bench, figures), _OTHER_RANKER)


def _epoch_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    _, epochs = bench.ranker("default")
    rows = [
        OurRow(
            "ModifiedS2ORC",
            str(int(row["epoch"])),
            {name: Figure(row[name], row[f"{name} error"]) for name in published.columns},
        )
        for row in epochs
    ]
    return ComparedTable(
        published,
        compare_rows(published, rows),
        {
            "data": f"citing sentences of held-out papers; {bench.base_name}",
            "pool": f"papers that older ones cite (at least {bench.plan.floor})",
            "k": f"the true papers and {max(bench.plan.rerank_k, bench.plan.negatives):,} others of BM25's best 2,000",
            "claims": f"at most {bench.plan.claims:,}",
        },
        _OTHER_RANKER,
    )


def _pipeline_table(bench: _ScopeBench, published: PublishedTable) -> ComparedTable:
    def measure() -> list[dict[str, Any]]:
        if bench.data.drafts is None:
            raise UserError("give a folder of drafts with --drafts")
        drafts = pipeline.drafts_in(bench.data.drafts)
        chosen = drafts[: bench.plan.drafts or None]
        encoder = CachedEncoder(load_encoder())
        outcome = pipeline.run(chosen, load_detector(), encoder, watch=bench.watch)
        return [pipeline.as_dict(outcome), pipeline.as_dict(pipeline.ask_nothing(outcome))]

    checked, silent = bench.store.measure("pipeline", measure)
    names = {"Pipeline": checked, "nothing is asked (ours)": silent}
    rows = [
        OurRow("", name, {column: Figure(figures[column]) for column in published.columns})
        for name, figures in names.items()
    ]
    worthy = f"{checked['worthy']:,} of them with a citation"
    return ComparedTable(
        published,
        compare_rows(published, rows),
        {
            "data": f"{checked['drafts']:,} drafts, {checked['sentences']:,} sentences, {worthy}",
            "pool": "the bibliography of each draft",
            "k": "all its entries",
        },
        "a draft's own bibliography holds the answer; SCOPE searched 27,065 papers. `whycite eval pipeline --library` "
        "measures a library as the pool",
        notes=("“Pipeline” is `whycite check` as shipped.",),
    )


_TABLES: Mapping[str, Callable[[_ScopeBench, PublishedTable], ComparedTable]] = MappingProxyType(
    {
        "2": _structure_table,
        "3": _paragraph_table,
        "4": _candidate_table,
        "5": _candidate_table,
        "6": _oracle_table,
        "7": _prefetch_table,
        "8": _pipeline_table,
        "9": _epoch_table,
        "11": _candidate_table,
        "13": _paragraph_table,
        "14": _sentence_table,
    }
)
