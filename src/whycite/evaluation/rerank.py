"""Rerankers side by side on sentences that cite, over an oracle's candidates and over real ones (SCOPE 5.4, 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whycite.candidates.bm25 import LocalBm25
from whycite.candidates.gathering import By, Gathered, cited_sets
from whycite.candidates.model import Lessons, Part, Recommender
from whycite.candidates.pool import pool_of
from whycite.candidates.registry import recommender, recommenders
from whycite.errors import UserError
from whycite.evaluation.candidatesets import ALIKE, AskedContext, asked_contexts, check_share, part_of, place_of, split
from whycite.evaluation.corpus import Watch
from whycite.evaluation.rerankers import Reranker
from whycite.rerank.variants import claim, variant

__all__ = ["DROPS", "PREFETCH", "Figure", "Measured", "Outcome", "Setting", "as_dict", "run"]

DROPS = (0.2, 0.5, 0.8)
PREFETCH = ("aae-section-title", "co-occurrence", "most-popular", "local-bm25")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be measured."""

    prefetch: tuple[str, ...] = PREFETCH
    drops: tuple[float, ...] = DROPS
    by: By = "section"
    k: int = 100  # candidates a sentence; SCOPE has 2,000
    floor: int = 1
    epochs: int = 20
    held_out: int | None = None
    limit: int = 200
    seed: int = 0
    encoder: str | None = None
    word_vectors: Path | None = None

    def check(self) -> None:
        """Say at once, not after the data is read, that something cannot be measured."""
        there = recommenders()
        if unknown := [name for name in self.prefetch if name not in there]:
            raise UserError(f"no recommender of candidates '{unknown[0]}'; there are: {', '.join(there)}")
        for drop in self.drops:
            check_share(drop)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over sentences, with its standard error."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What a reranker makes of the candidates of a prefetcher; `drop` where that one hangs on it."""

    prefetch: str  # "oracle" or a recommender
    drop: float | None
    reranker: str
    mrr: Figure
    recall: dict[int, Figure]  # at k; the share of the true papers
    found: Figure  # the share of the true papers that are among the candidates


@dataclass(frozen=True, slots=True)
class Outcome:
    """All figures; those over the oracle's candidates are kept apart from those over real ones."""

    setting: Setting
    documents: int
    held_out: int
    papers: int
    contexts: int
    oracle: tuple[Measured, ...]  # tables 6 and 9
    real: tuple[Measured, ...]  # table 7


_AT = (5, 10)


def run(
    gathered: Gathered, setting: Setting, oracle: Sequence[Reranker], real: Sequence[Reranker], watch: Watch
) -> Outcome:
    """Ask the rerankers: all of `oracle` with the true papers among the candidates, those of `real` as it is found."""
    setting.check()
    parts = split(gathered.documents, setting.held_out, seed=setting.seed)
    lessons = Lessons(
        cited_sets(parts.learned, setting.by),
        gathered.papers,
        setting.floor,
        setting.seed,
        setting.epochs,
        setting.encoder,
        setting.word_vectors,
    )
    known = pool_of(lessons).place
    asked = asked_contexts(parts.held_out, known, gathered.papers, setting.seed, setting.limit)
    if not asked:
        raise UserError("no sentence that is held out cites a paper that is known: give more data, or lower the floor")
    work = _Work(gathered, lessons, asked, setting, watch)
    first = [work.oracle(each) for each in asked]
    found = [work.measured("oracle", None, reranker, first) for reranker in oracle]
    rest: list[Measured] = []
    for name in setting.prefetch if real else ():
        watch(f"learning {name}", 0, None)
        made = recommender(name, lessons)
        drops: Sequence[float | None] = (None,) if name in ALIKE else setting.drops
        for drop in drops:
            pools = [work.prefetched(made, each, drop) for each in asked]
            rest += [work.measured(name, drop, reranker, pools) for reranker in real]
    return Outcome(
        setting, len(gathered.documents), len(parts.held_out), len(known), len(asked), tuple(found), tuple(rest)
    )


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """All numbers."""
    found = asdict(outcome)
    found["setting"]["word_vectors"] = str(outcome.setting.word_vectors or "")
    return found


class _Work:
    """The sentences that are asked, and all that is known around them."""

    def __init__(
        self,
        gathered: Gathered,
        lessons: Lessons,
        asked: Sequence[AskedContext],
        setting: Setting,
        watch: Watch,
    ) -> None:
        self._papers, self._asked, self._setting, self._watch = gathered.papers, asked, setting, watch
        self._pool = pool_of(lessons)
        self._local = LocalBm25(self._pool)

    def oracle(self, asked: AskedContext) -> list[str]:
        """BM25's candidates for sentence, title and abstract, the true papers among them (SCOPE 4.4.4)."""
        text = claim(variant("default"), place_of(asked))
        part = Part((), asked.document.title, (), text, asked.document.year)
        found = [key for key, _ in self._local.recommend(part, self._setting.k) if key not in asked.truth]
        return [*sorted(asked.truth), *found][: max(self._setting.k, len(asked.truth))]

    def prefetched(self, made: Recommender, asked: AskedContext, drop: float | None) -> list[str]:
        """A recommender's candidates for the section, or the draft, without the sentence."""
        setting = self._setting
        part = part_of(asked, self._pool.place, self._papers, drop, setting.seed, setting.by)
        return [key for key, _ in made.recommend(part, setting.k)]

    def measured(
        self, prefetch: str, drop: float | None, reranker: Reranker, pools: Sequence[Sequence[str]]
    ) -> Measured:
        """Every sentence's candidates in the reranker's order; of equal ones by key, not as they were found."""
        ranks, found = [], []
        recalls: dict[int, list[float]] = {at: [] for at in _AT}
        for number, (asked, keys) in enumerate(zip(self._asked, pools, strict=True)):
            self._watch(f"{prefetch}, {reranker.name}", number, len(self._asked))
            keys = sorted(keys)
            scores = reranker.score(place_of(asked), [self._papers[key] for key in keys])
            order = [keys[at] for at in np.argsort(-np.asarray(scores), kind="stable")]
            ranks.append(next((1 / rank for rank, key in enumerate(order, start=1) if key in asked.truth), 0.0))
            found.append(len(asked.truth.intersection(keys)) / len(asked.truth))
            for at in _AT:
                recalls[at].append(len(asked.truth.intersection(order[:at])) / len(asked.truth))
        recall = {at: _figure(values) for at, values in recalls.items()}
        return Measured(prefetch, drop, reranker.name, _figure(ranks), recall, _figure(found))


def _figure(values: Sequence[float]) -> Figure:
    return Figure(float(np.mean(values)), float(np.std(values) / np.sqrt(len(values))))
