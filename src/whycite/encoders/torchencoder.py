"""The encoder that lies in a folder as a model of Hugging Face, run by PyTorch; needs the extra "train"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import hub, tokens
from whycite.encoders.facts import FACTS
from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TorchEncoder"]

_WINDOW = 8192  # texts whose tokens are held at a time
_TOKENS = {"cpu": 512, "cuda": 16_384}  # in a batch, padding included


class TorchEncoder:
    """Texts to unit vectors on `threads` threads, or on a graphics card; the model is opened when it is first needed.

    The last bits of a text's vector may change with the texts beside it, with the number of threads and the machine.
    """

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        hub.require("Running a Hugging Face model")
        self.folder = folder
        self._facts = hub.facts_of(folder)
        self.threads = threads
        version = hub.version(folder, self._facts)
        if self._facts.version not in ("", version):
            raise UserError(
                f"{folder} holds version {version} of '{self._facts.name}', not {self._facts.version} as {FACTS} says: "
                "copy the folder again, or remove 'version' there if the change is meant"
            )
        self.name = f"{name or self._facts.name}@{version}"

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return int(self._model.config.hidden_size)

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order; `progress` is told how many more texts are done now and then."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(tokens.cleaned(text, self._facts), len(distinct)) for text in texts]
        counts = np.bincount(np.array(rows, np.int64))
        vectors = np.empty((len(distinct), self.dimensions), np.float32)
        with _threads(self.threads):
            for done, found in self._encoded(list(distinct)):
                vectors[done] = found
                if progress:
                    progress(int(counts[done].sum()))
        return vectors if len(distinct) == len(rows) else vectors[rows]

    def _encoded(self, texts: list[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        for start in range(0, len(texts), _WINDOW):
            ids = [self._tokenizer.encode(text).ids for text in texts[start : start + _WINDOW]]
            for batch in _batches([len(each) for each in ids], _TOKENS[self._device]):
                yield [start + i for i in batch], self._vectors([ids[i] for i in batch])

    def _vectors(self, ids: list[list[int]]) -> NDArray[np.float32]:
        torch = import_module("torch")
        padded = np.full((len(ids), max(1, *map(len, ids))), self._model.config.pad_token_id or 0, np.int64)
        attended = np.zeros(padded.shape, np.int64)
        for row, each in enumerate(ids):
            padded[row, : len(each)], attended[row, : len(each)] = each, 1
        with torch.inference_mode():
            mask = torch.from_numpy(attended).to(self._device)
            states = self._model(torch.from_numpy(padded).to(self._device), attention_mask=mask).last_hidden_state
            # Once it has unit length, the sum does as well as the mean.
            pooled = states[:, 0] if self._facts.pooling == "cls" else (states * mask[..., None]).sum(1)
            # Tokenizers that mark no beginning make nothing of an empty text.
            pooled = torch.where(mask.any(1, keepdim=True), pooled, 0)
            return np.asarray(torch.nn.functional.normalize(pooled, dim=1).cpu().numpy(), np.float32)

    @cached_property
    def _device(self) -> str:
        return "cuda" if import_module("torch").cuda.is_available() else "cpu"

    @cached_property
    def _model(self) -> Any:
        model = hub.model_of(self.folder)
        if self._facts.dimensions not in (0, model.config.hidden_size):
            raise UserError(
                f"{self.folder} gives vectors of {model.config.hidden_size}, not of {self._facts.dimensions} as "
                f"{FACTS} says: mend it"
            )
        return model.to(self._device)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = hub.tokenizer_of(self.folder)
        tokenizer.enable_truncation(min(self._facts.max_tokens, _places(self._model)))
        return tokenizer


def _batches(lengths: list[int], most: int) -> Iterator[list[int]]:
    """Indices of texts of much the same length in tokens, the longest first, at most so many tokens together."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        size = max(1, most // max(1, lengths[order[0]]))
        yield order[:size]
        order = order[size:]


def _places(model: Any) -> int:
    """How many tokens of a text the model has a position for."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)  # RoBERTa's positions begin after that of the padding
    most = getattr(model.config, "max_position_embeddings", None) or 0
    return int(most) - (0 if padding is None else padding + 1) if most > 0 else 2**31  # some have relative ones


@contextmanager
def _threads(number: int) -> Iterator[None]:
    torch = import_module("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
