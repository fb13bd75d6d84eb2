"""A claim, the document it cites, and the sentences of it that back the claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Case", "Label"]

Label = Literal["backed", "contradicted", "not found"]


@dataclass(frozen=True, slots=True)
class Case:
    """A claim and a document, the gold sentences by index; no gold: nobody marked any, or there are none."""

    id: str
    dataset: str
    claim: str  # without citation markers
    citing: str  # where the claim comes from: no two parts of a split share it
    document: str
    sentences: tuple[str, ...]
    gold: frozenset[int] = frozenset()
    label: Label | None = None  # None: the data set does not tell
    sections: tuple[str, ...] = ()  # a heading for each sentence, where known
    rationales: tuple[frozenset[int], ...] = ()  # sets of gold sentences, each enough by itself, where known

    def __post_init__(self) -> None:
        if not self.gold <= set(range(len(self.sentences))):
            raise ValueError(f"{self.id}: gold {sorted(self.gold)} is not among {len(self.sentences)} sentences")
        if not frozenset[int]().union(*self.rationales) <= self.gold:
            raise ValueError(f"{self.id}: a rationale has sentences that are not gold")
        if self.sections and len(self.sections) != len(self.sentences):
            raise ValueError(f"{self.id}: {len(self.sections)} headings for {len(self.sentences)} sentences")
