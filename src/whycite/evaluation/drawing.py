"""Draws that a seed decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TypeVar

__all__ = ["draw"]

Thing = TypeVar("Thing")


def draw(things: Iterable[Thing], id: Callable[[Thing], str], number: int, seed: int) -> list[Thing]:
    """So many of the things, or all where there are fewer.

    Each has a lot that hangs on the seed and its id alone, so a larger draw holds the smaller one.
    """

    def lot(thing: Thing) -> bytes:
        return blake2b(f"{seed} {id(thing)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(things, key=lot)[:number]
