"""Encoders by name, and the two kinds that lie in a folder: an ONNX model, and one of Hugging Face run by PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.models import hub, runtime
from whycite.models.runtime import ENCODER_SETTINGS, MODEL, batches, map_threaded

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["DEFAULT", "Encoder", "OnnxEncoder", "TorchEncoder", "bundled_encoders", "load_encoder", "model_folder"]


_ONNX_WINDOW = 8192  # texts whose tokens are held at a time
TextIndices = list[int]


class OnnxEncoder:
    """Texts to unit vectors on `threads` threads; model and tokenizer are opened when they are first needed.

    With a model that `export` made, a text's vector is the same to the bit whatever texts are beside it, and on any
    number of threads.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self._settings = runtime.read_settings(folder)
        self.threads = threads
        version = runtime.model_version(folder, self._settings)
        if self._settings.version not in ("", version):
            raise UserError(
                f"{folder} holds version {version} of '{self._settings.name}', not {self._settings.version} as "
                f"{runtime.ENCODER_SETTINGS} says: copy the folder again, "
                "or remove 'version' there if the change is meant"
            )
        self.name = f"{self._settings.name}@{version}"

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return self._settings.dimensions or self._model.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order; `progress` is told how many more texts are done now and then."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(runtime.clean_input(text, self._settings), len(distinct)) for text in texts]
        if not rows:
            return np.empty((0, self.dimensions), np.float32)
        counts = np.bincount(rows)
        vectors = np.empty((len(distinct), self._model.dimensions), np.float32)
        for indices, batch_vectors in self._encode_batches(list(distinct)):
            vectors[indices] = batch_vectors
            if progress:
                progress(int(counts[indices].sum()))
        return vectors if len(distinct) == len(rows) else vectors[rows]

    def _encode_batches(self, texts: list[str]) -> Iterator[tuple[TextIndices, NDArray[np.float32]]]:
        for start in range(0, len(texts), _ONNX_WINDOW):
            # One by one: tokenizers' own batches take all cores, and this takes 4 % of the time.
            ids = [self._tokenizer.encode(text).ids for text in texts[start : start + _ONNX_WINDOW]]
            work = list(batches([len(token_ids) for token_ids in ids]))
            arrays = [np.array([ids[i] for i in batch], np.int64) for batch in work]
            for batch, batch_vectors in zip(work, map_threaded(self._model.vectors, arrays, self.threads), strict=True):
                yield [start + i for i in batch], batch_vectors

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return runtime.open_tokenizer(self.folder, self._settings.max_tokens)

    @cached_property
    def _model(self) -> runtime.OnnxModel:
        return runtime.open_model(self.folder, self._settings)


_TORCH_WINDOW = 8192  # texts whose tokens are held at a time
_TORCH_TOKENS = {"cpu": 512, "cuda": 16_384}  # in a batch, padding included


