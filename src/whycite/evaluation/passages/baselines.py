"""What a ranker of passages has to beat: words in common, an encoder, a model that reads both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.passages.scoring import Scorer
from whycite.recommend.ilciter.bm25 import VARIANTS, Index
from whycite.rerank.ranker import Ranker
from whycite.text.tokens import terms

__all__ = ["Cosine", "bm25", "side_by_side"]


def bm25(variant: str = "okapi") -> Scorer:
    """BM25 over the terms of the document's sentences; how rare a term is, its own sentences tell."""
    if variant not in VARIANTS:
        raise UserError(f"no BM25 '{variant}'; there are: {', '.join(VARIANTS)}")
    return partial(_bm25, variant)


def _bm25(variant: str, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return Index([terms(sentence) for sentence in sentences]).scores(terms(claim))[variant]


def side_by_side(ranker: Ranker) -> Scorer:
    """What a ranker gives each sentence, read beside the claim."""
    return lambda claim, sentences: ranker.score("passage", claim, sentences)


class Cosine:
    """The cosine of claim and sentence; a text is encoded once, since many claims share a document."""

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._encode = encode
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        """The cosine of each sentence with the claim."""
        unknown = [text for text in dict.fromkeys([claim, *sentences]) if text not in self._known]
        if unknown:
            self._known |= zip(unknown, self._encode(unknown), strict=True)
        # Not a matrix product: its last digits depend on the number of threads.
        products = np.stack([self._known[sentence] for sentence in sentences]) * self._known[claim]
        return np.asarray(products.sum(axis=1))
