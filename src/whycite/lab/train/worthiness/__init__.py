"""Train the model that decides whether a sentence needs a citation: its settings, in one place.

Training needs only packed examples, torch and numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from whycite.check.detector import find_variant
from whycite.errors import UserError
from whycite.models import DEFAULT

__all__ = ["Heading", "Readout", "WorthinessRecipe", "scope_recipe"]

Readout = Literal["mean", "separator", "start"]
Heading = Literal["any", "top", "path", "type", "none"]


@dataclass(frozen=True, slots=True)
class WorthinessRecipe:
    """Settings of training; `scope_recipe` has those of SCOPE."""

    base: str = DEFAULT
    variant: str = "ctx-section-extra"
    readout: Readout = "mean"  # over a sentence's own tokens, at the separator after it, or at the start of its pass
    heading: Heading = "any"  # what represents the section: random, its top heading, all headings, its type
    epochs: int = 6
    rate: float = 4e-4
    warm_up: float = 0.06  # share of training in which the rate rises
    warm_up_steps: int = 0  # in which it rises instead, however long training takes
    decay: float = 0.01
    tokens: int = 32_768  # per batch: about 128 paragraphs
    limit: int = 512  # tokens per pass
    dropout: float = 0.1
    noise: float = 0.1  # share of sentences made to look like those of a draft
    named: float = (
        0.5  # share of sentences with a hole that is filled by the names of those they cite, not as `repaired_texts`
    )
    marks: float = 0.1  # weight of predicting which tokens citations followed, next to which sentences cite
    folds: int = 2  # parts of the documents, each judged by a model trained on the others for half the epochs
    judge: str = ""  # base of these models, possibly larger than `base`, which is the default
    judge_rate: float = 1e-4  # their learning rate, if they start from another base
    soft: float = 0.5  # share of the final target that is their judgement, not the label; none with 0 folds
    conform: bool = False  # train only on paragraphs that conform to CiteWorth's rules
    words: int = 0  # pieces of the base's vocabulary that are kept, 0 for all
    inner: int = 0  # inner width of a smaller network that learns from one of the base's size, 0 for none
    layers: int = 0  # its layers, evenly spaced among those of the larger one, 0 for all
    likeness: float = 1.0  # weight of its states being like those of the larger one, falling to 0
    reader: float = 0.3  # weight of a reader's labels, if there are any
    bits: int = 8  # of the weights that are written, or 4
    seed: int = 0

    def __post_init__(self) -> None:
        if find_variant(self.variant).context and self.readout == "start":
            raise UserError("the start of a pass can only be read for one sentence at a time; choose a solo variant")
        if self.epochs < 1 or self.tokens < self.limit or self.limit < 64:
            raise UserError(
                "training needs at least 1 epoch, a limit of at least 64 tokens, and batches of at least that size"
            )
        if self.folds == 1 or self.folds < 0 or not 0 <= self.soft <= 1:
            raise UserError("--folds must be 0 or at least 2, and --soft between 0 and 1")
        if self.judge and not (self.folds and self.soft):
            raise UserError(f"--judge {self.judge} needs at least two --folds")

        if self.inner and self.judge:
            raise UserError("--inner makes a smaller network of the base, which judges itself: leave out --judge")
        if self.words and not self.inner:
            raise UserError("--words needs --inner: a shorter vocabulary is for a smaller network")
        if self.layers and not self.inner:
            raise UserError("--layers needs --inner: it is the depth of a smaller network")
        if self.bits not in (8, 4):
            raise UserError(f"--bits {self.bits}: weights have 8 bits or 4")

    @property
    def judging(self) -> WorthinessRecipe:
        """The recipe of the models whose judgement is learned from."""
        return replace(self, base=self.judge, rate=self.judge_rate, judge="") if self.judge else self


def scope_recipe(variant: str, base: str = DEFAULT, seed: int = 0) -> WorthinessRecipe:
    """SCOPE's own recipe (4.5.1, D.3): types of sections, conforming paragraphs, labels alone, and no noise.

    A paragraph is read out at the separators, a single sentence at the start. Batches of four paragraphs are about
    1,024 tokens, and of four sentences less than a pass may have.
    """
    context = find_variant(variant).context
    return WorthinessRecipe(
        base=base,
        variant=variant,
        readout="separator" if context else "start",
        heading="type",
        epochs=3,
        rate=1.112e-5 if context else 1.351e-6,
        warm_up_steps=300,
        decay=0.0 if context else 0.1,
        tokens=1024 if context else 512,
        dropout=0.1,
        noise=0.0,
        named=0.0,
        marks=0.0,
        folds=0,
        soft=0.0,
        conform=True,
        seed=seed,
    )
