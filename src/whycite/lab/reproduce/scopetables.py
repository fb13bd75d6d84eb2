"""SCOPE's tables 2 to 9, 11, 13 and 14: structure, cite-worthiness, candidates, rerankers and the whole pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import sqrt
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any

from whycite.check.detector import load_detector
from whycite.cli.terminal import count
from whycite.documents import stream
from whycite.errors import UserError
from whycite.lab.evaluate.topics import Watch
from whycite.lab.reproduce.scopebench import (
    LEXICAL_NAME,
    MEASURE_NAMES,
    RANKER_NAME,
    RECOMMENDERS,
    ScopeBench,
    ScopeData,
    ScopePlan,
)
from whycite.lab.reproduce.tables import (
    ComparedTable,
    Figure,
    FigureStore,
    OurRow,
    PublishedTable,
    compare_rows,
    published_tables,
)
from whycite.lab.scope import pipeline
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder
from whycite.structure import SectionOutline, dictionary, outline, support

__all__ = ["TABLES", "scope_tables", "seed_figure"]

TABLES = ("2", "3", "4", "5", "6", "7", "8", "9", "11", "13", "14")
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
_PREFETCHERS: Mapping[str, str] = MappingProxyType(
    {
        "aae-section-title": "AAE",
        "co-occurrence": "Co-occurrence baseline",
        "most-popular": "Most Popular baseline",
        "local-bm25": "LocalBM25-paragraph (no masking)",
    }
)
_LEXICAL_BEST = "bm25-paragraph (no masking)"


def scope_tables(
    data: ScopeData, plan: ScopePlan, store: FigureStore, seed: int, watch: Watch, numbers: Sequence[str] = TABLES
) -> tuple[list[ComparedTable], list[str]]:
    """The tables of these numbers; also a message for each unreadable file."""
    bench = ScopeBench(data, plan, store, seed, watch)
    compared = []
    for number in numbers:
        if number == "8" and data.drafts is None:
            raise UserError(
                "table 8 is made of drafts; give a folder of them with --drafts, or leave it out of --tables"
            )
        compared.append(_TABLES[number](bench, published_tables("scope")[number]))
    return compared, bench.unread


def _structure_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
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
    our_rows = [
        OurRow(
            "", name, {column: Figure(share) for column, share in zip(published.columns, shares[name], strict=False)}
        )
        for _, name, _ in published.rows
        if name in shares
    ]
    any_share = ", ".join(f"{share:.2f}" for share in figures["any"])
    return ComparedTable(
        published,
        compare_rows(published, our_rows),
        {"data": f"section headings of {figures['documents']:,} papers"},
        "other papers: the templates are those of computer science",
        notes=(f"Any template: {any_share} (without synonyms, defined, learned, and with whycite's own rules).",),
    )


def seed_figure(values: Sequence[float], spread: str) -> Figure:
    """The mean over seeds, with the spread that the paper's table has."""
    if len(values) < 2:
        return Figure(fmean(values))
    return Figure(fmean(values), stdev(values) / (sqrt(len(values)) if spread.startswith("standard error") else 1))


def _worthiness_figures(rows: Sequence[Mapping[str, Any]], published: PublishedTable) -> dict[str, Figure]:
    figures = {}
    for column in published.columns:
        kind, _, measure = column.rpartition(" ")
        figures[column] = seed_figure([row[kind][MEASURE_NAMES[measure]] for row in rows], published.spread)
    return figures


def _worthiness_rows(bench: ScopeBench, published: PublishedTable, variants: Sequence[str]) -> list[OurRow]:
    return [OurRow("", variant, _worthiness_figures(bench.worthiness(variant), published)) for variant in variants]


def _worthiness_conditions(bench: ScopeBench) -> dict[str, str]:
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


def _paragraph_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
    baselines = bench.baselines()
    rows = _worthiness_rows(bench, published, _PARAGRAPH_VARIANTS)
    rows += [
        OurRow("", name, _worthiness_figures([row[method] for row in baselines], published))
        for method, name in _BASELINES.items()
    ]
    return ComparedTable(published, compare_rows(published, rows), _worthiness_conditions(bench), _OTHER_MODELS)


def _sentence_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
    rows = _worthiness_rows(bench, published, _SENTENCE_VARIANTS)
    return ComparedTable(published, compare_rows(published, rows), _worthiness_conditions(bench), _OTHER_MODELS)


def _set_rows(
    figures: Sequence[Mapping[str, Any]], group: Callable[[Mapping[str, Any]], str], names: Sequence[str]
) -> list[OurRow]:
    """One row per recommender and group, with MRR and R@k for each share that was hidden."""
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in figures:
        if row["method"] in names:
            cells = rows.setdefault((group(row), RECOMMENDERS[row["method"]]), {})
            for measure, name in (("mrr", "MRR"), ("recall", "R@k")):
                cells[f"d={row['drop']:g} {name}"] = Figure(row[measure]["mean"], row[measure]["deviation"])
    return [OurRow(unit, name, cells) for (unit, name), cells in rows.items()]


