"""How worthiness is trained: all that can be chosen, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whycite.encoders import DEFAULT
from whycite.errors import UserError
from whycite.worthiness.variants import variant

__all__ = ["Heading", "Readout", "Recipe"]

Readout = Literal["mean", "separator"]
Heading = Literal["any", "top", "path", "type", "none"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """SCOPE's own choices are a separator read-out, the section's type and conform paragraphs."""

    base: str = DEFAULT
    variant: str = "ctx-section-extra"
    readout: Readout = "mean"  # over a sentence's own tokens, or as published at the separator behind it
    heading: Heading = "any"  # what stands for the section: by lot, its top heading, all headings, its type
    epochs: int = 4
    rate: float = 1.5e-4
    warm_up: float = 0.06  # share of the training in which the rate rises
    decay: float = 0.01
    tokens: int = 16_384  # in a batch, padding counted in: about 64 paragraphs
    limit: int = 512  # tokens read in one pass
    weight: float = 1.0  # of worthy sentences in the loss
    focal: float = 0.0  # exponent that makes easy sentences count less
    smooth: float = 0.0  # how much of a label is given to the other class
    dropout: float = 0.1
    noise: float = 0.1  # share of sentences that are read as a draft might have them
    named: float = 0.5  # of sentences that name whom they cite, the share that keep the names
    joined: float = 0.0  # share of paragraphs that are read together with those beside them
    average: float = 0.0  # decay of the running mean of the weights, which is then what counts; 0: the last weights
    conform: bool = False  # train only on paragraphs that conform to CiteWorth's rules
    frozen: bool = False  # leave the embeddings of words as they are
    seed: int = 0

    def __post_init__(self) -> None:
        variant(self.variant)
        if self.epochs < 1 or self.tokens < self.limit or self.limit < 64:
            raise UserError("training needs an epoch, a limit of 64 tokens or more, and batches that hold as many")
        if not 0 <= self.average < 1:
            raise UserError(f"the decay of the mean of the weights must be below 1, not {self.average}")
