"""The input of worthiness models: SCOPE's variants, windows of long paragraphs, token sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from whycite.errors import UserError

__all__ = [
    "MAX_SECTION_TOKENS",
    "VARIANTS",
    "InputSegment",
    "InputVariant",
    "ModelReading",
    "SequenceFrame",
    "Window",
    "find_variant",
    "readings",
    "segments",
    "windows",
]


@dataclass(frozen=True, slots=True)
class InputVariant:
    """Whether a sentence is read within its paragraph, and where its section goes."""

    name: str
    context: bool
    section: Literal["none", "extra", "first", "always"]


VARIANTS: tuple[InputVariant, ...] = (
    InputVariant("ctx", True, "none"),
    InputVariant("ctx-section-extra", True, "extra"),
    InputVariant("ctx-section-first", True, "first"),
    InputVariant("ctx-section-always", True, "always"),
    InputVariant("solo", False, "none"),
    InputVariant("solo-section-extra", False, "extra"),
    InputVariant("solo-section-firstalways", False, "always"),
)


@dataclass(frozen=True, slots=True)
class InputSegment:
    """The text before a separator: a sentence by its index, the section, or both."""

    section: bool
    sentence: int | None


def find_variant(name: str) -> InputVariant:
    """The variant of that name."""
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    raise UserError(f"no input variant '{name}'; choose one of: {', '.join(variant.name for variant in VARIANTS)}")


def segments(variant: InputVariant, sentences: Sequence[int]) -> tuple[InputSegment, ...]:
    """The segments of one pass over sentences of a paragraph; a solo variant takes one sentence.

    ctx is "[CLS] sent [SEP] sent [SEP]", -extra "[CLS] sec [SEP] sent [SEP]", -first "[CLS] sec sent [SEP] sent [SEP]",
    -always "[CLS] sec sent [SEP] sec sent [SEP]".
    """
    if not variant.context and len(sentences) != 1:
        raise ValueError(f"{variant.name} reads one sentence at a time, not {len(sentences)}")
    always, is_first_only = variant.section == "always", variant.section == "first"
    extra = (InputSegment(True, None),) if variant.section == "extra" else ()
    return extra + tuple(
        InputSegment(always or (is_first_only and position == 0), index) for position, index in enumerate(sentences)
    )


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences `start` to `stop` are read together; `judged_start` to `judged_stop` of them are judged."""

    start: int
    stop: int
    judged_start: int
    judged_stop: int


def windows(lengths: Sequence[int], limit: int, context: int | None = None) -> Iterator[Window]:
    """Windows of at most `limit` tokens; `lengths` are those of the sentences with their separators.

    Windows overlap, so that each sentence is judged with `context` tokens around it if possible, by default an eighth
    of the limit. A sentence longer than the limit has its own window.
    """
    if limit < 1:
        raise ValueError(f"a window needs room for at least one token, not {limit}")
    room = limit // 8 if context is None else context
    judged_start = 0
    while judged_start < len(lengths):
        start, used = judged_start, 0
        while (
            start and used + lengths[start - 1] <= room and used + lengths[start - 1] + lengths[judged_start] <= limit
        ):
            start -= 1
            used += lengths[start]
        stop = judged_start
        while stop < len(lengths) and (stop == judged_start or used + lengths[stop] <= limit):
            used += lengths[stop]
            stop += 1
        judged_stop = stop
        if stop < len(lengths):
            trailing_tokens = 0
            while judged_stop - 1 > judged_start and trailing_tokens + lengths[judged_stop - 1] <= room:
                judged_stop -= 1
                trailing_tokens += lengths[judged_stop]
        yield Window(start, stop, judged_start, judged_stop)
        judged_start = judged_stop


Tokens = Sequence[int]
MAX_SECTION_TOKENS = 48  # of a heading; the rest of a longer one is not read


@dataclass(frozen=True, slots=True)
class SequenceFrame:
    """The special tokens of a sequence, and its maximum length."""

    start_token: int  # "<s>" or "[CLS]"
    separator: int  # "</s>" or "[SEP]"
    limit: int


@dataclass(frozen=True, slots=True)
class ModelReading:
    """One pass: its tokens, and for every judged sentence its index and the range of its tokens.

    The separator of a sentence follows its range.
    """

    tokens: tuple[int, ...]
    sentences: tuple[tuple[int, int, int], ...]


def readings(
    sentences: Sequence[Tokens], section: Tokens, variant: InputVariant, frame: SequenceFrame
) -> Iterator[ModelReading]:
    """The passes that judge every sentence of a paragraph once: one, if the paragraph fits."""
    section = section[:MAX_SECTION_TOKENS] if variant.section != "none" else ()
    section_length = len(section) if variant.section == "always" else 0
    room = frame.limit - 1 - (len(section) + 1 if variant.section in ("extra", "first") else 0)
    longest = room - section_length - 1
    if longest < 1:
        raise ValueError(f"a limit of {frame.limit} tokens leaves no room for a sentence")
    cut = [sentence[:longest] for sentence in sentences]
    if not variant.context:
        yield from (_reading(cut, [index], [index], section, variant, frame) for index in range(len(cut)))
        return
    for window in windows([len(sentence) + 1 + section_length for sentence in cut], room):
        read, judged = range(window.start, window.stop), range(window.judged_start, window.judged_stop)
        yield _reading(cut, read, judged, section, variant, frame)


def _reading(
    sentences: Sequence[Tokens],
    read: Sequence[int],
    judged: Sequence[int],
    section: Tokens,
    variant: InputVariant,
    frame: SequenceFrame,
) -> ModelReading:
    tokens = [frame.start_token]
    places = []
    for segment in segments(variant, read):
        if segment.section:
            tokens += section
        if segment.sentence is not None:
            start = len(tokens)
            tokens += sentences[segment.sentence]
            if segment.sentence in judged:
                places.append((segment.sentence, start, len(tokens)))
        tokens.append(frame.separator)
    return ModelReading(tuple(tokens), tuple(places))
