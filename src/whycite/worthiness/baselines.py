"""What to be better than (SCOPE 4.3.2): chance, the share of worthy sentences, and that share by section type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError

__all__ = ["Prior", "chance", "class_weighted", "draws"]

Types = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Prior:
    """How often a sentence is called worthy: in general, and in sections of a type."""

    general: float
    by_type: Mapping[str | None, float]

    def of(self, types: Types) -> NDArray[np.float64]:
        """The probability for sentences in sections of these types."""
        return np.array([self.by_type.get(type, self.general) for type in types], np.float64)


def chance() -> Prior:
    """Half of all sentences."""
    return Prior(0.5, {})


def class_weighted(labels: Iterable[tuple[str | None, bool]], by_section: bool = False) -> Prior:
    """The share of worthy sentences among those seen, for each section type where asked; labels are (type, worthy)."""
    seen: Counter[str | None] = Counter()
    worthy: Counter[str | None] = Counter()
    for type, label in labels:
        seen[type] += 1
        worthy[type] += label
    if not seen:
        raise UserError("there is no sentence to learn the share of worthy ones from")
    shares = {type: worthy[type] / number for type, number in seen.items()} if by_section else {}
    return Prior(worthy.total() / seen.total(), shares)


def draws(prior: Prior, types: Types, seed: int) -> NDArray[np.bool_]:
    """The dice thrown for each sentence: a baseline of SCOPE decides so, not by a threshold."""
    return np.random.default_rng(seed).random(len(types)) < prior.of(types)
