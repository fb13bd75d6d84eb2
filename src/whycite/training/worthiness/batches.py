"""Batches of paragraphs of like length, made anew for every epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.texts import FORMS, Texts
from whycite.worthiness.inputs import Frame, Reading, readings
from whycite.worthiness.variants import Variant, variant

__all__ = ["Batch", "Maker", "groups"]

_LOTS = (0.15, 0.1, 0.5, 0.25)  # how often a section is told by each of `FORMS`, where that is left to the lot


@dataclass(frozen=True, slots=True)
class Batch:
    """Readings below each other, padded; `own` are places in the flattened tokens and `owner` whose they are."""

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    own: NDArray[np.int64]
    owner: NDArray[np.int64]
    separators: NDArray[np.int64]
    sentences: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes batches of the paragraphs in groups: one for each number; what is drawn hangs on seed and number."""

    texts: Texts
    frame: Frame
    recipe: Recipe
    groups: Sequence[NDArray[np.int64]]  # paragraphs, those read together as one row
    chunk: int  # groups that are sorted by length together
    seed: int
    learning: bool  # with what is drawn by lot: other forms of sentences, headings

    def __len__(self) -> int:
        return -(-len(self.groups) // self.chunk)

    def __getitem__(self, number: int) -> list[Batch]:
        if number >= len(self):
            raise IndexError(number)
        random = np.random.default_rng((self.seed, number))
        chosen = self.groups[number * self.chunk : (number + 1) * self.chunk]
        kind = variant(self.recipe.variant)
        read = [each for group in chosen for each in self._readings(group, kind, random)]
        made = [self._batch(part) for part in _parts(read, self.recipe.tokens)]
        if self.learning:
            random.shuffle(made)
        return made

    def _readings(
        self, group: NDArray[np.int64], kind: Variant, random: np.random.Generator
    ) -> Iterator[tuple[NDArray[np.int64], Reading]]:
        texts = self.texts
        starts, stops = texts.paragraphs[group], texts.paragraphs[group + 1]
        sentences = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
        forms = self._forms(sentences, random) if self.learning else sentences
        form = FORMS.index("top") if self.recipe.heading == "any" else FORMS.index(self.recipe.heading)
        if self.learning and self.recipe.heading == "any":
            form = int(random.choice(len(FORMS), p=_LOTS))
        section = texts.of(int(texts.sections[group[0], form])).tolist()
        for reading in readings([texts.of(int(at)).tolist() for at in forms], section, kind, self.frame):
            yield sentences, reading

    def _forms(self, sentences: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """The sentences in the form they are read in this time."""
        named, noisy = self.texts.named[sentences], self.texts.noisy[sentences]
        drawn = random.random((2, len(sentences)))
        forms = np.where((named >= 0) & (drawn[0] < self.recipe.named), named, sentences)
        return np.where((noisy >= 0) & (drawn[1] < 0.5), noisy, forms)

    def _batch(self, part: Sequence[tuple[NDArray[np.int64], Reading]]) -> Batch:
        width = max(len(reading.tokens) for _, reading in part)
        tokens = np.zeros((len(part), width), np.int64)
        own, owner, separators = [], [], []
        sentences: list[np.int64] = []
        for row, (indices, reading) in enumerate(part):
            tokens[row, : len(reading.tokens)] = reading.tokens
            for index, start, stop in reading.sentences:
                own.append(np.arange(row * width + start, row * width + max(stop, start + 1)))
                owner.append(np.full(len(own[-1]), len(sentences)))
                separators.append(row * width + stop)
                sentences.append(indices[index])
        lengths = np.array([len(reading.tokens) for _, reading in part])
        return Batch(
            tokens, lengths, np.concatenate(own), np.concatenate(owner), np.array(separators), np.array(sentences)
        )


def groups(texts: Texts, recipe: Recipe, seed: int) -> list[NDArray[np.int64]]:
    """The paragraphs to learn from in one epoch, in an order of its own; some with those beside them in the section."""
    random = np.random.default_rng(seed)
    sizes = np.diff(texts.ends[texts.paragraphs[1:] - 1], prepend=0) if len(texts.paragraphs) > 1 else np.zeros(0, int)
    found: list[NDArray[np.int64]] = []
    open_: list[int] = []
    room = 0
    for at, size in enumerate(sizes):
        if recipe.conform and texts.kinds[at] != 0:
            continue
        beside = open_ and open_[-1] == at - 1 and _same(texts, at - 1, at) and size <= room
        if not beside or random.random() >= recipe.joined:
            if open_:
                found.append(np.array(open_))
            open_, room = [], recipe.limit * 7 // 8
        open_.append(at)
        room -= size
    if open_:
        found.append(np.array(open_))
    return [found[at] for at in random.permutation(len(found))]


def _same(texts: Texts, left: int, right: int) -> bool:
    """Whether two paragraphs stand in one section of one document."""
    return bool(
        texts.documents[left] == texts.documents[right] and np.array_equal(texts.sections[left], texts.sections[right])
    )


def _parts(
    read: Sequence[tuple[NDArray[np.int64], Reading]], tokens: int
) -> Iterator[list[tuple[NDArray[np.int64], Reading]]]:
    """Readings of like length together, so many that padded they have at most so many tokens."""
    part: list[tuple[NDArray[np.int64], Reading]] = []
    for each in sorted(read, key=lambda pair: -len(pair[1].tokens)):
        if part and len(part[0][1].tokens) * (len(part) + 1) > tokens:
            yield part
            part = []
        part.append(each)
    if part:
        yield part
