"""From data sets to a trained model in a folder, and to one for each fold of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from typing import Any

from whycite.documents.jsontext import as_dict
from whycite.evaluation.passages.comparisons import Comparison, Kind, compare, right
from whycite.evaluation.passages.experiment import Fit
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.scoring import Scorer
from whycite.evaluation.passages.splitting import Parts
from whycite.training.passages.fitting import train
from whycite.training.passages.recipe import Recipe
from whycite.training.passages.scoring import PassageModel
from whycite.training.passages.storing import config_of, load, save
from whycite.training.passages.vectors import Lexicon

__all__ = ["Maker", "accuracy", "fits"]

Tell = Callable[[str], None]


class Maker:
    """Makes models with the same words out of pairs made in the same way."""

    def __init__(
        self, lexicon: Lexicon, similarity: Scorer, kind: Kind = "augmented", tell: Tell = lambda _: None
    ) -> None:
        self._lexicon, self._similarity, self._kind, self._tell = lexicon, similarity, kind, tell

    def make(self, parts: Parts, recipe: Recipe, folder: Path | None = None) -> PassageModel:
        """Train on the parts; where the folder holds what the same would give, that is taken, else it is kept there."""
        data = {
            "pairs": self._kind,
            "cases": f"{len(parts.train)} to learn from, {len(parts.dev)} held out, {len(parts.test)} to test",
            "data": _digest([*parts.train, *parts.dev]),
        }
        if folder is not None and _same(config_of(folder), recipe, self._lexicon, data):
            return load(folder, self._lexicon)
        learnt, held = self._pairs(parts.train, recipe.seed), self._pairs(parts.dev, recipe.seed)
        trained = train(learnt, held, self._lexicon, recipe, self._tell)
        if folder is not None:
            tested = self._pairs(parts.test, recipe.seed)
            figures = {"dev": trained.accuracy} | ({"test": accuracy(tested, trained.model)} if tested else {})
            save(folder, trained.model, data, trained.measured, figures)
        return trained.model

    def _pairs(self, cases: Sequence[Case], seed: int) -> list[Comparison]:
        return compare(cases, self._similarity, self._kind, seed)


def fits(maker: Maker, recipe: Recipe, work: Path | None) -> Fit:
    """Training for each fold of an evaluation; models are kept in `work`, and taken from there the next time."""
    return lambda parts, fold: maker.make(parts, recipe, work and work / f"fold-{fold + 1}" / recipe.model)


def accuracy(compared: Sequence[Comparison], scorer: Scorer) -> float:
    """The share of pairs that are right."""
    scores = {case: scorer(case.claim, case.sentences) for case in dict.fromkeys(each.case for each in compared)}
    return fmean(right(each, scores[each.case]) for each in compared)


def _same(config: Mapping[str, Any] | None, recipe: Recipe, lexicon: Lexicon, data: Mapping[str, str]) -> bool:
    """Whether a kept model is what would be trained."""
    wanted = {"recipe": asdict(recipe), "data": dict(data)}
    return config is not None and (
        {name: config.get(name) for name in wanted} == wanted
        and as_dict(config.get("words")).get("version") == lexicon.version
    )


def _digest(cases: Sequence[Case]) -> str:
    found = blake2b(digest_size=8)
    for case in cases:
        found.update("\0".join([case.claim, *case.sentences, *map(str, sorted(case.gold))]).encode("utf-8", "replace"))
    return found.hexdigest()
