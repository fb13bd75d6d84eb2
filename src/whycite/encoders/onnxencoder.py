"""The encoder that lies in a folder as an ONNX model and a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import facts, inference, tokens
from whycite.encoders.batches import batches, threaded
from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["OnnxEncoder"]

_WINDOW = 8192  # texts whose tokens are held at a time
Batch = list[int]


class OnnxEncoder:
    """Texts to unit vectors on `threads` threads; model and tokenizer are opened when they are first needed.

    With a model that `export` made, a text's vector is the same to the bit whatever texts are beside it, and on any
    number of threads.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self._facts = facts.read(folder)
        self.threads = threads
        version = facts.version(folder, self._facts)
        if self._facts.version not in ("", version):
            raise UserError(
                f"{folder} holds version {version} of '{self._facts.name}', not {self._facts.version} as "
                f"{facts.FACTS} says: copy the folder again, or remove 'version' there if the change is meant"
            )
        self.name = f"{self._facts.name}@{version}"

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return self._facts.dimensions or self._model.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order; `progress` is told how many more texts are done now and then."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(tokens.cleaned(text, self._facts), len(distinct)) for text in texts]
        if not rows:
            return np.empty((0, self.dimensions), np.float32)
        counts = np.bincount(rows)
        vectors = np.empty((len(distinct), self._model.dimensions), np.float32)
        for done, found in self._encoded(list(distinct)):
            vectors[done] = found
            if progress:
                progress(int(counts[done].sum()))
        return vectors if len(distinct) == len(rows) else vectors[rows]

    def _encoded(self, texts: list[str]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        for start in range(0, len(texts), _WINDOW):
            # One by one: tokenizers' own batches take all cores, and this takes 4 % of the time.
            ids = [self._tokenizer.encode(text).ids for text in texts[start : start + _WINDOW]]
            work = list(batches([len(each) for each in ids]))
            arrays = [np.array([ids[i] for i in batch], np.int64) for batch in work]
            for batch, found in zip(work, threaded(self._model.vectors, arrays, self.threads), strict=True):
                yield [start + i for i in batch], found

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.opened(self.folder, self._facts.max_tokens)

    @cached_property
    def _model(self) -> inference.Model:
        return inference.opened(self.folder, self._facts)
