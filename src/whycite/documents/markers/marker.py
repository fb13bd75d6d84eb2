"""A citation marker of plain text."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Marker"]


class Marker(NamedTuple):
    """A place in a text that cites; no keys: it is a citation, but of no reference in the list."""

    keys: tuple[str, ...]
    start: int
    end: int
