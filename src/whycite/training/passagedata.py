"""Claims with the passages that back them, out of the folders of known data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from whycite.errors import UserError
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.splitting import apart, split

__all__ = ["training_cases"]


_SETS: dict[str, Callable[[Path], Sequence[Case]]] = {
    "citint": partial(citint.load, part="train"),
    "clscisumm": clscisumm.load,
    "scifact": scifact.load,
}
_AUTOMATIC: dict[str, Callable[[Path], Sequence[Case]]] = {"clscisumm": clscisumm.load_automatic}


def training_cases(folders: Sequence[Path], seed: int = 0, whole: bool = False) -> list[Case]:
    """Of each data set, told by the folder's name, the part that is for training, or the whole.

    What was marked automatically is for training too, as far as it shares no document with what people marked.
    """
    found: list[Case] = []
    for folder in folders:
        name = folder.resolve().name
        if name not in _SETS:
            raise UserError(f"{folder}: no data set of passages; there are folders named {', '.join(_SETS)}")
        cases = list(_SETS[name](folder))
        found += cases if whole else split(cases, seed=seed).train
        if name in _AUTOMATIC:
            found += apart(_AUTOMATIC[name](folder), cases)
    return found
