"""Methods that know of a paper its title and abstract alone, side by side on citing sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whycite.documents import Document, Reference
from whycite.encoders import DEFAULT, Encoder
from whycite.encoders import load as load_encoder
from whycite.errors import UserError
from whycite.evaluation.comparison import Row, compare
from whycite.evaluation.contexts import Contexts, load
from whycite.evaluation.corpus import Watch
from whycite.evaluation.ranking import DEPTH, Ranking, recommended
from whycite.evaluation.trec import write_qrels, write_run
from whycite.evaluation.workspace import default_folder, same_setup, state_of
from whycite.files import make_folder
from whycite.recommend.ilciter.bm25 import VARIANTS, Index
from whycite.text.tokens import words

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["METHODS", "Found", "as_dict", "library_of", "run", "write"]

_BM25 = {f"bm25-{name}": name for name in VARIANTS}
METHODS = (*_BM25, "encoder", "fusion", "whycite")
AGAINST = ("bm25-okapi",)
_DAMPING = 60  # of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)


@dataclass(frozen=True, slots=True)
class Found:
    """What the methods recommended for citing sentences, and what that is worth."""

    contexts: Contexts
    runs: Mapping[str, Ranking]
    rows: Sequence[Row]


def run(
    folder: Path,
    limit: int,
    methods: Sequence[str],
    seed: int,
    work: Path | None,
    watch: Watch,
    encoder: str = DEFAULT,
) -> Found:
    """Draw citing sentences of a folder and put them to the methods.

    - `bm25-okapi`, `bm25-plus`, `bm25-plus-rank-bm25`: over the words of title and abstract
    - `encoder`: by the cosine of vectors of sentence, and title and abstract
    - `fusion`: by the sum of 1 / (60 + rank) in `bm25-okapi` and `encoder`
    - `whycite`: the default method over a library of these papers, which no document in it cites
    """
    if unknown := [name for name in methods if name not in METHODS]:
        raise UserError(f"no method '{unknown[0]}'; there are: {', '.join(METHODS)}")
    contexts = load(folder, limit, seed)
    runs: dict[str, Ranking] = {}
    if any(name in _BM25 or name == "fusion" for name in methods):
        runs |= _lexical(contexts, watch)
    if "encoder" in methods or "fusion" in methods:
        runs["encoder"] = _encoder(contexts, watch, encoder)
    if "fusion" in methods:
        runs["fusion"] = _fused(runs["bm25-okapi"], runs["encoder"])
    if "whycite" in methods:
        runs["whycite"] = _whycite(_library(folder, contexts.papers, work, watch, encoder), contexts, watch)
    asked = {name: runs[name] for name in dict.fromkeys(methods)}
    truth = {context.id: context.truth for context in contexts.contexts}
    return Found(contexts, asked, compare(asked, truth, AGAINST, seed))


def write(found: Found, folder: Path) -> None:
    """Put down the true papers and every run, each in a file."""
    make_folder(folder)
    write_qrels(folder / "contexts.qrels", {context.id: context.truth for context in found.contexts.contexts})
    for method, ranking in found.runs.items():
        write_run(folder / f"contexts.{method}.run", ranking, method)


def as_dict(found: Found) -> dict[str, Any]:
    """All numbers."""
    contexts = found.contexts
    counts = {"asked": len(contexts.contexts), "all": contexts.all}
    methods = [asdict(row) for row in found.rows]
    return {"papers": len(contexts.papers), "claims": counts, "depth": DEPTH, "methods": methods}


def library_of(place: Path, name: str, papers: Sequence[Reference], encoder: str | Encoder) -> Library:
    """A library of papers under a name, none of which a document cites."""
    from whycite.library import Library, add_documents

    listing = Document(name, "s2orc", Reference("candidates"), references=tuple(papers))
    add_documents(place, [listing], encoder=encoder)
    return Library.open(place)


def _text(paper: Reference) -> str:
    return f"{paper.title}. {paper.abstract}" if paper.abstract else paper.title


def _lexical(contexts: Contexts, watch: Watch) -> dict[str, Ranking]:
    index = Index(words(_text(paper)) for paper in contexts.papers)
    runs: dict[str, Ranking] = {name: {} for name in _BM25}
    for number, context in enumerate(contexts.contexts):
        watch("BM25", number, len(contexts.contexts))
        best = index.best(words(context.text), DEPTH)
        for name, variant in _BM25.items():
            runs[name][context.id] = _placed(contexts.papers[at].id for at in best[variant])
    return runs


def _placed(ids: Iterable[str]) -> list[tuple[str, float]]:
    """Papers in order, with scores that say the order and nothing else."""
    return [(id, 1 / place) for place, id in enumerate(ids, start=1)]


def _encoder(contexts: Contexts, watch: Watch, name: str) -> Ranking:
    watch("encoding", 0, None)
    encoder = load_encoder(name)
    papers = encoder.encode([_text(paper) for paper in contexts.papers])
    claims = encoder.encode([context.text for context in contexts.contexts])
    run: Ranking = {}
    for context, claim in zip(contexts.contexts, claims, strict=True):
        # Not a matrix product: its last digits depend on the number of threads.
        cosines = (papers * claim).sum(axis=1)
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        run[context.id] = [(contexts.papers[at].id, float(cosines[at])) for at in best]
    return run


def _fused(*runs: Ranking) -> Ranking:
    fused: Ranking = {}
    for id in runs[0]:
        total: dict[str, float] = {}
        for run in runs:
            for place, (paper, _) in enumerate(run[id], start=1):
                total[paper] = total.get(paper, 0) + 1 / (_DAMPING + place)
        fused[id] = sorted(total.items(), key=lambda found: (-found[1], found[0]))[:DEPTH]
    return fused


def _library(folder: Path, papers: Sequence[Reference], work: Path | None, watch: Watch, encoder: str) -> Library:
    state = state_of([folder], encoder)
    place = make_folder((work or default_folder(state)) / "contexts")
    same_setup(place, state)
    watch("adding papers", 0, None)
    return library_of(place / "library", str(folder), papers, encoder)


def _whycite(library: Library, contexts: Contexts, watch: Watch) -> Ranking:
    from whycite.recommend import Claim, method

    recommender = method("whycite", library)
    ids = {key: paper.id for key, paper in zip(library.find(contexts.papers), contexts.papers, strict=True)}

    run: Ranking = {}
    for number, context in enumerate(contexts.contexts):
        watch("whycite", number, len(contexts.contexts))
        found = recommended(recommender, Claim(context.text))
        run[context.id] = [(ids[key], score) for key, score in found if key in ids]
    return run
