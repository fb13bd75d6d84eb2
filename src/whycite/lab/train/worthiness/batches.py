"""Turn labelled documents into batches: tokenize texts, plan the passes that read them, pack passes without gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property
from multiprocessing import get_context
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whycite.check.detector import MAX_SECTION_TOKENS, InputVariant, SequenceFrame, Window, find_variant, windows
from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.lab.scope.worthinessmeasures import KINDS, paragraph_kind
from whycite.lab.train.worthiness import WorthinessRecipe
from whycite.lab.train.worthiness.examples import add_noise

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

__all__ = [
    "FORMS",
    "PLACE",
    "TASK_DOCUMENTS",
    "UNKNOWN",
    "PassSpans",
    "Passes",
    "TokenTexts",
    "WorthinessBatch",
    "WorthinessBatches",
    "heading",
    "plan_passes",
    "ranges",
    "shuffled_paragraphs",
    "tokenize_documents",
]


FORMS = ("none", "type", "top", "path")
"""How the section can be shown: not at all, by its type, by its top heading, by all headings."""

PLACE, UNKNOWN = 1, 2
"""Marks of a token: followed by a group of citations; not known whether it was."""

TASK_DOCUMENTS = 100  # documents per task
_SORTED_BATCHES = 24  # batches whose paragraphs are sorted by length together


@dataclass(frozen=True, slots=True)
class TokenTexts:
    """The tokens of all texts, concatenated; sentences, their other forms, and headings are texts."""

    tokens: NDArray[np.int32]
    marks: NDArray[np.int8]  # whether citations followed each token
    ends: NDArray[np.int64]  # end of each text
    own: NDArray[np.int64]  # text of each sentence
    noisy: NDArray[np.int64]  # noisy form of each sentence, -1 if none
    named: NDArray[np.int64]  # form of each sentence with names
    worthy: NDArray[np.bool_]
    reader: NDArray[np.int8]  # what a reader says of each sentence, -1 if not asked
    paragraphs: NDArray[np.int64]  # first sentence of each paragraph, then the number of sentences
    sections: NDArray[np.int64]  # paragraphs x forms: the heading
    documents: NDArray[np.int64]  # document number of each paragraph
    kinds: NDArray[np.int8]  # per paragraph
    types: NDArray[np.object_]  # per paragraph

    def tokens_of(self, index: int) -> NDArray[np.int32]:
        """The tokens of a text."""
        return self.tokens[self.ends[index - 1] if index else 0 : self.ends[index]]

    def by_sentence(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat values of paragraphs for each of their sentences."""
        return np.repeat(values, np.diff(self.paragraphs))


def tokenize_documents(
    documents: Sequence[LabelledDocument], tokenizer: Tokenizer, noise: float, seed: int, workers: int = 0
) -> TokenTexts:
    """Tokenize documents; the share `noise` of sentences also gets a noisy form."""
    slices = [
        (documents[start : start + TASK_DOCUMENTS], start, tokenizer, noise, seed)
        for start in range(0, len(documents), TASK_DOCUMENTS)
    ]
    if workers < 2 or len(slices) < 2:
        return _concatenate([_tokenize_part(part) for part in slices])
    with ProcessPoolExecutor(min(workers, len(slices)), get_context("spawn")) as pool:
        return _concatenate(list(pool.map(_tokenize_part, slices)))


def _concatenate(parts: Sequence[TokenTexts]) -> TokenTexts:
    """Concatenate the documents of several parts."""
    columns: dict[str, list[NDArray[Any]]] = {field.name: [] for field in fields(TokenTexts)}
    tokens = texts = sentences = 0
    for part in parts:
        shifts = {"ends": tokens, "own": texts, "noisy": texts, "named": texts, "sections": texts,
                  "paragraphs": sentences}  # fmt: skip
        for name, values in columns.items():
            column = getattr(part, name)
            column = column if name != "paragraphs" else column[:-1]
            shift = shifts.get(name, 0)
            values.append(np.where(column < 0, -1, column + shift) if shift else column)
        tokens, texts = tokens + len(part.tokens), texts + len(part.ends)
        sentences += len(part.worthy)
    columns["paragraphs"].append(np.array([sentences]))
    return TokenTexts(**{name: np.concatenate(values) for name, values in columns.items()})


