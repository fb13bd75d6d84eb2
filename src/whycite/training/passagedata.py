"""Claims with the passages that back them, out of the folders of known data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from whycite.errors import UserError
from whycite.evaluation.passages import clscisumm, scifact
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.splitting import split

__all__ = ["training_cases"]

_SETS: dict[str, Callable[[Path], Sequence[Case]]] = {"clscisumm": clscisumm.load, "scifact": scifact.load}


def training_cases(folders: Sequence[Path], seed: int = 0) -> list[Case]:
    """Of each data set, told by the folder's name, the part that is for training."""
    found: list[Case] = []
    for folder in folders:
        name = folder.resolve().name
        if name not in _SETS:
            raise UserError(f"{folder}: no data set of passages; there are folders named {', '.join(_SETS)}")
        found += split(list(_SETS[name](folder)), seed=seed).train
    return found
