"""ILCiteR's tables 2, 4 and 5 on topics of any papers, with paired t-tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whycite.errors import UserError
from whycite.lab.evaluate.topics import Topic, Watch, parse_topics, read_publication_records
from whycite.lab.ilciter import experiment
from whycite.lab.ilciter.workspace import PreparedTopic, prepare
from whycite.lab.reproduce.tables import (
    ComparedRow,
    ComparedTable,
    Figure,
    FigureStore,
    OurRow,
    PublishedTable,
    compare_rows,
    mean_figure,
    published_tables,
)
from whycite.models import DEFAULT

__all__ = ["FULL", "QUICK", "TABLES", "IlciterPlan", "choose_topics", "ilciter_tables"]

TABLES = ("2", "4", "5")


@dataclass(frozen=True, slots=True)
class IlciterPlan:
    """How many topics, papers held out a topic, and claims a topic."""

    topics: int
    held_out: int
    claims: int


FULL = IlciterPlan(3, 200, 500)
QUICK = IlciterPlan(1, 15, 100)

_METHODS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "4": {
            "BM25Okapi": "bm25-okapi",
            "BM25Plus": "bm25-plus-rank-bm25",
            "Conditional Ensembling": "ilciter",
            "textbook BM25+ (ours)": "bm25-plus",
            "whycite (ours)": "whycite",
        },
        "5": {
            "SciBERT only": "encoder",
            "Ensemble BM25Okapi + SciBERT": "ensemble-okapi-encoder",
            "Ensemble BM25Plus + SciBERT": "ensemble-plus-encoder",
            "Ensemble BM25s + SciBERT": "ensemble-all",
            "Conditional Ensemble": "ilciter",
        },
    }
)
_MEAN = "mean of topics"
_CHOICES = ("supported", "random")
_AUTHORS_CHOICE = "supported"
_OTHER_DATA = "other papers, and an encoder in place of SciBERT: only the order of the methods can be compared"


def choose_topics(names: str | None, paths: Sequence[Path], number: int) -> tuple[Topic, ...]:
    """The named topics, or the subjects that most papers have."""
    if names is not None:
        return parse_topics(names)
    subjects = Counter(subject for record in read_publication_records(paths).values() for subject in record.subjects)
    if not subjects:
        raise UserError(
            "these papers have no subjects; describe topics by words in abstracts: --topics 'NAME=words|ABBR'"
        )
    return parse_topics(",".join(subject for subject, _ in subjects.most_common(number)))


def ilciter_tables(
    paths: Sequence[Path],
    topics: Sequence[Topic],
    plan: IlciterPlan,
    store: FigureStore,
    seed: int,
    jobs: int,
    watch: Watch,
    numbers: Sequence[str] = TABLES,
) -> tuple[list[ComparedTable], list[str]]:
    """The tables of these numbers; also a message for each unreadable file."""
    prepared, unread = prepare(paths, topics, plan.held_out, store.folder_for("libraries"), jobs, watch)
    outcomes = [
        store.measure(f"topic {topic.topic}", _measurement(topic, plan.claims, seed, watch)) for topic in prepared
    ]
    return [_TABLES[number](published_tables("ilciter")[number], outcomes) for number in numbers], unread


def _measurement(topic: PreparedTopic, claims: int, seed: int, watch: Watch) -> Callable[[], dict[str, Any]]:
    return lambda: experiment.as_dict(experiment.run(topic, _CHOICES, claims, experiment.DEFAULT_METHODS, seed, watch))


def _databases(published: PublishedTable, outcomes: Sequence[Mapping[str, Any]]) -> ComparedTable:
    keys = dict(zip(published.columns, ("spans", "characters", "tokens", "papers"), strict=True))
    our_rows = [
        OurRow("", outcome["topic"], {column: Figure(outcome["database"][key]) for column, key in keys.items()})
        for outcome in outcomes
    ]
    conditions = {"data": _conditions(outcomes)["data"]}
    return ComparedTable(published, compare_rows(published, our_rows), conditions, "other papers")


def _rankings(published: PublishedTable, outcomes: Sequence[Mapping[str, Any]]) -> ComparedTable:
    methods = _METHODS[published.number]
    conditional = next(name for name, method in methods.items() if method == "ilciter")
    by_topic = {
        (f"{outcome['topic']}, {choice}", name): _our_row(outcome, choice, name, method, published)
        for outcome in outcomes
        for choice in _CHOICES
        for name, method in methods.items()
    }
    means = [_mean_row(name, published, by_topic, outcomes) for name in methods]
    paper = [ComparedRow(group, name, figures, None) for group, name, figures in published.rows]
    our_rows = [
        ComparedRow(row.group, row.name, None, tuple(row.figures[column] for column in published.columns), row.p)
        for row in by_topic.values()
    ]
    notes = (
        f"The mean is over claims that cite the best-supported papers ({_AUTHORS_CHOICE}), as the authors chose them; "
        "random ones are harder.",
        f"The card of {DEFAULT} names the articles that it and the weights of whycite have learned from.",
    )
    return ComparedTable(
        published,
        (*means, *paper, *our_rows),
        {**_conditions(outcomes), "encoder": f"{DEFAULT}, trained on sentences that cite"},
        _OTHER_DATA,
        tested_against=conditional,
        notes=notes,
    )


def _our_row(outcome: Mapping[str, Any], choice: str, name: str, method: str, published: PublishedTable) -> OurRow:
    row = next(row for row in outcome["choices"][choice]["methods"] if row["method"] == method)
    figures = {column: Figure(row["means"][column]) for column in published.columns}
    return OurRow(f"{outcome['topic']}, {choice}", name, figures, row["p"].get("ilciter", {}))


def _mean_row(
    name: str,
    published: PublishedTable,
    by_topic: Mapping[tuple[str, str], OurRow],
    outcomes: Sequence[Mapping[str, Any]],
) -> ComparedRow:
    paper = [figures for _, row_name, figures in published.rows if row_name == name]
    our_rows = [by_topic[f"{outcome['topic']}, {_AUTHORS_CHOICE}", name] for outcome in outcomes]
    return ComparedRow(
        _MEAN,
        name,
        tuple(mean_figure(column) for column in zip(*paper, strict=True)) if paper else None,
        tuple(mean_figure(row.figures[column] for row in our_rows) for column in published.columns),
    )


def _conditions(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    topics = "; ".join(f"{outcome['topic']}: {outcome['papers']:,} papers" for outcome in outcomes)
    pools = ", ".join(f"{outcome['database']['papers']:,}" for outcome in outcomes)
    claims = ", ".join(str(outcome["choices"][_AUTHORS_CHOICE]["claims"]) for outcome in outcomes)
    held_out = ", ".join(str(outcome["held_out"]["papers"]) for outcome in outcomes)
    return {
        "data": topics,
        "pool": f"the papers cited in a topic's database ({pools})",
        "k": "50 spans by each BM25, at most 100",
        "claims": f"{claims}, of the {held_out} newest papers, each with a true paper in the database",
    }


_TABLES: Mapping[str, Callable[[PublishedTable, Sequence[Mapping[str, Any]]], ComparedTable]] = MappingProxyType(
    {"2": _databases, "4": _rankings, "5": _rankings}
)
