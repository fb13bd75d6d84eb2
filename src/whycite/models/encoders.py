"""Encoders, which map texts of similar meaning to nearby unit vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.models.folders import ENCODER, MODEL, ModelFolder, Pooling, require_torch
from whycite.models.runtime import batches, map_threaded, thread_count

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "DEFAULT",
    "TORCH_BATCH_TOKENS",
    "WINDOW_TEXTS",
    "Encoder",
    "OnnxEncoder",
    "TorchEncoder",
    "bundled_encoders",
    "forget_encoders",
    "load_encoder",
]

DEFAULT = "claims-30m"
WINDOW_TEXTS = 8192  # texts whose tokens are in memory at a time
TORCH_BATCH_TOKENS = {"cpu": 512, "cuda": 16_384}  # per batch, including padding
_CONSTANT_INPUTS = {"attention_mask": 1, "token_type_ids": 0}  # the same for all tokens, since no text is padded


class Encoder(Protocol):
    """Turns texts into unit vectors; its name includes a version, since vectors of two versions are not comparable."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]: ...


def bundled_encoders() -> list[str]:
    """The names of the bundled encoders."""
    return ENCODER.bundled()


def load_encoder(name: str | Path = DEFAULT, threads: int | None = None) -> Encoder:
    """Load an encoder by name or folder, once; `threads` defaults to all cores."""
    return _open_encoder(name, thread_count(threads))


def forget_encoders() -> None:
    """Forget loaded encoders, so that they are loaded again on next use."""
    _open_encoder.cache_clear()


@cache
def _open_encoder(name: str | Path, threads: int) -> Encoder:
    # Plug-ins are checked last: looking for them takes longer than everything else.
    if isinstance(name, str) and name not in ENCODER.bundled() and name in (plugins := ENCODER.plugins()):
        encoder: Encoder = plugins[name].load()(threads)
        return encoder
    path = ENCODER.find(name)
    if ModelFolder(path).is_onnx:
        return OnnxEncoder(path, threads)
    return TorchEncoder(path, threads, "" if Path(name).is_dir() else str(name))


