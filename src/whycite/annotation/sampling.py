"""Which sentences are worth a labeller's time: those most like the claim (the thesis, chapter 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.annotation.claims import Cited
from whycite.annotation.model import Option

__all__ = ["CHECKED", "Sampled", "Sampling", "check_sampling", "sample"]

CHECKED = (1, 3, 5, 10, 20, 50)

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A claim and its document's sentences, the most similar first; the first `top` are candidates."""

    cited: Cited
    order: tuple[Option, ...]
    top: int

    @property
    def candidates(self) -> tuple[Option, ...]:
        """What labellers see."""
        return self.order[: self.top]

    @property
    def discarded(self) -> tuple[Option, ...]:
        """What they do not see."""
        return self.order[self.top :]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much of the known evidence is among the k most similar sentences (figure 3.1)."""

    claims: int
    evidence: int  # sentences
    found: dict[int, float]  # k -> share of them
    any: dict[int, float]  # k -> share of claims with at least one of theirs


def sample(cited: Iterable[Cited], encode: Encode, top: int = 10) -> Iterable[Sampled]:
    """Each claim with the sentences of its document by cosine (equation 3.1); a document is encoded once in a row."""
    last: tuple[tuple[Option, ...], NDArray[np.float32]] | None = None
    for each in cited:
        if not each.sentences:
            yield Sampled(each, (), top)
            continue
        if last is None or last[0] != each.sentences:
            last = each.sentences, encode([option.text for option in each.sentences])
        claim = encode([each.claim])[0]
        # Not a matrix product: its last digits depend on the number of threads.
        order = np.argsort(-(last[1] * claim).sum(axis=1), kind="stable")
        yield Sampled(each, tuple(each.sentences[at] for at in order), top)


def check_sampling(sampled: Iterable[Sampled]) -> Sampling | None:
    """Figure 3.1 in numbers, over the claims whose evidence is known; None where none is."""
    ranks = []
    for each in sampled:
        if each.cited.gold:
            places = {option.index: rank for rank, option in enumerate(each.order, 1)}
            # What was no candidate at all is found at no rank.
            ranks.append([places.get(index, len(each.order) + CHECKED[-1]) for index in each.cited.gold])
    if not ranks:
        return None
    everything = [rank for those in ranks for rank in those]
    return Sampling(
        len(ranks),
        len(everything),
        {k: sum(rank <= k for rank in everything) / len(everything) for k in CHECKED},
        {k: sum(min(those) <= k for those in ranks) / len(ranks) for k in CHECKED},
    )