def _tokenize_part(part: tuple[Sequence[LabelledDocument], int, Tokenizer, float, int]) -> TokenTexts:
    """Tokenize some documents, given the number of the first among all."""
    documents, first_number, tokenizer, noise, seed = part
    random = Random(seed + first_number)
    labelled = [
        (number, paragraph)
        for number, document in enumerate(documents, first_number)
        for paragraph in document.paragraphs
    ]
    sentences = [sentence for _, paragraph in labelled for sentence in paragraph.sentences]
    texts = [sentence.text for sentence in sentences]
    noises, names = np.full((2, len(texts)), -1, np.int64)
    for index, sentence in enumerate(sentences):
        if random.random() < noise:
            noises[index] = len(texts)
            texts.append(add_noise(sentence.text, random))
        if sentence.text_with_names:
            names[index] = len(texts)
            texts.append(sentence.text_with_names)
    headings: dict[str, int] = {}
    sections = [
        [headings.setdefault(heading(paragraph, form), len(texts) + len(headings)) for form in FORMS]
        for _, paragraph in labelled
    ]
    encoded = tokenizer.encode_batch([*texts, *headings], add_special_tokens=False)
    lengths = [len(encoding.ids) for encoding in encoded]
    return TokenTexts(
        tokens=np.fromiter((token for encoding in encoded for token in encoding.ids), np.int32, sum(lengths)),
        marks=np.concatenate([np.zeros(0, np.int8), *_marks(encoded, sentences)]),
        ends=np.cumsum(np.array(lengths, np.int64)),
        own=np.arange(len(sentences)),
        noisy=noises,
        named=names,
        worthy=np.array([sentence.worthy for sentence in sentences], bool),
        reader=np.array([sentence.reader_label for sentence in sentences], np.int8),
        paragraphs=np.cumsum([0, *(len(paragraph.sentences) for _, paragraph in labelled)]),
        sections=np.array(sections, np.int64).reshape(-1, len(FORMS)),
        documents=np.array([number for number, _ in labelled], np.int64),
        kinds=np.array([KINDS.index(paragraph_kind(paragraph)) for _, paragraph in labelled], np.int8),
        types=np.array([paragraph.section_type for _, paragraph in labelled], object),
    )


def _marks(encoded: Sequence[Encoding], sentences: Sequence[LabelledSentence]) -> Iterator[NDArray[np.int8]]:
    """The marks of each text's tokens, known only for sentences in their own form."""
    for index, text in enumerate(encoded):
        sentence = sentences[index] if index < len(sentences) else None
        is_known = sentence is not None and (bool(sentence.group_offsets) or not sentence.worthy)
        marks = np.full(len(text.ids), 0 if is_known else UNKNOWN, np.int8)
        if sentence is not None and sentence.group_offsets and len(marks):
            starts = np.array([start for start, _ in text.offsets])
            marks[np.maximum(np.searchsorted(starts, sentence.group_offsets) - 1, 0)] = PLACE
        yield marks


