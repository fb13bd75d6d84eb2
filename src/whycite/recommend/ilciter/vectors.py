"""How near spans are to a query in meaning: the cosine of their vectors (ILCiteR, section 6.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Encode", "SpanVectors"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts in, a vector of length one for each; in the paper SciBERT's vector of [CLS]."""

_LARGE = 2**27  # numbers; above, vectors are kept with half the digits


class SpanVectors:
    """Vectors of spans, each encoded when it is first asked for and then kept."""

    def __init__(self, spans: Sequence[str], encode: Encode) -> None:
        self._spans, self._encode = spans, encode
        self._known = np.zeros(len(spans), bool)
        self._vectors: NDArray[np.floating] | None = None
        self._lock = Lock()

    def cosines(self, query: str, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cosine of the query with each of the chosen spans."""
        vector = self._encoded([query])[0].astype(np.float64)
        # Not a matrix product: its last digits depend on the number of threads.
        return np.asarray((self._of(chosen) * vector).sum(axis=1))

    def _of(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        with self._lock:
            unknown = chosen[~self._known[chosen]]
            if len(unknown):
                found = self._encoded([self._spans[span] for span in unknown])
                if self._vectors is None:
                    size = len(self._spans), found.shape[1]
                    self._vectors = np.empty(size, np.float16 if size[0] * size[1] > _LARGE else np.float32)
                self._vectors[unknown] = found
                self._known[unknown] = True
            if self._vectors is None:
                return np.empty((0, 1))
            return self._vectors[chosen].astype(np.float64)

    def _encoded(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._encode(texts)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(f"the encoder gave an array of shape {vectors.shape} for {len(texts)} texts")
        return vectors
