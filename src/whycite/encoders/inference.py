"""Token ids to vectors: the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.encoders.facts import FACTS, MODEL, Facts
from whycite.errors import UserError

__all__ = ["Model", "opened", "session"]

_FILLED = {"attention_mask": 1, "token_type_ids": 0}  # inputs whose values are known: no text is padded


@dataclass(frozen=True, slots=True)
class Model:
    """An opened model; it may be run from several threads at once, each run takes one."""

    session: Any
    inputs: tuple[str, ...]
    dimensions: int
    facts: Facts

    def vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of texts that have equally many tokens, one row each."""
        if not ids.size:  # tokenizers that mark no beginning make nothing of an empty text
            return np.zeros((len(ids), self.dimensions), np.float32)
        feed = {name: np.full_like(ids, _FILLED[name]) if name in _FILLED else ids for name in self.inputs}
        found: NDArray[np.float32] = self.session.run(None, feed)[0]
        if found.ndim == 3:  # of every token; a model of our own pools itself
            found = found[:, 0] if self.facts.pooling == "cls" else found.mean(1)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.maximum(lengths, 1e-30), np.float32)


def session(path: Path) -> Any:
    """A session of the runtime that runs the model there."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    # Threads run whole batches (see `threaded`): that is faster than sharing one, and gives the same numbers.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class of their own in common
        raise UserError(f"{path} is no model that can be run ({error}): copy or export it again") from error


def opened(folder: Path, facts: Facts) -> Model:
    """The folder's encoder."""
    path = folder / MODEL
    found = session(path)
    inputs = tuple(each.name for each in found.get_inputs())
    unknown = set(inputs) - {"input_ids", *_FILLED}
    if unknown or "input_ids" not in inputs:
        raise UserError(f"{path} takes {', '.join(inputs)}: an encoder takes input_ids, attention_mask, token_type_ids")
    return Model(found, inputs, _dimensions(path, found.get_outputs()[0].shape, facts), facts)


def _dimensions(path: Path, shape: list[int | str | None], facts: Facts) -> int:
    """How long vectors are, from the model or, where it leaves that open, from `encoder.json`."""
    if len(shape) not in (2, 3):
        raise UserError(f"{path} gives an output of {len(shape)} axes: an encoder gives one vector a text or a token")
    found = shape[-1] if isinstance(shape[-1], int) else facts.dimensions
    if not found:
        raise UserError(f"{path} does not say how long its vectors are: write it as 'dimensions' into {FACTS}")
    if facts.dimensions not in (0, found):
        raise UserError(f"{path} gives vectors of {found}, not of {facts.dimensions} as {FACTS} says: mend it")
    return found
