"""Comparisons balanced by reordering their options (the thesis, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from whycite.packing import by_lot

__all__ = ["balanced", "swapped"]


def balanced(labels: Mapping[str, str], seed: int) -> set[str]:
    """Which comparisons to swap, by name, so that "1" and "2" are right equally often, or once more the one."""
    names = by_lot(labels, str, seed)
    return {name for at, name in enumerate(names) if labels[name] != ("1", "2")[at % 2]}


@overload
def swapped(label: str) -> str: ...
@overload
def swapped(label: str | None) -> str | None: ...
def swapped(label: str | None) -> str | None:
    """The label once the options are swapped."""
    return {"1": "2", "2": "1"}[label] if label else label
