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
        missing: dict[str, Future[Vector]] = {}
        try:
            asked = self._asked(texts, missing)
            made = self._encoder.encode(list(missing)) if missing else ()
            for future, vector in zip(missing.values(), made, strict=True):
                future.set_result(vector)
        except BaseException as error:
            self._give_up(missing, error)
            raise
        # Our own are there by now, so that no two threads wait for each other.
        vectors = [self._found(text, future) for text, future in zip(texts, asked, strict=True)]
        if progress:
            progress(len(texts))
        return np.array(vectors, np.float32).reshape(len(texts), self.dimensions)

    def _asked(self, texts: Sequence[str], missing: dict[str, Future[Vector]]) -> list[Future[Vector]]:
        """What there is of texts, or will be; those that nobody has asked for yet go into `missing`."""
        with self._lock:
            for text in texts:
                if text not in self._kept:
                    missing[text] = Future()
                    self._kept[text] = missing[text]
                self._kept.move_to_end(text)
            asked = [self._kept[text] for text in texts]
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return asked

    def _give_up(self, missing: dict[str, Future[Vector]], error: BaseException) -> None:
        """Let nobody wait for what will not come."""
        left = {text: future for text, future in missing.items() if not future.done()}
        with self._lock:
            for text, future in left.items():
                if self._kept.get(text) is future:
                    del self._kept[text]  # whoever asks later tries again
        for future in left.values():
            future.set_exception(error)

    def _found(self, text: str, future: Future[Vector]) -> Vector:
        """What somebody made; where that failed, perhaps because of another text, we try ourselves."""
        return self._encoder.encode([text])[0] if future.exception() else future.result()
