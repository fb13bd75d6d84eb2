"""Evaluation on citing sentences with methods that only know titles and abstracts of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whycite.documents import Document, Reference
from whycite.documents.identity import group_references
from whycite.documents.jsontext import as_list, as_text
from whycite.errors import UserError
from whycite.files import make_folder
from whycite.lab.evaluate.comparison import MethodRow, compare, draw, write_qrels, write_run
from whycite.lab.evaluate.topics import Watch
from whycite.lab.ilciter.experiment import DEPTH, INCITE, Ranking, rank_by_incite, recommend_papers
from whycite.lab.ilciter.workspace import check_setup, default_folder, state_of
from whycite.lab.jsonlines import read_rows
from whycite.models import DEFAULT, Encoder
from whycite.models import load_encoder as load_encoder
from whycite.text.bm25 import VARIANTS, Bm25Index
from whycite.text.tokens import words

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = [
    "ALL_METHODS",
    "METHODS",
    "ContextsOutcome",
    "MaskedContext",
    "MaskedContexts",
    "as_dict",
    "claim_from_masked",
    "fuse_ranks",
    "library_of",
    "load_contexts",
    "run",
    "write",
]


# What a masked sentence still reveals of its citations: the mask, names of other cited authors, numbers, years and
# the brackets around them. Every repetition consumes one character or one fixed form, so all are linear.
_MASK = re.compile(r"\[CIT\]")
_COAUTHORS = re.compile(r"\b[A-Z][\w’'-]{1,40}(?:,? (?:and|&) [A-Z][\w’'-]{1,40})?,? et al\b\.?")
_NUMBERS = re.compile(r"\[\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
_HUSK = re.compile(r"[(\[][\s,;:&.–-]*[)\]]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?)\]])")


@dataclass(frozen=True, slots=True)
class MaskedContext:
    """A citing sentence without its citations, and the papers it cites."""

    id: str
    text: str
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskedContexts:
    """Test sentences and the papers to choose from, with only the first of duplicate papers."""

    papers: tuple[Reference, ...]
    contexts: tuple[MaskedContext, ...]
    all: int  # number of sentences to sample from


def claim_from_masked(masked: str) -> str:
    """Remove everything that reveals the cited papers from a sentence with citations masked as "[CIT]"."""
    for pattern in (_MASK, _NUMBERS, _COAUTHORS, _YEAR, _HUSK):
        masked = pattern.sub(" ", masked)
    return _BEFORE_STOP.sub(r"\1", " ".join(masked.split())).lstrip(" .,;:")


def load_contexts(folder: Path, limit: int, seed: int) -> MaskedContexts:
    """Load papers.jsonl and a sample of contexts.jsonl, each possibly compressed; limit 0 takes all contexts.

    Sentences that are empty without their citations, or cite none of the papers, are left out.
    """
    if limit < 0:
        raise UserError(f"--limit must be at least 0, not {limit}")
    papers = [_paper(data) for data in read_rows(folder, "papers.jsonl")]
    representatives: dict[int, Reference] = {}
    canonical_ids = {
        paper.id: representatives.setdefault(number, paper).id
        for number, paper in zip(group_references(papers), papers, strict=True)
    }
    contexts = [_context(data, canonical_ids) for data in read_rows(folder, "contexts.jsonl")]
    usable = [context for context in contexts if context.truth and any(map(str.isalpha, context.text))]
    if not usable:
        raise UserError(f"{folder}: no sentence in contexts.jsonl cites a paper in papers.jsonl")
    chosen = draw(usable, lambda context: context.id, limit or len(usable), seed)
    return MaskedContexts(tuple(representatives.values()), tuple(chosen), len(usable))


def _paper(data: dict[str, Any]) -> Reference:
    year = data.get("year")
    return Reference(
        id=as_text(data.get("paper_id")),
        title=as_text(data.get("title")),
        authors=tuple(map(as_text, as_list(data.get("authors")))),
        year=year if isinstance(year, int) else None,
        doi=as_text(data.get("doi")),
        abstract=as_text(data.get("abstract")),
    )


def _context(data: dict[str, Any], canonical_ids: dict[str, str]) -> MaskedContext:
    masked = as_text(data.get("text_masked"))
    cited = {canonical_ids[id] for id in map(as_text, as_list(data.get("cited"))) if id in canonical_ids}
    return MaskedContext(as_text(data.get("context_id")), claim_from_masked(masked), tuple(sorted(cited)))


_BM25 = {f"bm25-{name}": name for name in VARIANTS}
METHODS = (*_BM25, "encoder", "fusion", "whycite")
ALL_METHODS = (*METHODS, INCITE)  # inCite needs packages of its own, so it runs only if asked for
AGAINST = (INCITE, "bm25-okapi")
_DAMPING = 60  # of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)


@dataclass(frozen=True, slots=True)
class ContextsOutcome:
    """The methods' recommendations for citing sentences, and their scores."""

    contexts: MaskedContexts
    runs: Mapping[str, Ranking]
    rows: Sequence[MethodRow]