def heading(paragraph: LabelledParagraph, form: str) -> str:
    """The text that represents the section of a paragraph."""
    if form == "none":
        return ""
    if form == "type":
        return paragraph.section_type or ""
    return ": ".join(paragraph.headings if form == "path" else paragraph.headings[:1])


Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PassSpans:
    """The texts and special tokens of passes, in order."""

    texts: Numbers
    lengths: Numbers
    signs: Numbers  # id of a special token, -1 for texts
    owner: Numbers  # index of a span's sentence in `sentences`, or their number if it has none
    heads: Numbers  # first span of each pass
    separators: Numbers  # span after each sentence
    sentences: Numbers


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes over all paragraphs: which sentences each reads, and which of them it judges."""

    variant: InputVariant
    frame: SequenceFrame
    forms: Numbers  # text read for each sentence
    lengths: Numbers  # tokens read of each sentence
    sections: Numbers  # text for each paragraph
    section_lengths: Numbers
    windows: Numbers  # passes x 5: paragraph, start, stop, first, last
    first_pass: Numbers  # first pass of each paragraph, then the number of passes
    sizes: Numbers  # tokens in the passes of each paragraph

    def spans(self, paragraphs: Numbers) -> PassSpans:
        """The spans read for some paragraphs, concatenated."""
        rows = self.windows[ranges(self.first_pass[paragraphs], self.first_pass[paragraphs + 1])]
        paragraph, start, stop, judged_start, judged_stop = rows.T
        counts = stop - start
        heads = 3 * (np.cumsum(1 + counts) - 1 - counts)
        sentence = ranges(start, stop)
        window = np.repeat(np.arange(len(rows)), counts)
        number = sentence - start[window]
        place = heads[window] + 3 + 3 * number
        judged = (sentence >= judged_start[window]) & (sentence < judged_stop[window])
        total, judging = 3 * (len(rows) + len(sentence)), int(judged.sum())
        texts, lengths, signs = np.zeros(total, np.int64), np.zeros(total, np.int64), np.full(total, -1)
        owner = np.full(total, judging)
        always, leading = self.variant.section == "always", self.variant.section == "first"
        extra = self.variant.section == "extra"
        signs[heads], lengths[heads] = self.frame.start_token, 1
        texts[heads + 1], lengths[heads + 1] = self.sections[paragraph], self.section_lengths[paragraph] * extra
        signs[heads + 2], lengths[heads + 2] = self.frame.separator, int(extra)
        texts[place] = self.sections[paragraph[window]]
        lengths[place] = self.section_lengths[paragraph[window]] * (always | (leading & (number == 0)))
        texts[place + 1], lengths[place + 1] = self.forms[sentence], self.lengths[sentence]
        signs[place + 2], lengths[place + 2] = self.frame.separator, 1
        slots = np.where(judged, np.cumsum(judged) - 1, judging)
        owner[place + 1] = slots
        empty = self.lengths[sentence] == 0
        owner[place[empty] + 2] = slots[empty]
        return PassSpans(texts, lengths, signs, owner, heads, place[judged] + 2, sentence[judged])


def plan_passes(
    texts: TokenTexts, forms: Numbers, sections: Numbers, variant: InputVariant, frame: SequenceFrame
) -> Passes:
    """Plan passes that judge every sentence of every paragraph once."""
    every = np.diff(texts.ends, prepend=0)
    section_lengths = np.minimum(every[sections], MAX_SECTION_TOKENS) * (variant.section != "none")
    repeated_lengths = section_lengths if variant.section == "always" else np.zeros_like(section_lengths)
    room = frame.limit - 1 - (section_lengths + 1) * (variant.section in ("extra", "first"))
    longest = room - repeated_lengths - 1
    if len(longest) and longest.min() < 1:
        raise ValueError(f"a limit of {frame.limit} tokens is too small for a sentence")
    lengths = np.minimum(every[forms], texts.by_sentence(longest))
    costs = lengths + 1 + texts.by_sentence(repeated_lengths)
    start, stop = texts.paragraphs[:-1], texts.paragraphs[1:]
    sums = np.concatenate([[0], np.cumsum(costs)])
    whole = sums[stop] - sums[start]
    rows = np.stack([np.arange(len(start)), start, stop, start, stop], axis=1)
    if not variant.context:
        lone = np.arange(len(forms))
        rows = np.stack([texts.by_sentence(np.arange(len(start))), lone, lone + 1, lone, lone + 1], axis=1)
    else:
        long = np.flatnonzero(whole > room)
        parted = [
            _row(paragraph, int(start[paragraph]), window)
            for paragraph in long.tolist()
            for window in windows(costs[start[paragraph] : stop[paragraph]].tolist(), int(room[paragraph]))
        ]
        rows = np.concatenate([np.delete(rows, long, axis=0), np.array(parted, np.int64).reshape(-1, 5)])
        rows = rows[np.lexsort((rows[:, 3], rows[:, 0]))]
    first_passes = np.searchsorted(rows[:, 0], np.arange(len(start) + 1))
    used = sums[rows[:, 2]] - sums[rows[:, 1]] + 1 + ((section_lengths + 1) * (variant.section == "extra"))[rows[:, 0]]
    used = used + (section_lengths * (variant.section == "first"))[rows[:, 0]]
    sizes = np.bincount(rows[:, 0], used, len(start)).astype(np.int64)
    return Passes(variant, frame, forms, lengths, sections, section_lengths, rows, first_passes, sizes)


def _row(paragraph: int, start: int, window: Window) -> tuple[int, int, int, int, int]:
    return (
        paragraph,
        start + window.start,
        start + window.stop,
        start + window.judged_start,
        start + window.judged_stop,
    )


def ranges(starts: Numbers, stops: Numbers) -> Numbers:
    """The numbers of each range from start to stop, concatenated."""
    counts = stops - starts
    return np.repeat(stops - np.cumsum(counts), counts) + np.arange(int(counts.sum()))


Indices = NDArray[np.int64]
_LOTS = (0.15, 0.1, 0.5, 0.25)  # how often each of `FORMS` is used when drawn at random


@dataclass(frozen=True, slots=True)
class WorthinessBatch:
    """Concatenated passes, padded to a size; `owner` is the index in `sentences` of the sentence a token belongs to.

    For tokens that belong to none it is the number of sentences.
    """

    tokens: Indices
    positions: Indices
    bounds: NDArray[np.int32]  # where each pass starts, then the end of the last, repeated to fill the array
    owner: Indices
    separators: Indices
    marks: NDArray[np.int8]
    sentences: Indices


@dataclass(frozen=True)
class WorthinessBatches:
    """Makes batches of paragraphs, in order; random draws depend on the seed."""

    texts: TokenTexts
    frame: SequenceFrame
    recipe: WorthinessRecipe
    paragraphs: Indices
    seed: int
    learning: bool  # draw other forms of sentences and headings at random

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, number: int) -> WorthinessBatch:
        if number >= len(self):
            raise IndexError(number)
        return self._batch(self._groups[number])

    @cached_property
    def _passes(self) -> Passes:
        texts, recipe = self.texts, self.recipe
        random = np.random.default_rng((self.seed, recipe.seed))
        forms, top = texts.own, "top" if recipe.heading == "any" else recipe.heading
        section_forms = np.full(len(texts.sections), FORMS.index(top))
        if self.learning:
            drawn = random.random((2, len(forms)), np.float32)
            forms = np.where((texts.named >= 0) & (drawn[0] < recipe.named), texts.named, forms)
            forms = np.where((texts.noisy >= 0) & (drawn[1] < 0.5), texts.noisy, forms)
            if recipe.heading == "any":
                section_forms = random.choice(len(FORMS), len(section_forms), p=_LOTS)
        sections = texts.sections[np.arange(len(section_forms)), section_forms]
        return plan_passes(texts, forms, sections, find_variant(recipe.variant), self.frame)

    @cached_property
    def _groups(self) -> list[Indices]:
        """The paragraphs of each batch: as many as fit."""
        groups: list[list[int]] = []
        room = 0
        paragraphs = self._by_length() if self.learning else self.paragraphs
        for paragraph, size in zip(paragraphs.tolist(), self._passes.sizes[paragraphs].tolist(), strict=True):
            if not groups or size > room:
                groups.append([])
                room = self.recipe.tokens
            groups[-1].append(paragraph)
            room -= size
        if self.learning:
            np.random.default_rng((self.seed, self.recipe.seed, 1)).shuffle(groups)
        return [np.array(part) for part in groups]

    def _by_length(self) -> Indices:
        """The paragraphs, sorted by length within parts of some batches: an MPNet reads texts padded to the longest."""
        sizes = self._passes.sizes[self.paragraphs]
        parts = np.cumsum(sizes) // (_SORTED_BATCHES * self.recipe.tokens)
        return self.paragraphs[np.lexsort((sizes, parts))]

    def _batch(self, paragraphs: Indices) -> WorthinessBatch:
        spans = self._passes.spans(paragraphs)
        lengths = spans.lengths
        starts = np.where(spans.texts > 0, self.texts.ends[spans.texts - 1], 0)
        offsets = np.cumsum(lengths) - lengths
        used = int(lengths.sum())
        within = np.repeat(starts - offsets, lengths) + np.arange(used)
        signs = np.repeat(spans.signs, lengths)
        within[signs >= 0] = 0
        tokens = np.where(signs >= 0, signs, self.texts.tokens[within])
        owner, number = np.repeat(spans.owner, lengths), len(spans.sentences)
        marks = np.where((signs >= 0) | (owner == number), UNKNOWN, self.texts.marks[within])
        bounds = np.append(offsets[spans.heads], used)
        positions = np.arange(used) - np.repeat(bounds[:-1], np.diff(bounds))
        size, limit = max(self.recipe.tokens, used), self.frame.limit
        rest = size - used
        filler_bounds = used + np.minimum(np.arange(1, -(-rest // limit) + 1) * limit, rest)
        bounds = np.concatenate([bounds, filler_bounds])
        full = np.full(max(size // 8, len(bounds)), size, np.int32)
        full[: len(bounds)] = bounds
        return WorthinessBatch(
            np.append(tokens, np.full(rest, self.frame.separator)),
            np.append(positions, np.arange(rest) % limit),
            full,
            np.append(owner, np.full(rest, number)),
            offsets[spans.separators],
            np.append(marks, np.full(rest, UNKNOWN)).astype(np.int8),
            spans.sentences,
        )


def shuffled_paragraphs(texts: TokenTexts, documents: Indices, recipe: WorthinessRecipe, seed: int) -> Indices:
    """The paragraphs to train on in one epoch, in an order of its own; those of a document given twice come twice."""
    times = np.bincount(documents, minlength=int(texts.documents.max(initial=0)) + 1)[texts.documents]
    if recipe.conform:
        times = times * (texts.kinds == 0)
    return np.random.default_rng((seed, recipe.seed)).permutation(np.repeat(np.arange(len(times)), times))
