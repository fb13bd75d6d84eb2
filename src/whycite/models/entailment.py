"""The entailment model, which reads a claim and a passage: is it relevant, and does it back or contradict the claim?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.models.folders import BUNDLED, ENTAILMENT
from whycite.models.runtime import PairModel, thread_count

__all__ = [
    "CONTRADICTS",
    "DEFAULT_ENTAILMENT",
    "NEITHER",
    "RELEVANCE",
    "SUPPORTS",
    "EntailmentModel",
    "OnnxEntailment",
    "load_entailment",
]

DEFAULT_ENTAILMENT = "entailment-38m"
RELEVANCE, SUPPORTS, CONTRADICTS, NEITHER = range(4)  # columns of what the model says of a passage


class EntailmentModel(Protocol):
    """Judges passages; the last three columns are logits of one choice, the first compares passages for one claim."""

    @property
    def name(self) -> str: ...

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]: ...


def load_entailment(folder: Path | str = DEFAULT_ENTAILMENT, threads: int | None = None) -> EntailmentModel:
    """Load the bundled entailment model or the one in a folder, once; `threads` defaults to all cores."""
    path = BUNDLED / folder if isinstance(folder, str) and folder in ENTAILMENT.bundled() else Path(folder)
    return _open_entailment(path, thread_count(threads))


@cache
def _open_entailment(folder: Path, threads: int) -> EntailmentModel:
    return OnnxEntailment(folder, threads)


class OnnxEntailment(PairModel):
    """An entailment model as an ONNX graph."""

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, ENTAILMENT, threads)

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Relevance and the logits of supports, contradicts and neither, a row per passage."""
        return self.outputs(claim, passages).astype(np.float64).reshape(len(passages), 4)
