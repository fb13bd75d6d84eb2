"""Fit what a citation is for to SciCite and ACL-ARC, for `whycite verify`.

Run: python -m whycite.lab.train.functionweights DATA OUT.json [--dev]

The regularisation is chosen and the bar set by cross-validation inside the training files; sentences that begin alike
are in one fold. With --dev, the fitted weights are also measured on the development files, which nothing is chosen by.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evidence.citationfunctions import (
    FUNCTIONS,
    FunctionWeights,
    LearnedFunction,
    function_features,
    make_function_weights,
)
from whycite.lab.jsonlines import find_file, read_objects, text_of
from whycite.lab.thesis.datasets import claim_of, says_something
from whycite.models import load_encoder
from whycite.models.cache import CachedEncoder

__all__ = [
    "LabelledCitation",
    "cross_validate",
    "drop_bar",
    "fit_functions",
    "load_functions",
    "main",
    "measure_functions",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SCICITE: Mapping[str, LearnedFunction | None] = MappingProxyType(
    {"background": "background", "method": "method", "result": "result"}
)
# Who extends a paper neither just uses it nor claims what it found, so these rows teach nothing.
_ACL_ARC: Mapping[str, LearnedFunction | None] = MappingProxyType(
    {
        "Background": "background",
        "Motivation": "background",
        "Future": "background",
        "CompareOrContrast": "result",
        "Uses": "method",
        "Extends": None,
    }
)
_FILES = MappingProxyType({"sci-cite": _SCICITE, "citation_intent": _ACL_ARC})
_FOLDS = 5
_SAME_BEGINNING = 60  # characters: the data sets repeat sentences, some with another ending
_MAX_DROPPED = 0.02  # share of citations for background or a result that may be taken for methods
_PULLS = (0.003, 0.01, 0.03, 0.1)  # regularisations to choose from, with features scaled to equal size
_STEPS, _RATE = 250, 0.05
_METHOD = FUNCTIONS.index("method")


@dataclass(frozen=True, slots=True)
class LabelledCitation:
    """A citing sentence without markers, and what it cites the paper for."""

    claim: str
    function: LearnedFunction
    dataset: str


def load_functions(folder: Path, part: str) -> list[LabelledCitation]:
    """The examples of a part ("train" or "dev") of both data sets."""
    examples = []
    for dataset, functions in _FILES.items():
        for place, row in read_objects(find_file(folder, f"{dataset}-{part}.jsonl")):
            label = text_of(row, "label", place)
            if label not in functions:
                raise UserError(f"{place}: \"label\" must be one of {', '.join(functions)}, not '{label}'")
            claim = claim_of(text_of(row, "text", place))
            if (function := functions[label]) and says_something(claim):
                examples.append(LabelledCitation(claim, function, dataset))
    return examples


def fit_functions(features: Floats, targets: Integers, pull: float) -> tuple[Floats, Floats]:
    """The weights of a logistic model, a column for each function, and its biases; a constant feature gets none."""
    middle, size = features.mean(0), features.std(0)
    usable = size > 1e-9
    size = np.where(usable, size, 1.0)
    scaled = np.concatenate([np.where(usable, (features - middle) / size, 0.0), np.ones((len(features), 1))], axis=1)
    expected = np.eye(len(FUNCTIONS))[targets]
    pulls = np.full((scaled.shape[1], 1), pull)
    pulls[-1] = 0.0  # the bias is free
    weights = np.zeros((scaled.shape[1], len(FUNCTIONS)))
    momentum, variance = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        gradient = scaled.T @ (_softmax(scaled @ weights) - expected) / len(features) + pulls * weights
        momentum, variance = 0.9 * momentum + 0.1 * gradient, 0.999 * variance + 0.001 * gradient**2
        weights -= _RATE * (momentum / (1 - 0.9**step)) / (np.sqrt(variance / (1 - 0.999**step)) + 1e-8)
    unscaled = np.where(usable[:, None], weights[:-1] / size[:, None], 0.0)
    return unscaled, weights[-1] - middle @ unscaled


def _softmax(logits: Floats) -> Floats:
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def cross_validate(features: Floats, targets: Integers, folds: Integers, pull: float) -> Floats:
    """The chances of each example by a model that was fitted to the other folds."""
    chances = np.zeros((len(features), len(FUNCTIONS)))
    for fold in np.unique(folds):
        tested = folds == fold
        weights, bias = fit_functions(features[~tested], targets[~tested], pull)
        chances[tested] = _softmax(features[tested] @ weights + bias)
    return chances


def drop_bar(chances: Floats, targets: Integers) -> float:
    """The lowest bar at which few enough citations for background or a result count as methods."""
    wrong = np.sort(chances[targets != _METHOD, _METHOD])[::-1]
    return float(np.nextafter(wrong[int(_MAX_DROPPED * len(wrong))], 1.0))


def measure_functions(chances: Floats, targets: Integers, bar: float) -> str:
    """The share of methods that the bar leaves out, of others that it leaves out, and F1 of the best guesses."""
    dropped, best = chances[:, _METHOD] >= bar, chances.argmax(axis=1)
    f1 = [
        2
        * float(np.sum((best == place) & (targets == place)))
        / max(1, int(np.sum(best == place) + np.sum(targets == place)))
        for place in range(len(FUNCTIONS))
    ]
    methods, others = targets == _METHOD, targets != _METHOD
    return (
        f"methods left out {dropped[methods].sum()} of {methods.sum()} ({dropped[methods].mean():.1%}), "
        f"others left out {dropped[others].sum()} of {others.sum()} ({dropped[others].mean():.1%}), "
        f"F1 {', '.join(f'{name} {value:.3f}' for name, value in zip(FUNCTIONS, f1, strict=True))}, "
        f"macro {sum(f1) / len(f1):.3f}"
    )


def main(arguments: Sequence[str], tell: Callable[[str], None] = print) -> None:
    """Fit to the data sets in a folder, write the weights, and report figures."""
    paths = [argument for argument in arguments if argument != "--dev"]
    if len(paths) != 2:
        raise UserError("expected the folder of the datasets and the file to write, and optionally --dev")
    folder, out = Path(paths[0]), Path(paths[1])
    encoder = CachedEncoder(load_encoder())
    examples = load_functions(folder, "train")
    features, targets = function_features([example.claim for example in examples], encoder), _targets(examples)
    folds = np.array([_fold(example.claim) for example in examples])
    best: tuple[float, float, float] | None = None  # methods left out, pull, bar
    for pull in _PULLS:
        chances = cross_validate(features, targets, folds, pull)
        bar = drop_bar(chances, targets)
        tell(f"pull {pull}: bar {bar:.3f}, {measure_functions(chances, targets, bar)}")
        dropped = float((chances[targets == _METHOD, _METHOD] >= bar).mean())
        best = max(best or (0.0, pull, bar), (dropped, pull, bar))
    if best is None:
        raise ValueError("there is no regularisation to choose from")
    _, pull, bar = best
    weights = make_function_weights(*fit_functions(features, targets, pull), bar, encoder.name)
    weights.write(out)
    tell(f"{out}: fitted to {len(examples)} sentences with pull {pull}")
    if "--dev" in arguments:
        _measure_dev(folder, encoder, weights, tell)


def _measure_dev(folder: Path, encoder: CachedEncoder, weights: FunctionWeights, tell: Callable[[str], None]) -> None:
    examples = load_functions(folder, "dev")
    chances = weights.chances(function_features([example.claim for example in examples], encoder))
    targets = _targets(examples)
    for dataset in (*_FILES, "all"):
        rows = np.array([dataset in (example.dataset, "all") for example in examples])
        tell(f"dev, {dataset}: {measure_functions(chances[rows], targets[rows], weights.bar)}")


def _targets(examples: Sequence[LabelledCitation]) -> Integers:
    return np.array([FUNCTIONS.index(example.function) for example in examples])


def _fold(claim: str) -> int:
    digest = blake2b(claim[:_SAME_BEGINNING].lower().encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % _FOLDS


if __name__ == "__main__":
    main(sys.argv[1:])
