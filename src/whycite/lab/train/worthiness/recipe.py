"""How worthiness is trained: all that can be chosen, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from whycite.check.modelinputs import find_variant
from whycite.errors import UserError
from whycite.models import DEFAULT

__all__ = ["Heading", "Readout", "WorthinessRecipe"]

Readout = Literal["mean", "separator"]
Heading = Literal["any", "top", "path", "type", "none"]


@dataclass(frozen=True, slots=True)
class WorthinessRecipe:
    """SCOPE's own choices are a separator read-out, the section's type and conform paragraphs."""

    base: str = DEFAULT
    variant: str = "ctx-section-extra"
    readout: Readout = "mean"  # over a sentence's own tokens, or as published at the separator behind it
    heading: Heading = "any"  # what stands for the section: by lot, its top heading, all headings, its type
    epochs: int = 6
    rate: float = 4e-4
    warm_up: float = 0.06  # share of the training in which the rate rises
    decay: float = 0.01
    tokens: int = 32_768  # in a batch: about 128 paragraphs
    limit: int = 512  # tokens read in one pass
    dropout: float = 0.1
    noise: float = 0.1  # share of sentences that are read as a draft might have them
    named: float = 0.5  # of sentences that name whom they cite, the share that keep the names
    marks: float = 0.1  # what telling behind which tokens citations stood counts beside telling which sentences cite
    folds: int = 2  # parts of the documents, each judged by a model that learned from the others in half the epochs
    judge: str = ""  # what these models start from, which may be larger than the base; none: the base
    judge_rate: float = 1e-4  # how large their steps are, where they start from another base
    soft: float = 0.5  # share of what is learned in the end that is their judgement, not the label; 0 folds: none
    conform: bool = False  # train only on paragraphs that conform to CiteWorth's rules
    seed: int = 0

    def __post_init__(self) -> None:
        find_variant(self.variant)
        if self.epochs < 1 or self.tokens < self.limit or self.limit < 64:
            raise UserError(
                "training needs at least 1 epoch, a limit of at least 64 tokens, and batches of at least that size"
            )
        if self.folds == 1 or self.folds < 0 or not 0 <= self.soft <= 1:
            raise UserError("--folds must be 0 or at least 2, and --soft between 0 and 1")
        if self.judge and not (self.folds and self.soft):
            raise UserError(f"--judge {self.judge} needs at least two --folds")

    @property
    def judging(self) -> WorthinessRecipe:
        """How those are trained whose judgement is learned from."""
        return replace(self, base=self.judge, rate=self.judge_rate, judge="") if self.judge else self