class _FolderEncoder(ABC):
    """An encoder in a folder; tokenizer and model are loaded on first use."""

    _original = False  # whether to run the Hugging Face model even if the folder has its ONNX export

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        self.folder, self.threads = folder, threads
        self._files = ModelFolder(folder, original=self._original)
        self._settings = self._files.settings
        self.name = f"{name or self._settings.name}@{self._files.version}"

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of a vector."""

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """A unit vector for each text, in order; `progress` gets the number of texts encoded since its last call."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(self._settings.clean(text), len(distinct)) for text in texts]
        counts = np.bincount(np.array(rows, np.int64))
        vectors = np.empty((len(distinct), self.dimensions), np.float32)
        for indices, batch_vectors in self._encode_batches(list(distinct)):
            vectors[indices] = batch_vectors
            if progress:
                progress(int(counts[indices].sum()))
        return vectors if len(distinct) == len(rows) else vectors[rows]

    def _encode_batches(self, texts: list[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """The indices and vectors of each batch of texts."""
        for start in range(0, len(texts), WINDOW_TEXTS):
            # One by one: batches of tokenizers use all cores, and this takes only 4 % of the time.
            ids = [self._tokenizer.encode(text).ids for text in texts[start : start + WINDOW_TEXTS]]
            for batch, batch_vectors in self._encode_ids(ids):
                yield [start + index for index in batch], batch_vectors

    @property
    @abstractmethod
    def _tokenizer(self) -> Tokenizer: ...

    @abstractmethod
    def _encode_ids(self, ids: list[list[int]]) -> Iterator[tuple[list[int], NDArray[np.float32]]]: ...


class OnnxEncoder(_FolderEncoder):
    """Runs an ONNX model on `threads` threads.

    With a model made by `export`, the vector of a text depends neither on the other texts nor on the number of threads,
    to the bit.
    """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._settings.dimensions or self._model.dimensions

    def _encode_ids(self, ids: list[list[int]]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        work = list(batches([len(token_ids) for token_ids in ids]))
        arrays = [np.array([ids[index] for index in batch], np.int64) for batch in work]
        return zip(work, map_threaded(self._model.vectors, arrays, self.threads), strict=True)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._files.open_tokenizer(self._settings.max_tokens)

    @cached_property
    def _model(self) -> OnnxModel:
        return _open_onnx_model(self._files)


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A loaded model; several threads may run it at once, and each run uses one thread."""

    session: Any
    inputs: tuple[str, ...]
    dimensions: int
    pooling: Pooling

    def vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of texts with equal numbers of tokens, one row each."""
        if not ids.size:  # without a start token, an empty text has no tokens
            return np.zeros((len(ids), self.dimensions), np.float32)
        feed = {
            name: np.full_like(ids, _CONSTANT_INPUTS[name]) if name in _CONSTANT_INPUTS else ids for name in self.inputs
        }
        output: NDArray[np.float32] = self.session.run(None, feed)[0]
        if output.ndim == 3:  # one vector per token; our own models pool themselves
            output = output[:, 0] if self.pooling == "cls" else output.mean(1)
        lengths = np.linalg.norm(output, axis=1, keepdims=True)
        return np.asarray(output / np.maximum(lengths, 1e-30), np.float32)


def _open_onnx_model(files: ModelFolder) -> OnnxModel:
    path, settings, session = files.path / MODEL, files.settings, files.open_session()
    inputs = tuple(node.name for node in session.get_inputs())
    if "input_ids" not in inputs or {*inputs} - {"input_ids", *_CONSTANT_INPUTS}:
        raise UserError(f"{path} takes {', '.join(inputs)}: an encoder takes input_ids, attention_mask, token_type_ids")
    shape = session.get_outputs()[0].shape
    if len(shape) not in (2, 3):
        raise UserError(f"{path} has an output of {len(shape)} axes: an encoder gives one vector a text or a token")
    dimensions = shape[-1] if isinstance(shape[-1], int) else settings.dimensions
    if not dimensions:
        raise UserError(
            f"{path} does not say how long its vectors are: write it as 'dimensions' into {files.settings_path}"
        )
    _check_dimensions(files, dimensions)
    return OnnxModel(session, inputs, dimensions, settings.pooling)


def _check_dimensions(files: ModelFolder, dimensions: int) -> None:
    if files.settings.dimensions not in (0, dimensions):
        raise UserError(
            f"the model in {files.path} gives vectors of {dimensions} numbers: correct 'dimensions', "
            f"{files.settings.dimensions}, in {files.kind.settings_file}"
        )


class TorchEncoder(_FolderEncoder):
    """Runs a Hugging Face model with PyTorch, on `threads` threads or a GPU.

    The last bits of a vector may depend on the other texts, the number of threads and the machine.
    """

    _original = True

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        require_torch("Running a Hugging Face model")
        super().__init__(folder, threads, name)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._model.config.hidden_size)

    def _encode_ids(self, ids: list[list[int]]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        with _torch_threads(self.threads):
            for batch in _padded_batches([len(token_ids) for token_ids in ids], TORCH_BATCH_TOKENS[self._device]):
                yield batch, self._vectors([ids[index] for index in batch])

    def _vectors(self, ids: list[list[int]]) -> NDArray[np.float32]:
        torch = import_module("torch")
        padded = np.full((len(ids), max(1, *map(len, ids))), self._model.config.pad_token_id or 0, np.int64)
        attended = np.zeros(padded.shape, np.int64)
        for row, token_ids in enumerate(ids):
            padded[row, : len(token_ids)], attended[row, : len(token_ids)] = token_ids, 1
        with torch.inference_mode():
            mask = torch.from_numpy(attended).to(self._device)
            states = self._model(torch.from_numpy(padded).to(self._device), attention_mask=mask).last_hidden_state
            # Normalised to unit length, sum and mean are the same.
            pooled = states[:, 0] if self._settings.pooling == "cls" else (states * mask[..., None]).sum(1)
            # Without a start token, an empty text has no tokens.
            pooled = torch.where(mask.any(1, keepdim=True), pooled, 0)
            return np.asarray(torch.nn.functional.normalize(pooled, dim=1).cpu().numpy(), np.float32)

    @cached_property
    def _device(self) -> str:
        return "cuda" if import_module("torch").cuda.is_available() else "cpu"

    @cached_property
    def _model(self) -> Any:
        model = self._files.open_torch_model()
        _check_dimensions(self._files, model.config.hidden_size)
        return model.to(self._device)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._files.open_tokenizer(min(self._settings.max_tokens, _position_count(self._model)))


def _padded_batches(lengths: list[int], max_tokens: int) -> Iterator[list[int]]:
    """Indices of texts of similar length, longest first, in batches of at most `max_tokens` tokens."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        size = max(1, max_tokens // max(1, lengths[order[0]]))
        yield order[:size]
        order = order[size:]


def _position_count(model: Any) -> int:
    """The number of tokens the model has positions for."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)  # RoBERTa's positions start after the padding's
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    return (
        int(positions) - (0 if padding is None else padding + 1) if positions > 0 else 2**31
    )  # unlimited for relative positions


@contextmanager
def _torch_threads(number: int) -> Iterator[None]:
    torch = import_module("torch")
    previous = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
