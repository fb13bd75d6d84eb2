"""Worthiness baselines (SCOPE 4.3.2): chance, share of worthy sentences, regression on words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whycite.errors import MissingExtra, UserError

__all__ = ["Prior", "Regression", "chance", "class_weighted", "draws", "fit_regression"]


Types = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Prior:
    """How often a sentence is called worthy, in general and by section type."""

    general: float
    by_type: Mapping[str | None, float]

    def probabilities(self, types: Types) -> NDArray[np.float64]:
        """Probabilities for sentences in sections of these types."""
        return np.array([self.by_type.get(type, self.general) for type in types], np.float64)


def chance() -> Prior:
    """A prior that calls half of all sentences worthy."""
    return Prior(0.5, {})


def class_weighted(labels: Iterable[tuple[str | None, bool]], by_section: bool = False) -> Prior:
    """A prior from the share of worthy sentences, optionally by section type; labels are (type, worthy)."""
    seen: Counter[str | None] = Counter()
    worthy: Counter[str | None] = Counter()
    for type, label in labels:
        seen[type] += 1
        worthy[type] += label
    if not seen:
        raise UserError("no sentences to estimate the share of worthy ones from")
    shares = {type: worthy[type] / number for type, number in seen.items()} if by_section else {}
    return Prior(worthy.total() / seen.total(), shares)


def draws(prior: Prior, types: Types, seed: int) -> NDArray[np.bool_]:
    """Decide each sentence at random: SCOPE's baselines sample instead of using a threshold."""
    return np.random.default_rng(seed).random(len(types)) < prior.probabilities(types)


_SLOTS = 1 << 18  # features are hashed into them
_WORD = re.compile(r"\w+|[^\w\s]")
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Regression:
    """Logistic regression: feature weights with the intercept last, and the rarity that scales each feature."""

    weights: NDArray[np.float64]
    rarity: NDArray[np.float64]

    def probabilities(self, texts: Sequence[str], types: Sequence[str | None]) -> NDArray[np.float64]:
        """Probability that each sentence, in a section of that type, is worthy."""
        return _sigmoid(_matrix(texts, types, self.rarity) @ self.weights[:-1] + self.weights[-1])


def fit_regression(
    texts: Sequence[str], types: Sequence[str | None], worthy: Sequence[bool], penalty: float = 1.0
) -> Regression:
    """Fit to sentences; `penalty` weighs half the squared weights relative to the loss of one sentence."""
    if not texts:
        raise UserError("no sentences to train on")
    labels = np.asarray(worthy, np.float64)
    counts = _counts(texts, types)
    seen = np.bincount(counts.indices, minlength=_SLOTS)
    rarity = np.log((1 + len(texts)) / (1 + seen)) + 1
    matrix = _weighted(counts, rarity)
    ridge = penalty / len(texts)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = matrix @ weights[:-1] + weights[-1]
        value = np.logaddexp(0, score).mean() - (labels * score).mean() + ridge / 2 * weights[:-1] @ weights[:-1]
        error = (_sigmoid(score) - labels) / len(labels)
        return float(value), np.append(matrix.T @ error + ridge * weights[:-1], error.sum())

    minimize = _scipy("optimize").minimize
    solution = minimize(loss, np.zeros(_SLOTS + 1), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return Regression(solution.x, rarity)


def _features(text: str, type: str | None) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    yield from words
    yield from (f"{word} {next_word}" for word, next_word in zip(["<", *words], [*words, ">"], strict=True))
    yield f"section: {type}"


def _counts(texts: Sequence[str], types: Sequence[str | None]) -> Any:
    columns: list[NDArray[np.int32]] = []
    ends = [0]
    for text, type in zip(texts, types, strict=True):
        slots = np.array(sorted({crc32(name.encode()) % _SLOTS for name in _features(text, type)}), np.int32)
        columns.append(slots)
        ends.append(ends[-1] + len(slots))
    indices = np.concatenate(columns) if columns else np.zeros(0, np.int32)
    return _scipy("sparse").csr_matrix((np.ones(len(indices)), indices, np.array(ends)), (len(texts), _SLOTS))


def _matrix(texts: Sequence[str], types: Sequence[str | None], rarity: NDArray[np.float64]) -> Any:
    return _weighted(_counts(texts, types), rarity)


def _weighted(counts: Any, rarity: NDArray[np.float64]) -> Any:
    """Weight features by rarity and scale rows to unit length."""
    counts.data = rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, counts.data**2, counts.shape[0]))
    counts.data /= lengths[rows]
    return counts


def _sigmoid(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0, -score))


def _scipy(part: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"scipy.{part}")
    except ImportError as error:
        raise MissingExtra("The word baseline", "eval") from error
