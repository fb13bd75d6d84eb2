"""Data sets of passages by the name of their folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from whycite.errors import UserError
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.model import Case

__all__ = ["load_all"]

_SETS: dict[str, Callable[[Path], list[Case]]] = {
    "clscisumm": clscisumm.load,
    "scifact": scifact.load,
    "citint": lambda folder: [case for part in citint.PARTS for case in citint.load(folder, part)],
}


def load_all(folders: Sequence[Path]) -> dict[str, list[Case]]:
    """The cases of each folder, which has the name of its data set."""
    found: dict[str, list[Case]] = {}
    for folder in folders:
        name = folder.resolve().name
        if name not in _SETS:
            raise UserError(f"{folder}: no data set of passages; there are folders named {', '.join(_SETS)}")
        if name not in found:
            found[name] = _SETS[name](folder)
    return found
