"""The loss that draws together what cites the same paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch

from whycite.training.tokens import Tensor, sent

__all__ = ["contrast", "share"]


def contrast(claims: Tensor, others: Tensor, false: Tensor, temperature: float) -> Tensor:
    """How badly each claim tells its own among the others: the first ones, in order, are the claims' own.

    Others that are marked `false` (claims x others) are no negatives: they cite what the claim cites.
    """
    own = torch.arange(len(claims), device=claims.device)
    scores = claims @ others.T / temperature
    scores = scores.masked_fill(false.index_put((own, own), torch.tensor(False, device=false.device)), float("-inf"))
    return torch.nn.functional.cross_entropy(scores, own)


def share(left: Sequence[Collection[int]], right: Sequence[Collection[int]], device: str) -> Tensor:
    """Which sets (of papers) on the left have something in common with which on the right."""
    numbers: dict[int, int] = {}
    pairs = [
        [(at, numbers.setdefault(each, len(numbers))) for at, held in enumerate(sets) for each in held]
        for sets in (left, right)
    ]
    tables = []
    for some, sets in zip(pairs, (left, right), strict=True):
        rows, columns = sent(torch.tensor(some, dtype=torch.int64).reshape(-1, 2), device).unbind(1)
        table = torch.zeros(len(sets), len(numbers), device=device)
        tables.append(table.index_put_((rows, columns), torch.ones((), device=device)))
    return tables[0] @ tables[1].T > 0
