"""Which texts are encoded together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

__all__ = ["batches"]

TOKENS = 256  # in a batch; what comes out of its widest layer still fits a core's own cache


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts of the same length in tokens, the longest first, at most `TOKENS` together.

    Nothing is ever padded, so no text's vector depends on the texts beside it. Texts of a few hundred are enough to
    fill batches, and half-filled ones cost little: 64 tokens together run within 5 % of the speed of 256.
    """
    same: dict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        same[length].append(index)
    for length in sorted(same, reverse=True):
        size = max(1, TOKENS // max(1, length))
        yield from (same[length][at : at + size] for at in range(0, len(same[length]), size))
