"""Other programs that recommend papers, run in the same process on the same claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra
from whycite.lab.evaluate.topics import Watch

if TYPE_CHECKING:
    from whycite.documents import Reference
    from whycite.library import Paper

__all__ = ["INCITE", "rank_by_incite"]

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
