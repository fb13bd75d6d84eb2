"""Baselines for passage rankers: BM25, an encoder, a cross-encoder, the results of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.thesis.measures import Scorer
from whycite.models.rankers import Ranker
from whycite.text.bm25 import VARIANTS, Bm25Index
from whycite.text.tokens import terms

__all__ = ["BEST", "DOCUMENT", "PAIRWISE", "Cosine", "bm25", "side_by_side"]


def bm25(variant: str = "okapi") -> Scorer:
    """BM25 over the sentences of a document, with document frequencies from these sentences."""
    if variant not in VARIANTS:
        raise UserError(f"unknown BM25 variant '{variant}'; choose one of: {', '.join(VARIANTS)}")
    return partial(_bm25, variant)


def _bm25(variant: str, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return Bm25Index([terms(sentence) for sentence in sentences]).scores(terms(claim))[variant]


def side_by_side(ranker: Ranker) -> Scorer:
    """Score with a ranker, which reads claim and sentence together."""
    return lambda claim, sentences: ranker.score("passage", claim, sentences)


class Cosine:
    """The cosine of claim and sentence; texts are encoded once, since many claims share a document."""

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._encode = encode
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def __call__(self, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        """The cosine of each sentence with the claim."""
        unknown = [text for text in dict.fromkeys([claim, *sentences]) if text not in self._vectors]
        if unknown:
            self._vectors |= zip(unknown, self._encode(unknown), strict=True)
        # Not a matrix product: its last digits depend on the number of threads.
        products = np.stack([self._vectors[sentence] for sentence in sentences]) * self._vectors[claim]
        return np.asarray(products.sum(axis=1))


BEST = 0.777
"""The accuracy in its conclusion; the best in table 7.1 is 0.773."""

PAIRWISE: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "majority": {"rnn": 0.56875, "bidirectional": 0.6125, "attention": 0.544},
        "high majority": {"rnn": 0.773, "bidirectional": 0.600, "attention": 0.640},
        "unanimous": {"rnn": 0.677, "bidirectional": 0.754, "attention": 0.646},
        "augmented": {"rnn": 0.625, "bidirectional": 0.625, "attention": 0.725},
    }
)
DOCUMENT: Mapping[str, float] = MappingProxyType({"base": 0.748, "inter-sentence attention": 0.5971})
