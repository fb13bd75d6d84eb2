"""Labelled documents as arrays of tokens, small enough to be shared by processes that make batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.evaluation.worthiness import KINDS, kind
from whycite.worthiness.model import LabelledDocument, LabelledParagraph
from whycite.worthiness.noise import noisy

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["FORMS", "Texts", "heading", "read"]

FORMS = ("none", "type", "top", "path")
"""How the section can be told: not at all, by its type, by its top heading, by all headings."""

_AT_ONCE = 50_000  # texts


@dataclass(frozen=True, slots=True)
class Texts:
    """Tokens of all texts behind each other: sentences in order, then other forms of them, then headings."""

    tokens: NDArray[np.int32]
    ends: NDArray[np.int64]
    worthy: NDArray[np.bool_]
    noisy: NDArray[np.int64]  # of each sentence the index of its noisy form, -1 where there is none
    named: NDArray[np.int64]  # of each sentence the index of the form with names
    paragraphs: NDArray[np.int64]  # where the sentences of each begin, and the number of sentences behind the last
    sections: NDArray[np.int64]  # paragraphs x forms: the index of the heading
    documents: NDArray[np.int64]  # of each paragraph the number of its document
    kinds: NDArray[np.int8]  # of each paragraph
    types: tuple[str | None, ...]  # of each paragraph

    def of(self, index: int) -> NDArray[np.int32]:
        """The tokens of a text."""
        return self.tokens[self.ends[index - 1] if index else 0 : self.ends[index]]

    def by_sentence(self, values: Sequence[object] | NDArray[np.int8]) -> NDArray[np.object_]:
        """What holds for paragraphs, for each sentence."""
        return np.repeat(np.array(values, object), np.diff(self.paragraphs))


def read(documents: Iterable[LabelledDocument], tokenizer: Tokenizer, noise: float, seed: int) -> Texts:
    """The documents for a tokenizer; so great a share of sentences gets a noisy form beside its own."""
    random = Random(seed)
    texts: list[str] = []
    others: list[str] = []
    worthy, noises, names, starts, numbers, kinds, types, sections = [], [], [], [0], [], [], [], []
    headings: dict[str, int] = {}
    for number, document in enumerate(documents):
        for paragraph in document.paragraphs:
            for sentence in paragraph.sentences:
                texts.append(sentence.text)
                worthy.append(sentence.worthy)
                noises.append(_keep(noisy(sentence.text, random), others) if random.random() < noise else -1)
                names.append(_keep(sentence.named, others) if sentence.named else -1)
            starts.append(len(texts))
            numbers.append(number)
            kinds.append(KINDS.index(kind(paragraph)))
            types.append(paragraph.section_type)
            sections.append([headings.setdefault(heading(paragraph, form), len(headings)) for form in FORMS])
    tokens, ends = _tokens([*texts, *others, *headings], tokenizer)
    return Texts(
        tokens, ends, np.array(worthy, bool), _behind(noises, len(texts)), _behind(names, len(texts)),
        np.array(starts), np.array(sections).reshape(-1, len(FORMS)) + len(texts) + len(others), np.array(numbers),
        np.array(kinds, np.int8), tuple(types),
    )  # fmt: skip


def heading(paragraph: LabelledParagraph, form: str) -> str:
    """What stands for the section of a paragraph."""
    if form == "none":
        return ""
    if form == "type":
        return paragraph.section_type or ""
    return ": ".join(paragraph.headings if form == "path" else paragraph.headings[:1])


def _keep(text: str, others: list[str]) -> int:
    others.append(text)
    return len(others) - 1


def _behind(indices: list[int], texts: int) -> NDArray[np.int64]:
    found = np.array(indices, np.int64)
    return np.where(found < 0, -1, found + texts)


def _tokens(texts: Sequence[str], tokenizer: Tokenizer) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    parts, lengths = [], []
    for at in range(0, len(texts), _AT_ONCE):
        for found in tokenizer.encode_batch_fast(list(texts[at : at + _AT_ONCE]), add_special_tokens=False):
            parts.append(np.array(found.ids, np.int32))
            lengths.append(len(found.ids))
    return np.concatenate(parts) if parts else np.zeros(0, np.int32), np.cumsum(np.array(lengths, np.int64))