class TorchEncoder:
    """Texts to unit vectors on `threads` threads, or on a graphics card; the model is opened when it is first needed.

    The last bits of a text's vector may change with the texts beside it, with the number of threads and the machine.
    """

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        hub.require("Running a Hugging Face model")
        self.folder = folder
        self._settings = hub.settings_of(folder)
        self.threads = threads
        version = hub.version(folder, self._settings)
        if self._settings.version not in ("", version):
            raise UserError(
                f"{folder} holds version {version} of '{self._settings.name}', not {self._settings.version} as "
                f"{ENCODER_SETTINGS} says: "
                "copy the folder again, or remove 'version' there if the change is meant"
            )
        self.name = f"{name or self._settings.name}@{version}"

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return int(self._model.config.hidden_size)

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order; `progress` is told how many more texts are done now and then."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(runtime.clean_input(text, self._settings), len(distinct)) for text in texts]
        counts = np.bincount(np.array(rows, np.int64))
        vectors = np.empty((len(distinct), self.dimensions), np.float32)
        with _torch_threads(self.threads):
            for indices, batch_vectors in self._encode_batches(list(distinct)):
                vectors[indices] = batch_vectors
                if progress:
                    progress(int(counts[indices].sum()))
        return vectors if len(distinct) == len(rows) else vectors[rows]

    def _encode_batches(self, texts: list[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        for start in range(0, len(texts), _TORCH_WINDOW):
            ids = [self._tokenizer.encode(text).ids for text in texts[start : start + _TORCH_WINDOW]]
            for batch in _padded_batches([len(token_ids) for token_ids in ids], _TORCH_TOKENS[self._device]):
                yield [start + i for i in batch], self._vectors([ids[i] for i in batch])

    def _vectors(self, ids: list[list[int]]) -> NDArray[np.float32]:
        torch = import_module("torch")
        padded = np.full((len(ids), max(1, *map(len, ids))), self._model.config.pad_token_id or 0, np.int64)
        attended = np.zeros(padded.shape, np.int64)
        for row, token_ids in enumerate(ids):
            padded[row, : len(token_ids)], attended[row, : len(token_ids)] = token_ids, 1
        with torch.inference_mode():
            mask = torch.from_numpy(attended).to(self._device)
            states = self._model(torch.from_numpy(padded).to(self._device), attention_mask=mask).last_hidden_state
            # Once it has unit length, the sum does as well as the mean.
            pooled = states[:, 0] if self._settings.pooling == "cls" else (states * mask[..., None]).sum(1)
            # Tokenizers that mark no beginning make nothing of an empty text.
            pooled = torch.where(mask.any(1, keepdim=True), pooled, 0)
            return np.asarray(torch.nn.functional.normalize(pooled, dim=1).cpu().numpy(), np.float32)

    @cached_property
    def _device(self) -> str:
        return "cuda" if import_module("torch").cuda.is_available() else "cpu"

    @cached_property
    def _model(self) -> Any:
        model = hub.model_of(self.folder)
        if self._settings.dimensions not in (0, model.config.hidden_size):
            raise UserError(
                f"{self.folder} gives vectors of {model.config.hidden_size}, not of {self._settings.dimensions} as "
                f"{ENCODER_SETTINGS} says: mend it"
            )
        return model.to(self._device)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = hub.tokenizer_of(self.folder)
        tokenizer.enable_truncation(min(self._settings.max_tokens, _position_count(self._model)))
        return tokenizer


def _padded_batches(lengths: list[int], max_tokens: int) -> Iterator[list[int]]:
    """Indices of texts of much the same length in tokens, the longest first, at most so many tokens together."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        size = max(1, max_tokens // max(1, lengths[order[0]]))
        yield order[:size]
        order = order[size:]


def _position_count(model: Any) -> int:
    """How many tokens of a text the model has a position for."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)  # RoBERTa's positions begin after that of the padding
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    return (
        int(positions) - (0 if padding is None else padding + 1) if positions > 0 else 2**31
    )  # some have relative ones


@contextmanager
def _torch_threads(number: int) -> Iterator[None]:
    torch = import_module("torch")
    previous = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(previous)


DEFAULT = "claims-30m"
_GROUP = "whycite.encoders"  # entry points: functions that take the number of threads and return an Encoder
_MODELS = Path(__file__).resolve().parents[1] / "models"


class Encoder(Protocol):
    """Turns texts into unit vectors; its name holds a version, since vectors of two versions do not compare."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]: ...


def bundled_encoders() -> list[str]:
    """The names of the encoders that come with whycite."""
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{ENCODER_SETTINGS}"))


def model_folder(name: str | Path) -> Path | None:
    """The folder that a name means: a bundled encoder's, a folder itself, or a Hugging Face model's in the cache."""
    if name in bundled_encoders():
        return _MODELS / name
    if Path(name).is_dir():
        return Path(name)
    return hub.snapshot(name) if isinstance(name, str) else None


def load_encoder(name: str | Path = DEFAULT, threads: int | None = None) -> Encoder:
    """The encoder of that name, or in that folder; the same object each time. `threads`: by default all cores."""
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    return _open_encoder(name, threads or _cores())


@cache
def _open_encoder(name: str | Path, threads: int) -> Encoder:
    added = {} if isinstance(name, Path) else {entry.name: entry for entry in entry_points(group=_GROUP)}
    if name in added and name not in bundled_encoders():
        encoder: Encoder = added[str(name)].load()(threads)
        return encoder
    folder = model_folder(name)
    if folder is None:
        names = ", ".join([*bundled_encoders(), *sorted(added)])
        raise UserError(
            f"no encoder '{name}'; there are: {names}, the path of a folder that holds one, or a Hugging Face name"
        )
    if (folder / MODEL).is_file() or not (folder / hub.CONFIG).is_file():
        return OnnxEncoder(folder, threads)
    return TorchEncoder(folder, threads, "" if Path(name).is_dir() else str(name))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
