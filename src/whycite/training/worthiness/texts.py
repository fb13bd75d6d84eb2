"""Labelled documents as arrays of tokens, small enough to be shared by processes that make batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from multiprocessing import get_context
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whycite.evaluation.worthiness import KINDS, kind
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.worthiness.noise import noisy

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

__all__ = ["FORMS", "PLACE", "UNKNOWN", "Texts", "heading", "read"]

FORMS = ("none", "type", "top", "path")
"""How the section can be told: not at all, by its type, by its top heading, by all headings."""

PLACE, UNKNOWN = 1, 2
"""Of a token: a group of citations stood behind it; nobody knows whether one did."""

_AT_ONCE = 100  # documents


@dataclass(frozen=True, slots=True)
class Texts:
    """Tokens of all texts behind each other; sentences, other forms of them, and headings are texts."""

    tokens: NDArray[np.int32]
    marks: NDArray[np.int8]  # of each token: whether citations stood behind it
    ends: NDArray[np.int64]  # of each text
    own: NDArray[np.int64]  # of each sentence its text
    noisy: NDArray[np.int64]  # of each sentence its noisy form, -1 where there is none
    named: NDArray[np.int64]  # of each sentence the form with names
    worthy: NDArray[np.bool_]
    paragraphs: NDArray[np.int64]  # where the sentences of each begin, and the number of sentences behind the last
    sections: NDArray[np.int64]  # paragraphs x forms: the heading
    documents: NDArray[np.int64]  # of each paragraph the number of its document
    kinds: NDArray[np.int8]  # of each paragraph
    types: NDArray[np.object_]  # of each paragraph

    def of(self, index: int) -> NDArray[np.int32]:
        """The tokens of a text."""
        return self.tokens[self.ends[index - 1] if index else 0 : self.ends[index]]

    def by_sentence(self, values: NDArray[Any]) -> NDArray[Any]:
        """What holds for paragraphs, for each sentence."""
        return np.repeat(values, np.diff(self.paragraphs))


def read(
    documents: Sequence[LabelledDocument], tokenizer: Tokenizer, noise: float, seed: int, workers: int = 0
) -> Texts:
    """The documents for a tokenizer; so great a share of sentences gets a noisy form beside its own."""
    slices = [(documents[at : at + _AT_ONCE], at, tokenizer, noise, seed) for at in range(0, len(documents), _AT_ONCE)]
    if workers < 2 or len(slices) < 2:
        return _together([_read(part) for part in slices])
    with ProcessPoolExecutor(min(workers, len(slices)), get_context("spawn")) as pool:
        return _together(list(pool.map(_read, slices)))


def _together(parts: Sequence[Texts]) -> Texts:
    """The documents of several as those of one."""
    found: dict[str, list[NDArray[Any]]] = {field.name: [] for field in fields(Texts)}
    tokens = texts = sentences = 0
    for part in parts:
        shifts = {"ends": tokens, "own": texts, "noisy": texts, "named": texts, "sections": texts,
                  "paragraphs": sentences}  # fmt: skip
        for name, values in found.items():
            own = getattr(part, name)
            own = own if name != "paragraphs" else own[:-1]
            shift = shifts.get(name, 0)
            values.append(np.where(own < 0, -1, own + shift) if shift else own)
        tokens, texts = tokens + len(part.tokens), texts + len(part.ends)
        sentences += len(part.worthy)
    found["paragraphs"].append(np.array([sentences]))
    return Texts(**{name: np.concatenate(values) for name, values in found.items()})


def _read(part: tuple[Sequence[LabelledDocument], int, Tokenizer, float, int]) -> Texts:
    """Some documents, of which the first has that number among all."""
    documents, first, tokenizer, noise, seed = part
    random = Random(seed + first)
    labelled = [
        (number, paragraph) for number, document in enumerate(documents, first) for paragraph in document.paragraphs
    ]
    sentences = [each for _, paragraph in labelled for each in paragraph.sentences]
    texts = [each.text for each in sentences]
    noises, names = np.full((2, len(texts)), -1, np.int64)
    for at, sentence in enumerate(sentences):
        if random.random() < noise:
            noises[at] = len(texts)
            texts.append(noisy(sentence.text, random))
        if sentence.named:
            names[at] = len(texts)
            texts.append(sentence.named)
    headings: dict[str, int] = {}
    sections = [
        [headings.setdefault(heading(own, form), len(texts) + len(headings)) for form in FORMS] for _, own in labelled
    ]
    encoded = tokenizer.encode_batch([*texts, *headings], add_special_tokens=False)
    lengths = [len(each.ids) for each in encoded]
    return Texts(
        tokens=np.fromiter((token for each in encoded for token in each.ids), np.int32, sum(lengths)),
        marks=np.concatenate([np.zeros(0, np.int8), *_marks(encoded, sentences)]),
        ends=np.cumsum(np.array(lengths, np.int64)),
        own=np.arange(len(sentences)),
        noisy=noises,
        named=names,
        worthy=np.array([each.worthy for each in sentences], bool),
        paragraphs=np.cumsum([0, *(len(own.sentences) for _, own in labelled)]),
        sections=np.array(sections, np.int64).reshape(-1, len(FORMS)),
        documents=np.array([number for number, _ in labelled], np.int64),
        kinds=np.array([KINDS.index(kind(own)) for _, own in labelled], np.int8),
        types=np.array([own.section_type for _, own in labelled], object),
    )


def _marks(encoded: Sequence[Encoding], sentences: Sequence[LabelledSentence]) -> Iterator[NDArray[np.int8]]:
    """The marks of the tokens of each text; only those of the sentences as they are can be known."""
    for at, text in enumerate(encoded):
        sentence = sentences[at] if at < len(sentences) else None
        known = sentence is not None and (bool(sentence.places) or not sentence.worthy)
        marks = np.full(len(text.ids), 0 if known else UNKNOWN, np.int8)
        if sentence is not None and sentence.places and len(marks):
            starts = np.array([start for start, _ in text.offsets])
            marks[np.maximum(np.searchsorted(starts, sentence.places) - 1, 0)] = PLACE
        yield marks


def heading(paragraph: LabelledParagraph, form: str) -> str:
    """What stands for the section of a paragraph."""
    if form == "none":
        return ""
    if form == "type":
        return paragraph.section_type or ""
    return ": ".join(paragraph.headings if form == "path" else paragraph.headings[:1])
