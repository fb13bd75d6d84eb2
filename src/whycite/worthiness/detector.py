"""Whoever tells which sentences need a citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.worthiness.bibliography import Bibliography

__all__ = ["Detector", "Paragraph"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences without their citations, with the headings above them, the outermost first."""

    sentences: tuple[str, ...]
    headings: tuple[str, ...] = ()
    section_type: str | None = None


class Detector(Protocol):
    """Gives each sentence the probability that it needs a citation."""

    @property
    def name(self) -> str:
        """With a version: what two versions say does not compare."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """From which probability on a sentence alone needs one, by section type; "" for all others."""

    @property
    def bibliography(self) -> Bibliography | None:
        """What a document's bibliography counts, and the threshold of all documents then, where that was learned."""

    def worthiness(self, paragraphs: Sequence[Paragraph]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence."""
