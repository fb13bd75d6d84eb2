"""The encoders by name: bundled ones, those that other packages add, any folder, and those of Hugging Face."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import hub
from whycite.encoders.facts import FACTS, MODEL
from whycite.encoders.onnxencoder import OnnxEncoder
from whycite.encoders.torchencoder import TorchEncoder
from whycite.errors import UserError

__all__ = ["DEFAULT", "Encoder", "bundled", "load", "place"]

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


def bundled() -> list[str]:
    """The names of the encoders that come with whycite."""
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{FACTS}"))


def place(name: str | Path) -> Path | None:
    """The folder that a name means: a bundled encoder's, a folder itself, or a Hugging Face model's in the cache."""
    if name in bundled():
        return _MODELS / name
    if Path(name).is_dir():
        return Path(name)
    return hub.snapshot(name) if isinstance(name, str) else None


def load(name: str | Path = DEFAULT, threads: int | None = None) -> Encoder:
    """The encoder of that name, or in that folder; the same object each time. `threads`: by default all cores."""
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    return _load(name, threads or _cores())


@cache
def _load(name: str | Path, threads: int) -> Encoder:
    added = {} if isinstance(name, Path) else {entry.name: entry for entry in entry_points(group=_GROUP)}
    if name in added and name not in bundled():
        encoder: Encoder = added[str(name)].load()(threads)
        return encoder
    folder = place(name)
    if folder is None:
        names = ", ".join([*bundled(), *sorted(added)])
        raise UserError(
            f"no encoder '{name}'; there are: {names}, the path of a folder that holds one, or a Hugging Face name"
        )
    if (folder / MODEL).is_file() or not (folder / hub.CONFIG).is_file():
        return OnnxEncoder(folder, threads)
    return TorchEncoder(folder, threads, "" if Path(name).is_dir() else str(name))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
