"""What claims that come one after the other have in common, their paragraph and title, is encoded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from whycite.encoders.registry import Encoder

__all__ = ["SharedEncoder"]

_KEPT = 64  # texts: those of twenty claims, some of which are asked at the same time

Vector = NDArray[np.float32]


class SharedEncoder:
    """An encoder that knows its last few texts; what several threads ask for at once, the first of them encodes."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._kept: OrderedDict[str, Future[Vector]] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The name of the encoder whose vectors these are."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order."""
        with self._lock:
            missing = {text: Future[Vector]() for text in texts if text not in self._kept}
            self._kept |= missing
            asked = [self._kept[text] for text in texts]
            for text in texts:
                self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        if missing:
            self._make(missing)
        if progress:
            progress(len(texts))
        # Our own are there by now, so that no two threads wait for each other.
        return np.array([future.result() for future in asked], np.float32).reshape(len(texts), self.dimensions)

    def _make(self, missing: dict[str, Future[Vector]]) -> None:
        try:
            made = self._encoder.encode(list(missing))
        except BaseException as error:
            with self._lock:
                for text, future in missing.items():
                    if self._kept.get(text) is future:
                        del self._kept[text]  # whoever asks later tries again
            for future in missing.values():
                future.set_exception(error)
            raise
        for future, vector in zip(missing.values(), made, strict=True):
            future.set_result(vector)