def run(
    folder: Path,
    limit: int,
    methods: Sequence[str],
    seed: int,
    work: Path | None,
    watch: Watch,
    encoder: str = DEFAULT,
) -> ContextsOutcome:
    """Sample citing sentences from a folder and run the methods on them.
    - `bm25-okapi`, `bm25-plus`, `bm25-plus-rank-bm25`: over the words of title and abstract
    - `encoder`: by the cosine between the sentence and title and abstract
    - `fusion`: by the sum of 1 / (60 + rank) in `bm25-okapi` and `encoder`
    - `whycite`: the default method over a library of these papers, without documents that cite them
    - `incite`: the program inCite, if installed
    """
    if unknown := [name for name in methods if name not in ALL_METHODS]:
        raise UserError(f"unknown method '{unknown[0]}'; choose one of: {', '.join(ALL_METHODS)}")
    contexts = load_contexts(folder, limit, seed)
    runs: dict[str, Ranking] = {}
    if any(name in _BM25 or name == "fusion" for name in methods):
        runs |= _rank_by_bm25(contexts, watch)
    if "encoder" in methods or "fusion" in methods:
        runs["encoder"] = _rank_by_encoder(contexts, watch, encoder)
    if "fusion" in methods:
        runs["fusion"] = fuse_ranks(runs["bm25-okapi"], runs["encoder"])
    if "whycite" in methods:
        runs["whycite"] = _rank_by_whycite(
            _prepare_library(folder, contexts.papers, work, watch, encoder), contexts, watch
        )
    if INCITE in methods:
        claims = {context.id: context.text for context in contexts.contexts}
        runs[INCITE] = rank_by_incite({paper.id: paper for paper in contexts.papers}, claims, DEPTH, watch)
    method_runs = {name: runs[name] for name in dict.fromkeys(methods)}
    truth = {context.id: context.truth for context in contexts.contexts}
    return ContextsOutcome(contexts, method_runs, compare(method_runs, truth, AGAINST, seed))


def write(outcome: ContextsOutcome, folder: Path) -> None:
    """Write the true papers and each run to files."""
    make_folder(folder)
    write_qrels(folder / "contexts.qrels", {context.id: context.truth for context in outcome.contexts.contexts})
    for method, ranking in outcome.runs.items():
        write_run(folder / f"contexts.{method}.run", ranking, method)


def as_dict(outcome: ContextsOutcome) -> dict[str, Any]:
    """Results as plain types."""
    contexts = outcome.contexts
    counts = {"asked": len(contexts.contexts), "all": contexts.all}
    methods = [asdict(row) for row in outcome.rows]
    return {"papers": len(contexts.papers), "claims": counts, "depth": DEPTH, "methods": methods}


def library_of(path: Path, name: str, papers: Sequence[Reference], encoder: str | Encoder) -> Library:
    """Build a library of papers that no document cites."""
    from whycite.library import Library, add_documents

    listing = Document(name, "s2orc", Reference("candidates"), references=tuple(papers))
    add_documents(path, [listing], encoder=encoder)
    return Library.open(path)


def _text(paper: Reference) -> str:
    return f"{paper.title}. {paper.abstract}" if paper.abstract else paper.title


def _rank_by_bm25(contexts: MaskedContexts, watch: Watch) -> dict[str, Ranking]:
    index = Bm25Index(words(_text(paper)) for paper in contexts.papers)
    runs: dict[str, Ranking] = {name: {} for name in _BM25}
    for number, context in enumerate(contexts.contexts):
        watch("BM25", number, len(contexts.contexts))
        best = index.best(words(context.text), DEPTH)
        for name, variant in _BM25.items():
            runs[name][context.id] = _score_by_place(contexts.papers[row].id for row in best[variant])
    return runs


def _score_by_place(ids: Iterable[str]) -> list[tuple[str, float]]:
    """Papers in order, with scores that only reflect it."""
    return [(id, 1 / place) for place, id in enumerate(ids, start=1)]


def _rank_by_encoder(contexts: MaskedContexts, watch: Watch, name: str) -> Ranking:
    watch("encoding", 0, None)
    encoder = load_encoder(name)
    papers = encoder.encode([_text(paper) for paper in contexts.papers])
    claims = encoder.encode([context.text for context in contexts.contexts])
    run: Ranking = {}
    for context, claim in zip(contexts.contexts, claims, strict=True):
        # Not a matrix product: its last digits depend on the number of threads.
        cosines = (papers * claim).sum(axis=1)
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        run[context.id] = [(contexts.papers[row].id, float(cosines[row])) for row in best]
    return run


def fuse_ranks(*runs: Ranking) -> Ranking:
    """Reciprocal rank fusion."""
    fused: Ranking = {}
    for id in runs[0]:
        total: dict[str, float] = {}
        for run in runs:
            for place, (paper, _) in enumerate(run[id], start=1):
                total[paper] = total.get(paper, 0) + 1 / (_DAMPING + place)
        fused[id] = sorted(total.items(), key=lambda scored_paper: (-scored_paper[1], scored_paper[0]))[:DEPTH]
    return fused


def _prepare_library(
    folder: Path, papers: Sequence[Reference], work: Path | None, watch: Watch, encoder: str
) -> Library:
    state = state_of([folder], encoder)
    place = make_folder((work or default_folder(state)) / "contexts")
    check_setup(place, state)
    watch("adding papers", 0, None)
    return library_of(place / "library", str(folder), papers, encoder)


def _rank_by_whycite(library: Library, contexts: MaskedContexts, watch: Watch) -> Ranking:
    from whycite.cite.recommendations import Claim, load_method

    recommender = load_method("whycite", library)
    ids = {key: paper.id for key, paper in zip(library.find(contexts.papers), contexts.papers, strict=True)}

    run: Ranking = {}
    for number, context in enumerate(contexts.contexts):
        watch("whycite", number, len(contexts.contexts))
        ranking = recommend_papers(recommender, Claim(context.text))
        run[context.id] = [(ids[key], score) for key, score in ranking if key in ids]
    return run
