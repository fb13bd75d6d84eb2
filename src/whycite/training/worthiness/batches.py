"""Batches of paragraphs, packed behind each other without gaps, made anew for every epoch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.training.worthiness.passes import Passes, passes
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.texts import FORMS, UNKNOWN, Texts
from whycite.worthiness.variants import variant

if TYPE_CHECKING:
    from whycite.worthiness.inputs import Frame

__all__ = ["Batch", "Maker", "shuffled"]

Numbers = NDArray[np.int64]
_LOTS = (0.15, 0.1, 0.5, 0.25)  # how often a section is told by each of `FORMS`, where that is left to the lot


@dataclass(frozen=True, slots=True)
class Batch:
    """Passes behind each other, filled up to a size; `owner` is the place in `sentences` of whom a token belongs to.

    Tokens that belong to none of them have the number of sentences.
    """

    tokens: Numbers
    positions: Numbers
    bounds: NDArray[np.int32]  # where passes begin, and where the last one ends, as often as there is room for
    owner: Numbers
    separators: Numbers
    marks: NDArray[np.int8]
    sentences: Numbers


@dataclass(frozen=True)
class Maker:
    """Makes batches of paragraphs, in their order; what is drawn hangs on the seed."""

    texts: Texts
    frame: Frame
    recipe: Recipe
    paragraphs: Numbers
    seed: int
    learning: bool  # with what is drawn by lot: other forms of sentences, headings

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> Batch:
        if number >= len(self):
            raise IndexError(number)
        return self._batch(self._parts[number])

    @cached_property
    def _read(self) -> Passes:
        texts, recipe = self.texts, self.recipe
        random = np.random.default_rng((self.seed, recipe.seed))
        forms, top = texts.own, "top" if recipe.heading == "any" else recipe.heading
        told = np.full(len(texts.sections), FORMS.index(top))
        if self.learning:
            drawn = random.random((2, len(forms)), np.float32)
            forms = np.where((texts.named >= 0) & (drawn[0] < recipe.named), texts.named, forms)
            forms = np.where((texts.noisy >= 0) & (drawn[1] < 0.5), texts.noisy, forms)
            if recipe.heading == "any":
                told = random.choice(len(FORMS), len(told), p=_LOTS)
        sections = texts.sections[np.arange(len(told)), told]
        return passes(texts, forms, sections, variant(recipe.variant), self.frame)

    @cached_property
    def _parts(self) -> list[Numbers]:
        """The paragraphs of each batch: as many as fill it."""
        found: list[list[int]] = []
        room = 0
        for at, size in zip(self.paragraphs.tolist(), self._read.sizes[self.paragraphs].tolist(), strict=True):
            if not found or size > room:
                found.append([])
                room = self.recipe.tokens
            found[-1].append(at)
            room -= size
        return [np.array(part) for part in found]

    def _batch(self, paragraphs: Numbers) -> Batch:
        spans = self._read.spans(paragraphs)
        lengths = spans.lengths
        starts = np.where(spans.texts > 0, self.texts.ends[spans.texts - 1], 0)
        before = np.cumsum(lengths) - lengths
        used = int(lengths.sum())
        within = np.repeat(starts - before, lengths) + np.arange(used)
        signs = np.repeat(spans.signs, lengths)
        within[signs >= 0] = 0
        tokens = np.where(signs >= 0, signs, self.texts.tokens[within])
        owner, number = np.repeat(spans.owner, lengths), len(spans.sentences)
        marks = np.where((signs >= 0) | (owner == number), UNKNOWN, self.texts.marks[within])
        bounds = np.append(before[spans.heads], used)
        positions = np.arange(used) - np.repeat(bounds[:-1], np.diff(bounds))
        size, limit = max(self.recipe.tokens, used), self.frame.limit
        rest = size - used
        more = used + np.minimum(np.arange(1, -(-rest // limit) + 1) * limit, rest)
        bounds = np.concatenate([bounds, more])
        full = np.full(max(size // 8, len(bounds)), size, np.int32)
        full[: len(bounds)] = bounds
        return Batch(
            np.append(tokens, np.full(rest, self.frame.separator)),
            np.append(positions, np.arange(rest) % limit),
            full,
            np.append(owner, np.full(rest, number)),
            before[spans.separators],
            np.append(marks, np.full(rest, UNKNOWN)).astype(np.int8),
            spans.sentences,
        )


def shuffled(texts: Texts, documents: Numbers, recipe: Recipe, seed: int) -> Numbers:
    """The paragraphs to learn from in one epoch, in an order of its own."""
    inside = np.isin(texts.documents, documents)
    if recipe.conform:
        inside &= texts.kinds == 0
    return np.random.default_rng((seed, recipe.seed)).permutation(np.flatnonzero(inside))
