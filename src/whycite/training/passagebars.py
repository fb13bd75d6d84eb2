"""How likely backing has to be before it is told (see `passagefitting`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from whycite.encoders import Encoder
from whycite.rerank.ranker import Ranker
from whycite.training.passageexamples import Example, prepare
from whycite.verify.passages import kind_of
from whycite.verify.signs import signs
from whycite.verify.verdict import chances_of
from whycite.verify.weights import KINDS, Weights

__all__ = ["bar_of", "fit_bars"]

_BARS = tuple(at / 100 for at in range(50, 95, 5))  # what is less likely than not is never told
_VERDICTS = ("not found", "backed")
_WRONGLY = 0.05  # share of claims that a paper may be said to back which they do not cite


def fit_bars(
    labelled: Sequence[Example], encoder: Encoder, ranker: Ranker | None, weights: Weights
) -> dict[str, float]:
    """The least chance at which backing is told, by kind of document.

    Of whole papers the least at which hardly a claim is called backed by a paper that it does not cite; of abstracts
    the one at which most labels are right, each data set counting as much as another.
    """
    # Of the ranker, the stance alone.
    unread = {kind: {**steps, "read": {}, "between": {}} for kind, steps in weights.steps.items()}
    ready = {
        kind: prepare(encoder, ranker if kind == "paper" else None, replace(weights, steps=unread)) for kind in KINDS
    }
    found: dict[str, list[tuple[str, str, float]]] = {kind: [] for kind in KINDS}
    for example in labelled:
        case, kind = example.case, kind_of(example.case.sentences)
        prepared = ready[kind](case)
        given = signs(case.claim, prepared, prepared.ranked(case.claim), stance=example.stance)
        if given is not None:
            chances = chances_of(given, kind, weights)
            told = 0.0 if given.otherwise or chances["backed"] < max(chances.values()) else chances["backed"]
            found[kind].append((case.dataset, example.label, told))
    return {kind: bar_of(kind, rows) for kind, rows in found.items() if rows}


def bar_of(kind: str, rows: Sequence[tuple[str, str, float]]) -> float:
    """The bar for a kind of document by data set, label and chance of backing of each case."""

    def wrongly(bar: float) -> float:
        others = [told >= bar for _, label, told in rows if label != "backed"]
        return sum(others) / max(len(others), 1)

    def right(bar: float) -> float:
        names = sorted({name for name, _, _ in rows})
        shares = [[label == _VERDICTS[told >= bar] for own, label, told in rows if own == name] for name in names]
        return fmean(map(fmean, shares))

    if kind == "paper":
        return next((bar for bar in _BARS if wrongly(bar) <= _WRONGLY), _BARS[-1])
    return max(_BARS, key=right)
