"""The encoders by name: bundled ones, those that other packages add, and any folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.encoders.facts import MODEL
from whycite.encoders.onnxencoder import OnnxEncoder
from whycite.errors import UserError

__all__ = ["DEFAULT", "Encoder", "bundled", "load"]

DEFAULT = "granite-30m"
_GROUP = "whycite.encoders"  # entry points: functions that take the number of threads and return an Encoder
_MODELS = Path(__file__).resolve().parents[1] / "models"


class Encoder(Protocol):
    """Turns texts into unit vectors; its name holds a version, since vectors of two versions do not compare."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]: ...


def bundled() -> list[str]:
    """The names of the encoders that come with whycite."""
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{MODEL}"))


def load(name: str | Path = DEFAULT, threads: int | None = None) -> Encoder:
    """The encoder of that name, or in that folder; the same object each time. `threads`: by default all cores."""
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    return _load(name, threads or _cores())


@cache
def _load(name: str | Path, threads: int) -> Encoder:
    added = {} if isinstance(name, Path) else {entry.name: entry for entry in entry_points(group=_GROUP)}
    if name in bundled():
        return OnnxEncoder(_MODELS / name, threads)
    if name in added:
        encoder: Encoder = added[str(name)].load()(threads)
        return encoder
    if Path(name).is_dir():
        return OnnxEncoder(Path(name), threads)
    names = ", ".join([*bundled(), *sorted(added)])
    raise UserError(f"no encoder '{name}'; there are: {names}, or the path of a folder that holds one")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
