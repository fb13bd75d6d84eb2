"""ILCiteR's experiment (section 7) on any topic: the published methods, whycite and its peers on the same claims."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite.errors import MissingExtra, UserError
from whycite.files import make_folder, write_lines
from whycite.lab.evaluate.comparison import MethodRow, compare, write_qrels, write_run
from whycite.lab.evaluate.topics import Watch
from whycite.lab.ilciter import METHODS, DatabaseStatistics, EvidenceDatabase
from whycite.lab.ilciter.workspace import ClaimCase, HeldOutPaper, PreparedTopic, answerable, choose, slug
from whycite.library.tables import identifier
from whycite.models import Encoder

if TYPE_CHECKING:
    from whycite.cite.recommendations import Claim, Method
    from whycite.documents import Reference
    from whycite.library import Library, Paper

__all__ = [
    "AGAINST",
    "ALL_METHODS",
    "DEFAULT_METHODS",
    "DEPTH",
    "INCITE",
    "WHYCITE_METHODS",
    "IlciterOutcome",
    "Ranking",
    "as_dict",
    "check_methods",
    "claim_of",
    "database_of",
    "rank",
    "rank_by_incite",
    "recommend_papers",
    "run",
    "support_of",
    "write",
]

INCITE = "incite"
_EMBEDDER = "minilm-ft-onnx"  # the model in the wheel of incite-app[lite]


def rank_by_incite(
    papers: Mapping[str, Reference | Paper], claims: Mapping[str, str], depth: int, watch: Watch, stage: str = INCITE
) -> dict[str, list[tuple[str, float]]]:
    """The papers that inCite recommends for each claim, as shipped: MiniLM and stemmed BM25, ranks fused.

    inCite knows title, authors, year, journal and abstract of a paper, and leaves out papers without a title.
    """
    try:
        from incite.models import Paper as IncitePaper
        from incite.retrieval import create_retriever
    except ImportError as error:
        raise MissingExtra("Comparison with inCite", "bench") from error

    watch(f"{stage}: encoding papers", 0, None)
    candidates = {
        key: IncitePaper(
            id=key,
            title=paper.title,
            abstract=paper.abstract,
            authors=list(paper.authors),
            year=paper.year,
            journal=paper.venue or None,
        )
        for key, paper in papers.items()
        if paper.title
    }
    retriever = create_retriever([*candidates.values()], "hybrid", embedder_type=_EMBEDDER, show_progress=False)
    run = {}
    for number, (claim, text) in enumerate(claims.items()):
        watch(stage, number, len(claims))
        # As its own `recommend` calls it.
        results = retriever.retrieve(text, k=depth, papers=candidates, author_boost=1.0, deduplicate=True)
        run[claim] = _distinct([(result.paper_id, float(result.score)) for result in results])
    return run


def _distinct(scored: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The papers without repetitions, which measures do not allow."""
    best: dict[str, float] = {}
    for paper, score in scored:
        best.setdefault(paper, score)
    return list(best.items())


DEPTH = 100  # papers per claim
# The default method given the claim alone, like the published ones; also given title, section and paragraph; also
# given the papers cited before the claim and the draft's year, which rules out newer papers.
WHYCITE_METHODS = ("whycite", "whycite+context", "whycite+draft")
DEFAULT_METHODS = (*METHODS, "whycite")
ALL_METHODS = (*METHODS, *WHYCITE_METHODS, INCITE)

Ranking = dict[str, list[tuple[str, float]]]
"""Paper keys and scores for each claim id, best first."""


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Return the unique names; raise an error for an unknown one."""
    if unknown := [name for name in names if name not in ALL_METHODS]:
        raise UserError(f"unknown method '{unknown[0]}'; choose one of: {', '.join(ALL_METHODS)}")
    return tuple(dict.fromkeys(names))


def database_of(library: Library) -> EvidenceDatabase:
    """ILCiteR's database of a library, sorted so that it does not depend on the order papers were added in."""
    return EvidenceDatabase.from_occurrences(
        sorted(library.occurrences(), key=lambda occurrence: (occurrence[0], occurrence[1], occurrence[2] or 0))
    )


def support_of(database: EvidenceDatabase) -> dict[str, int]:
    """Total citations of each paper over all spans."""
    total: Counter[int] = Counter()
    for pairs in database.cited:
        for paper, support in pairs:
            total[paper] += support
    return {database.papers[paper][0]: support for paper, support in total.items()}


@dataclass(frozen=True, slots=True)
class _RankingJob:
    cases: Sequence[ClaimCase]
    sources: Sequence[HeldOutPaper]
    watch: Watch
    stage: str


def rank(
    library: Library,
    database: EvidenceDatabase,
    sources: Sequence[HeldOutPaper],
    cases: Sequence[ClaimCase],
    methods: Sequence[str],
    watch: Watch,
    stage: str = "ranking",
) -> Mapping[str, Ranking]:
    """Rank papers for each claim with each method."""
    from whycite.library.encoding import encoder_of

    job = _RankingJob(cases, sources, watch, stage)
    runs: dict[str, Ranking] = {}
    if published := [name for name in methods if name in METHODS]:
        runs |= _rank_published(database, job, published, encoder_of(library.encoder, library.path))
    runs |= {name: _rank_whycite(library, job, name) for name in methods if name in WHYCITE_METHODS}
    if INCITE in methods:
        runs[INCITE] = _rank_incite(library, database, job)
    return {name: runs[name] for name in methods}


