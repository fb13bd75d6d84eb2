"""ILCiteR's experiment (section 7) on any topic: statistics of the database, claims, methods side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.evaluation.cases import Case, answerable, choose
from whycite.evaluation.comparison import Row, compare
from whycite.evaluation.corpus import Watch
from whycite.evaluation.ranking import DEPTH, Ranking, database_of, rank, support_of
from whycite.evaluation.trec import write_qrels, write_run
from whycite.evaluation.workspace import Prepared, slug
from whycite.files import make_folder, write_lines
from whycite.recommend.ilciter import Statistics

__all__ = ["AGAINST", "Outcome", "as_dict", "run", "write"]

AGAINST = ("ilciter", "bm25-okapi")  # what every method is held against


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claims of one choice, what each method recommended for them, and what that is worth."""

    cases: Sequence[Case]
    runs: Mapping[str, Ranking]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The experiment on one topic."""

    prepared: Prepared
    database: Statistics
    answerable: int  # claims with a true paper in the database
    choices: Mapping[str, Chosen]


def run(
    prepared: Prepared, choices: Sequence[str], claims: int, methods: Sequence[str], seed: int, watch: Watch
) -> Outcome:
    """Choose claims of a topic, put them to the methods and compare what these recommend."""
    from whycite.library import Library

    watch(f"{prepared.topic}: opening the library", 0, None)
    library = Library.open(prepared.library)
    database = database_of(library)
    support = support_of(database)
    fitting = answerable(prepared.claims.cases, support)
    if len(fitting) < 2:
        raise UserError(
            f"topic '{prepared.topic}': {len(fitting)} claims of the papers held out cite a paper that the others cite "
            "too, and at least two are needed; give more data or raise --held-out"
        )
    drawn = {choice: choose(fitting, support, choice, claims, seed) for choice in choices}
    asked = list({case.id: case for cases in drawn.values() for case in cases}.values())
    runs = rank(library, database, prepared.claims.sources, asked, methods, watch, prepared.topic)
    outcomes = {choice: _chosen(cases, runs, seed) for choice, cases in drawn.items()}
    return Outcome(prepared, database.statistics(), len(fitting), outcomes)


def _chosen(cases: Sequence[Case], runs: Mapping[str, Ranking], seed: int) -> Chosen:
    own = {name: {case.id: ranking[case.id] for case in cases} for name, ranking in runs.items()}
    truth = {case.id: case.truth for case in cases}
    return Chosen(cases, own, compare(own, truth, AGAINST, seed))


def write(outcome: Outcome, folder: Path) -> None:
    """Put down the claims, the true papers and every run, each in a file."""
    make_folder(folder)
    for choice, chosen in outcome.choices.items():
        stem = f"{slug(outcome.prepared.topic)}.{choice}"
        claims = (json.dumps({"id": case.id, "text": case.text}) + "\n" for case in chosen.cases)
        write_lines(folder / f"{stem}.claims.jsonl", claims)
        write_qrels(folder / f"{stem}.qrels", {case.id: case.truth for case in chosen.cases})
        for method, ranking in chosen.runs.items():
            write_run(folder / f"{stem}.{method}.run", ranking, method)


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """All numbers of a topic."""
    prepared = outcome.prepared
    return {
        "topic": prepared.topic,
        "rule": prepared.rule,
        "papers": prepared.papers,
        "held_out": {"papers": prepared.held_out, "oldest": prepared.oldest, "newest": prepared.newest},
        "database": asdict(outcome.database),
        "claims": {"all": len(prepared.claims.cases), "answerable": outcome.answerable},
        "depth": DEPTH,
        "choices": {
            choice: {"claims": len(chosen.cases), "methods": [asdict(row) for row in chosen.rows]}
            for choice, chosen in outcome.choices.items()
        },
    }
