"""Parts that share no name: things joined by names stay together, and whole groups are packed to size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["group_by_names", "order_by_lot", "pack_groups"]

ItemT = TypeVar("ItemT")


def order_by_lot(items: Iterable[ItemT], name: Callable[[ItemT], str], seed: int) -> list[ItemT]:
    """The things in an order that hangs on the seed and their names alone."""

    def lot(item: ItemT) -> bytes:
        return blake2b(f"{seed} {name(item)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(items, key=lot)


def group_by_names(items: Iterable[ItemT], names: Callable[[ItemT], Sequence[str]]) -> list[list[ItemT]]:
    """Groups of things that share a name, over however many steps; one without names is a group of its own."""
    items = list(items)
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (above := leader.setdefault(name, name)) != name:
            leader[name] = name = leader[above]
        return name

    for item in items:
        anchor, *partners = names(item) or ("",)
        for partner in partners:
            leader[find(partner)] = find(anchor)
    groups: dict[str, list[ItemT]] = {}
    alone: list[list[ItemT]] = []
    for item in items:
        if item_names := names(item):
            groups.setdefault(find(item_names[0]), []).append(item)
        else:
            alone.append([item])
    return [*groups.values(), *alone]


def pack_groups(groups: Sequence[list[ItemT]], size: int) -> tuple[list[list[ItemT]], list[list[ItemT]]]:
    """The groups that fill the size best without going over it, those that stand first before others, and the rest."""
    reachable = [1]  # bit n: n things can be had from the groups so far
    for group in groups:
        reachable.append((reachable[-1] | reachable[-1] << len(group)) & (2 << size) - 1)
    remaining = reachable[-1].bit_length() - 1
    chosen, rest = [], []
    for index in range(len(groups) - 1, -1, -1):
        if reachable[index] >> remaining & 1:
            rest.append(groups[index])
        else:
            chosen.append(groups[index])
            remaining -= len(groups[index])
    return chosen[::-1], rest[::-1]