def _rank_published(
    database: EvidenceDatabase, job: _RankingJob, names: Sequence[str], encoder: Encoder
) -> dict[str, Ranking]:
    from whycite.lab.ilciter import IlciterMethods

    methods = IlciterMethods(database, encoder.encode)
    runs: dict[str, Ranking] = {name: {} for name in names}
    for number, case in enumerate(job.cases):
        job.watch(f"{job.stage}, published methods", number, len(job.cases))
        for name, ranked in methods.rank_all(case.text, names).items():
            runs[name][case.id] = [
                (database.papers[scored_paper.paper][0], scored_paper.score) for scored_paper in ranked[:DEPTH]
            ]
    return runs


def _rank_whycite(library: Library, job: _RankingJob, name: str) -> Ranking:
    from whycite.cite.recommendations import load_method

    recommender = load_method(WHYCITE_METHODS[0], library)
    run: Ranking = {}
    for number, case in enumerate(job.cases):
        job.watch(f"{job.stage}, {name}", number, len(job.cases))
        run[case.id] = recommend_papers(recommender, claim_of(case, job.sources[case.source], name))
    return run


def _rank_incite(library: Library, database: EvidenceDatabase, job: _RankingJob) -> Ranking:
    """inCite knows the cited papers by title, abstract and so on, and nothing that is said about them."""
    papers = library.papers([identifier(key) for key, _ in database.papers])
    claims = {case.id: case.text for case in job.cases}
    return rank_by_incite(
        {paper.key: paper for paper in papers.values()}, claims, DEPTH, job.watch, f"{job.stage}, {INCITE}"
    )


def recommend_papers(method: Method, claim: Claim) -> list[tuple[str, float]]:
    """Recommended papers with scores made non-increasing, since papers a method ties may differ slightly."""
    recommendations = method.recommend(claim, n=DEPTH)
    scores = accumulate((recommendation.score for recommendation in recommendations), min)
    return [(recommendation.paper.key, score) for recommendation, score in zip(recommendations, scores, strict=True)]


def claim_of(case: ClaimCase, source: HeldOutPaper, name: str) -> Claim:
    """The claim as given to one of our methods."""
    from whycite.cite.recommendations import Claim

    if "+" not in name:
        return Claim(case.text)
    paragraph = source.paragraphs[case.paragraph]
    if name == "whycite+context":
        return Claim(case.text, source.title, case.section_type, paragraph)
    return Claim(case.text, source.title, case.section_type, paragraph, source.cited[: case.earlier], source.year)


AGAINST = ("ilciter", "bm25-okapi", INCITE)  # baselines for every method


@dataclass(frozen=True, slots=True)
class ChoiceOutcome:
    """Claims of one choice, each method's recommendations and their scores."""

    cases: Sequence[ClaimCase]
    runs: Mapping[str, Ranking]
    rows: Sequence[MethodRow]


@dataclass(frozen=True, slots=True)
class IlciterOutcome:
    """Results on one topic."""

    prepared: PreparedTopic
    database: DatabaseStatistics
    answerable: int  # claims with a true paper in the database
    choices: Mapping[str, ChoiceOutcome]


def run(
    prepared: PreparedTopic, choices: Sequence[str], claims: int, methods: Sequence[str], seed: int, watch: Watch
) -> IlciterOutcome:
    """Choose claims of a topic and compare the methods on them."""
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
    drawn_cases = list({case.id: case for cases in drawn.values() for case in cases}.values())
    runs = rank(library, database, prepared.claims.sources, drawn_cases, methods, watch, prepared.topic)
    outcomes = {choice: _choice_outcome(cases, runs, seed) for choice, cases in drawn.items()}
    return IlciterOutcome(prepared, database.statistics(), len(fitting), outcomes)


def _choice_outcome(cases: Sequence[ClaimCase], runs: Mapping[str, Ranking], seed: int) -> ChoiceOutcome:
    choice_runs = {name: {case.id: ranking[case.id] for case in cases} for name, ranking in runs.items()}
    truth = {case.id: case.truth for case in cases}
    return ChoiceOutcome(cases, choice_runs, compare(choice_runs, truth, AGAINST, seed))


def write(outcome: IlciterOutcome, folder: Path) -> None:
    """Write the claims, the true papers and each run to files."""
    make_folder(folder)
    for choice, chosen in outcome.choices.items():
        stem = f"{slug(outcome.prepared.topic)}.{choice}"
        claims = (json.dumps({"id": case.id, "text": case.text}) + "\n" for case in chosen.cases)
        write_lines(folder / f"{stem}.claims.jsonl", claims)
        write_qrels(folder / f"{stem}.qrels", {case.id: case.truth for case in chosen.cases})
        for method, ranking in chosen.runs.items():
            write_run(folder / f"{stem}.{method}.run", ranking, method)


def as_dict(outcome: IlciterOutcome) -> dict[str, Any]:
    """Results of a topic as plain types."""
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
