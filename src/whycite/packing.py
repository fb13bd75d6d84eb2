"""Parts that share no name: things joined by names stay together, and whole groups are packed to size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["by_lot", "joined", "packed"]

Thing = TypeVar("Thing")


def by_lot(things: Iterable[Thing], name: Callable[[Thing], str], seed: int) -> list[Thing]:
    """The things in an order that hangs on the seed and their names alone."""

    def lot(thing: Thing) -> bytes:
        return blake2b(f"{seed} {name(thing)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(things, key=lot)


def joined(things: Iterable[Thing], names: Callable[[Thing], Sequence[str]]) -> list[list[Thing]]:
    """Groups of things that share a name, over however many steps; one without names is a group of its own."""
    things = list(things)
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (above := leader.setdefault(name, name)) != name:
            leader[name] = name = leader[above]
        return name

    for thing in things:
        first, *others = names(thing) or ("",)
        for other in others:
            leader[find(other)] = find(first)
    groups: dict[str, list[Thing]] = {}
    alone: list[list[Thing]] = []
    for thing in things:
        if given := names(thing):
            groups.setdefault(find(given[0]), []).append(thing)
        else:
            alone.append([thing])
    return [*groups.values(), *alone]


def packed(groups: Sequence[list[Thing]], size: int) -> tuple[list[list[Thing]], list[list[Thing]]]:
    """The groups that fill the size best without going over it, those that stand first before others, and the rest."""
    reachable = [1]  # bit n: n things can be had from the groups so far
    for group in groups:
        reachable.append((reachable[-1] | reachable[-1] << len(group)) & (2 << size) - 1)
    left = reachable[-1].bit_length() - 1
    chosen, rest = [], []
    for at in range(len(groups) - 1, -1, -1):
        if reachable[at] >> left & 1:
            rest.append(groups[at])
        else:
            chosen.append(groups[at])
            left -= len(groups[at])
    return chosen[::-1], rest[::-1]
