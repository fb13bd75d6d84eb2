"""How many of the papers that are taken out of sets recommenders find again (SCOPE 5.3, tables 4, 5, 7 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whycite.candidates.gathering import By, Gathered, cited_sets
from whycite.candidates.model import Lessons, Part, Recommender
from whycite.candidates.pool import pool_of
from whycite.candidates.registry import recommender, recommenders
from whycite.errors import UserError
from whycite.evaluation.candidatesets import ALIKE, Split, asked_contexts, asked_sets, check_share, part_of, split
from whycite.evaluation.corpus import Watch

__all__ = ["BASELINES", "DROPS", "METHODS", "Mean", "Measured", "Outcome", "Setting", "as_dict", "run"]

AUTOENCODERS = ("aae-none", "aae-title", "aae-section-title", "aae-section")
BASELINES = ("random", "accumulated-bm25", "most-popular", "co-occurrence")
LOCAL = ("local-bm25",)  # looks for each sentence anew, so that only sentences are asked
METHODS = (*AUTOENCODERS, *BASELINES, *LOCAL)
DROPS = (0.2, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be measured."""

    methods: tuple[str, ...] = METHODS
    by: tuple[By, ...] = ("paper", "section")
    drops: tuple[float, ...] = DROPS
    k: int = 2000
    floor: int = 1
    epochs: int = 20
    held_out: int | None = None
    by_lot: bool = False
    again: bool = False  # also with the older half of what is held out to learn from (SCOPE C.2)
    limit: int = 1000
    seed: int = 0
    encoder: str | None = None
    word_vectors: Path | None = None

    def check(self) -> None:
        """Say at once, not after the data is read, that something cannot be measured."""
        there = recommenders()
        if unknown := [name for name in self.methods if name not in there]:
            raise UserError(f"no recommender of candidates '{unknown[0]}'; there are: {', '.join(there)}")
        for drop in self.drops:
            check_share(drop)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over what was asked, with the standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What a recommender finds with the share `drop` taken out; of sentences None where it does not count."""

    method: str
    by: By
    drop: float | None
    asked: int
    mrr: Mean
    recall: Mean  # at k


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned from, and of the citations of documents held out the share whose papers are known."""

    by: By
    sets: int
    papers: int
    known: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """All figures: sets (tables 4 and 5), sentences (table 7), sets of the later split (table 11)."""

    setting: Setting
    documents: int
    held_out: int
    oldest: str  # of those held out
    newest: str
    learned: tuple[Learned, ...]
    sets: tuple[Measured, ...]
    contexts: tuple[Measured, ...]
    later: tuple[Measured, ...] = ()


Keep = Callable[[Recommender, By], None]
"""Told each recommender that was made, and by what its sets were."""


def run(gathered: Gathered, setting: Setting, watch: Watch, keep: Keep | None = None) -> Outcome:
    """Make every recommender from the documents that are not held out, and ask it."""
    setting.check()
    parts = split(gathered.documents, setting.held_out, setting.by_lot, setting.seed)
    learned: list[Learned] = []
    sets: list[Measured] = []
    contexts: list[Measured] = []
    later: list[Measured] = []
    for by in setting.by:
        experiment = _Experiment(gathered, parts, setting, by, watch)
        learned.append(experiment.learned())
        for name in setting.methods:
            made = experiment.make(name)
            if keep:
                keep(made, by)
            if name not in LOCAL:
                sets += experiment.ask_sets(made)
            contexts += experiment.ask_contexts(made)
        if setting.again:
            half = len(parts.held_out) // 2
            if not half:
                raise UserError("of one document that is held out none can be learned from: hold out more")
            moved = Split((*parts.learned, *parts.held_out[:half]), parts.held_out[half:])
            experiment = _Experiment(gathered, moved, setting, by, watch)
            for name in (name for name in setting.methods if name in AUTOENCODERS):
                later += experiment.ask_sets(experiment.make(name))
    dates = sorted(each.date for each in parts.held_out)
    return Outcome(
        setting,
        len(gathered.documents),
        len(parts.held_out),
        dates[0],
        dates[-1],
        tuple(learned),
        tuple(sets),
        tuple(contexts),
        tuple(later),
    )


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """All numbers."""
    found = asdict(outcome)
    found["setting"]["word_vectors"] = str(outcome.setting.word_vectors or "")
    return found


class _Experiment:
    """One split and one kind of sets."""

    def __init__(self, gathered: Gathered, parts: Split, setting: Setting, by: By, watch: Watch) -> None:
        self._papers, self._parts, self._setting, self._by, self._watch = gathered.papers, parts, setting, by, watch
        self._lessons = Lessons(
            cited_sets(parts.learned, by),
            gathered.papers,
            setting.floor,
            setting.seed,
            setting.epochs,
            setting.encoder,
            setting.word_vectors,
        )
        self._known = pool_of(self._lessons).place
        self._asked = cited_sets(parts.held_out, by)
        if not any(sum(key in self._known for key in each.papers) > 1 for each in self._asked):
            raise UserError("no set that is held out has two papers that are known: give more data, or lower the floor")

    def learned(self) -> Learned:
        cited = [key for each in self._asked for key in each.papers]
        share = sum(key in self._known for key in cited) / len(cited)
        return Learned(self._by, len(self._lessons.sets), len(self._known), share)

    def make(self, name: str) -> Recommender:
        self._watch(f"learning {name}, by {self._by}", 0, None)
        return recommender(name, self._lessons)

    def ask_sets(self, made: Recommender) -> list[Measured]:
        setting = self._setting
        found = []
        for drop in setting.drops:
            asked = asked_sets(self._asked, self._known, self._papers, drop, setting.seed, setting.limit)
            pairs = [(each.part, each.missing) for each in asked]
            found.append(self._measured(made, drop, pairs, f"{drop:g} taken out"))
        return found

    def ask_contexts(self, made: Recommender) -> list[Measured]:
        """Each sentence asked for itself: the section, or the draft, is known without it."""
        setting, papers = self._setting, self._papers
        asked = asked_contexts(self._parts.held_out, self._known, papers, setting.seed, setting.limit)
        drops: Sequence[float | None] = (None,) if made.name in ALIKE else setting.drops
        found = []
        for drop in drops:
            pairs = [(part_of(each, self._known, papers, drop, setting.seed, self._by), each.truth) for each in asked]
            found.append(self._measured(made, drop, pairs, "sentences"))
        return found

    def _measured(
        self, made: Recommender, drop: float | None, asked: Sequence[tuple[Part, frozenset[str]]], stage: str
    ) -> Measured:
        ranks, recalls = [], []
        for number, (part, truth) in enumerate(asked):
            self._watch(f"{made.name}, by {self._by}, {stage}", number, len(asked))
            found = [key for key, _ in made.recommend(part, self._setting.k)]
            ranks.append(next((1 / rank for rank, key in enumerate(found, start=1) if key in truth), 0.0))
            recalls.append(len(truth.intersection(found)) / len(truth))
        return Measured(made.name, self._by, drop, len(asked), _mean(ranks), _mean(recalls))


def _mean(values: Sequence[float]) -> Mean:
    if not values:
        return Mean(0.0, 0.0)
    return Mean(float(np.mean(values)), float(np.std(values)))