_AUTOENCODERS = tuple(name for name in RECOMMENDERS if name.startswith("aae-"))


def _candidate_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.candidates()
    units = {"paper": "paperwise", "section": "sectionwise"}
    if published.number == "4":
        by_section = [row for row in figures["sets"] if row["by"] == "section"]
        rows = _set_rows(by_section, lambda row: "", tuple(RECOMMENDERS))
    elif published.number == "5":
        rows = _set_rows(figures["sets"], lambda row: units[row["by"]], _AUTOENCODERS)
    else:
        old, new = ([row for row in figures[part] if row["by"] == "section"] for part in ("sets", "later"))
        rows = [*_set_rows(new, lambda row: "new", _AUTOENCODERS), *_set_rows(old, lambda row: "old", _AUTOENCODERS)]
    return ComparedTable(
        published,
        compare_rows(published, rows),
        _candidate_conditions(bench, published, figures),
        "other papers; R@k depends on the share of the pool that k papers are",
    )


def _candidate_conditions(bench: ScopeBench, published: PublishedTable, figures: Mapping[str, Any]) -> dict[str, str]:
    units = ("paper", "section") if published.number == "5" else ("section",)
    pools = ", ".join(f"{part['papers']:,} by {part['by']}" for part in figures["learned"] if part["by"] in units)
    tested = ", ".join(f"{_asked(figures['sets'], unit)} by {unit}" for unit in units)
    data = f"{figures['documents']:,} papers, the newest {figures['held_out']:,} held out; sets tested: {tested}"
    if published.number == "11":
        later = _asked(figures["later"], "section")
        data += f" (old); new: trained on the older half of those held out, too, {later} sets of the newer half tested"
    return {
        "data": data,
        "pool": f"papers that at least {bench.plan.floor} of the others cite ({pools})",
        "k": f"{bench.plan.k:,}",
    }


def _asked(rows: Sequence[Mapping[str, Any]], unit: str) -> str:
    """How many sets were tested, whatever share of them was hidden."""
    return f"{max(row['asked'] for row in rows if row['by'] == unit):,}"


def _rerank_conditions(bench: ScopeBench, figures: Mapping[str, Any]) -> dict[str, str]:
    plan = bench.plan
    return {
        "data": f"citing sentences of the newest {figures['held_out']:,} of {figures['documents']:,} papers; "
        f"{bench.base_name}",
        "pool": f"{figures['papers']:,} papers that at least {plan.floor} of the others cite",
        "k": f"{plan.rerank_k:,}",
        "claims": f"{figures['contexts']:,}",
        "training": f"a reranker a variant, {count(plan.ranker_epochs, 'epoch')}, {_ranker_training(plan)}",
    }


def _ranker_training(plan: ScopePlan) -> str:
    negatives = f"{plan.negatives} negatives of BM25's best 2,000"
    return f"{plan.rankers:,} sentences, {negatives}, {plan.longest} tokens, rate {plan.ranker_rate:g}"


_OTHER_RANKER = "other papers, another base in place of SciBERT, and other numbers of candidates"


def _oracle_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.reranking()
    rows = [
        OurRow(
            "",
            row["reranker"].replace("bm25", LEXICAL_NAME),
            {"MRR": _error_figure(row["mrr"]), "R@10": _error_figure(row["recall"]["10"])},
        )
        for row in figures["oracle"]
    ]
    return ComparedTable(published, compare_rows(published, rows), _rerank_conditions(bench, figures), _OTHER_RANKER)


def _error_figure(measure: Mapping[str, float]) -> Figure:
    return Figure(measure["mean"], measure["error"])


def _prefetch_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
    figures = bench.reranking()
    cells: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in figures["real"]:
        group = "any d" if row["drop"] is None else f"d={row['drop']:g}"
        reranker = {f"{RANKER_NAME}-paragraph": f"{RANKER_NAME}-paragraph", _LEXICAL_BEST: f"{LEXICAL_NAME}-paragraph"}
        name = reranker.get(row["reranker"])
        if name is not None:
            line = cells.setdefault((group, _PREFETCHERS[row["prefetch"]]), {})
            line[f"{name} MRR"] = _error_figure(row["mrr"])
            line[f"{name} R@10"] = _error_figure(row["recall"]["10"])
    rows = [OurRow(group, name, line) for (group, name), line in cells.items()]
    return ComparedTable(published, compare_rows(published, rows), _rerank_conditions(bench, figures), _OTHER_RANKER)


def _epoch_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
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
            "training": _ranker_training(bench.plan),
        },
        _OTHER_RANKER,
    )


def _pipeline_table(bench: ScopeBench, published: PublishedTable) -> ComparedTable:
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
        notes=("“Pipeline” is `whycite check` as shipped; the card of its model says what that has learned from.",),
    )


_TABLES: Mapping[str, Callable[[ScopeBench, PublishedTable], ComparedTable]] = MappingProxyType(
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
