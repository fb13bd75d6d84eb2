"""Parts of a data set that share no document, citing or cited (the thesis, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whycite.annotation.pairs import Pair, swap_evenly
from whycite.errors import UserError
from whycite.packing import by_lot, joined, packed

__all__ = ["PARTS", "split"]

PARTS = ("train", "dev", "test")


def split(
    datasets: Mapping[str, Sequence[Pair]], dev: float = 0.15, test: float = 0.15, seed: int = 0
) -> dict[str, dict[str, list[Pair]]]:
    """Data set -> part -> pairs; sizes are those asked for in the first data set, as near as whole groups allow.

    All data sets are parted by the same documents, so what is learned from one can be measured on another. Each part
    is balanced by swapping options.
    """
    if min(dev, test) <= 0 or dev + test >= 1:
        raise UserError(f"the shares of dev and test must be above 0 and together below 1, not {dev} and {test}")
    first, every = next(iter(datasets.values())), [pair for pairs in datasets.values() for pair in pairs]
    groups = by_lot(joined(first, _names), lambda group: min(pair.id for pair in group), seed)
    in_test, rest = packed(groups, round(test * len(first)))
    in_dev, rest = packed(rest, round(dev * len(first)))
    if not (in_test and in_dev and rest):
        raise UserError(
            f"{len(first)} comparison{'s' * (len(first) != 1)} with an agreed answer, "
            f"in {len(groups)} group{'s' * (len(groups) != 1)} without a document in common, "
            "cannot be parted; collect more"
        )
    part_of = {
        name: part
        for part, chosen in zip(PARTS, (rest, in_dev, in_test), strict=True)
        for group in chosen
        for pair in group
        for name in _names(pair)
    }
    if lost := [pair for pair in every if _names(pair)[0] not in part_of]:
        raise ValueError(f"{lost[0].id} is in none of the parts of the first data set")
    return {
        name: {part: swap_evenly((p for p in pairs if part_of[_names(p)[0]] == part), seed) for part in PARTS}
        for name, pairs in datasets.items()
    }


def _names(pair: Pair) -> tuple[str, ...]:
    """The documents of a pair; where none is named, the claim."""
    return tuple(name for name in (pair.citing, pair.document) if name) or (pair.claim,)
