"""Split items into parts that share no names: group those that do, and pack whole groups to size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["group_by_names", "order_by_lot", "pack_groups"]

ItemT = TypeVar("ItemT")


def order_by_lot(items: Iterable[ItemT], name: Callable[[ItemT], str], seed: int) -> list[ItemT]:
    """Shuffle items, depending only on the seed and their names."""

    def lot(item: ItemT) -> bytes:
        return blake2b(f"{seed} {name(item)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(items, key=lot)


def group_by_names(items: Iterable[ItemT], names: Callable[[ItemT], Sequence[str]]) -> list[list[ItemT]]:
    """Groups of items connected by shared names; an item without names is its own group."""
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
    """The groups that best fill the size without exceeding it, preferring earlier ones, and the rest."""
    reachable = [1]  # bit n: the groups so far can make up n items
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
