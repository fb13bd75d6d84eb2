"""What each feature counts: of a sentence as backing for a claim, and of the best sentences for the verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.verify.features import BETWEEN, MEANING, READ, WORDS

__all__ = ["CLASSES", "KINDS", "STEPS", "Weights", "load", "shipped"]

Floats = NDArray[np.float64]

STEPS: Mapping[str, tuple[str, ...]] = {
    "words": WORDS,
    "meaning": (*WORDS, *MEANING),
    # What the step before says, so that a few cases are enough to fit to.
    "read": ("meaning", *READ),
    "between": ("read", *BETWEEN),
}
KINDS = ("paper", "abstract")  # what a document is: sentences of whole papers are told apart by other signs
CLASSES = ("backed", "contradicted", "not found")


@dataclass(frozen=True, slots=True)
class Weights:
    """By kind of document and step a weight for each feature; by kind and verdict one for each sign.

    What "stance" holds tells backing from contradiction, where that of the ranker is known. Fitted by
    `whycite.training.passagefitting`; what is not named counts nothing.
    """

    steps: Mapping[str, Mapping[str, Mapping[str, float]]]
    verdicts: Mapping[str, Mapping[str, Mapping[str, float]]]
    ranker: str = ""  # the one whose stances "stance" was fitted to; of another they may mean something else
    bars: Mapping[str, float] = field(default_factory=dict)  # by kind: the least chance at which backing is told

    def logits(self, kind: str, step: str, table: Floats) -> Floats:
        """How likely each sentence backs the claim, as logits."""
        known = self.steps[kind][step]
        columns = np.array([known.get(name, 0.0) for name in STEPS[step]])
        return np.asarray(table @ columns + known.get("bias", 0.0))

    def chances(self, kind: str, signs: Mapping[str, float]) -> dict[str, float]:
        """The probability of each verdict that the kind tells apart, by its signs."""
        found = {
            name: known.get("bias", 0.0) + sum(known.get(sign, 0.0) * value for sign, value in signs.items())
            for name, known in self.verdicts[kind].items()
        }
        shifted = np.exp(np.array(list(found.values())) - max(found.values()))
        return dict(zip(found, (shifted / shifted.sum()).tolist(), strict=True))

    def write(self, path: Path) -> None:
        """Keep them in a file."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


@cache
def shipped() -> Weights:
    """The weights that come with whycite."""
    return _weights(files("whycite.verify").joinpath("weights.json").read_text("utf-8"), "weights.json")


def load(path: Path) -> Weights:
    """The weights in a file."""
    try:
        return _weights(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _weights(text: str, path: str) -> Weights:
    try:
        held = json.loads(text)
        steps = {kind: {step: _numbers(held["steps"][kind][step]) for step in STEPS} for kind in KINDS}
        verdicts = {
            kind: {name: _numbers(signs) for name, signs in classes.items()}
            for kind, classes in held["verdicts"].items()
        }
        bars = _numbers(held.get("bars", {}))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} holds no weights ({error}): fit them again") from error
    return Weights(steps, verdicts, str(held.get("ranker", "")), bars)


def _numbers(held: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in held.items()}
