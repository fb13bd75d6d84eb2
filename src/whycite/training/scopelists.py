"""SCOPE's lists: a claim as an input variant has it, the paper it cites, and papers that BM25 takes for it (4.4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whycite.candidates.bm25 import LocalBm25
from whycite.candidates.gathering import CitingDocument, Gathered, cited_sets
from whycite.candidates.model import Lessons, Paper, Part
from whycite.candidates.pool import pool_of
from whycite.evaluation.candidatesets import AskedContext, asked_contexts, place_of, split
from whycite.evaluation.drawing import draw
from whycite.evaluation.rerankers import Room
from whycite.rerank.variants import Variant, claim, paper, variant
from whycite.training.lists import RankList

__all__ = ["K", "scope_lists"]

K = 2000  # papers that BM25 finds, of which wrong ones are drawn
_KEPT = 200  # of them that a list holds: each epoch draws other ones of these


def scope_lists(
    gathered: Gathered, wanted: Variant, room: Room, number: int, held_out: int | None, seed: int, kept: int = _KEPT
) -> tuple[list[RankList], list[RankList]]:
    """Lists of the documents to learn from, one a cited paper, and lists of those held out, one a sentence."""
    parts = split(gathered.documents, held_out)
    local = LocalBm25(pool := pool_of(Lessons(cited_sets(parts.learned, "paper"), gathered.papers)))

    def asked(documents: Sequence[CitingDocument], limit: int) -> list[AskedContext]:
        return asked_contexts(documents, pool.place, gathered.papers, seed, limit)

    def made(one: AskedContext, right: Sequence[str]) -> RankList:
        wrong = [key for key in _found(local, one) if key not in one.context.papers]
        wrong = draw(wrong, lambda key: f"{one.id} {key}", kept, seed)
        return _list(wanted, room, one, [gathered.papers[key] for key in (*right, *wrong)], len(right))

    learned = [made(one, [key]) for one in asked(parts.learned, number) for key in sorted(one.truth)]
    return learned, [made(one, sorted(one.truth)) for one in asked(parts.held_out, 500)]


def _found(local: LocalBm25, one: AskedContext) -> Iterator[str]:
    """BM25's papers for sentence, title and abstract, whatever the ranker reads."""
    text = claim(variant("default"), place_of(one))
    part = Part((), one.document.title, (), text, one.document.year)
    return (key for key, _ in local.recommend(part, K))


def _list(wanted: Variant, room: Room, one: AskedContext, papers: Sequence[Paper], right: int) -> RankList:
    texts = tuple(paper(wanted, each.title, each.abstract, each.year) for each in papers)
    read = claim(wanted, place_of(one), room.for_claim(texts), room.cost)
    return RankList("paper", read, texts, frozenset(range(right)))
