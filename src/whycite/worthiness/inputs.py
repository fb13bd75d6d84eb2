"""Token sequences for a model, and where each sentence stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whycite.worthiness.variants import Variant, segments
from whycite.worthiness.windows import windows

__all__ = ["SECTION", "Frame", "Reading", "readings"]

Tokens = Sequence[int]
SECTION = 48  # tokens of a heading that are read; longer ones are titles of whole stories


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around texts in a sequence, and how long it may be."""

    first: int  # "<s>" or "[CLS]"
    separator: int  # "</s>" or "[SEP]"
    limit: int


@dataclass(frozen=True, slots=True)
class Reading:
    """One pass: its tokens, and for every sentence judged its index and the range of its own tokens.

    The separator of a sentence stands behind its range.
    """

    tokens: tuple[int, ...]
    sentences: tuple[tuple[int, int, int], ...]


def readings(sentences: Sequence[Tokens], section: Tokens, variant: Variant, frame: Frame) -> Iterator[Reading]:
    """The passes that judge every sentence of a paragraph once; a paragraph that fits takes one."""
    section = section[:SECTION] if variant.section != "none" else ()
    each = len(section) if variant.section == "always" else 0
    room = frame.limit - 1 - (len(section) + 1 if variant.section in ("extra", "first") else 0)
    longest = room - each - 1
    if longest < 1:
        raise ValueError(f"a limit of {frame.limit} tokens leaves no room for a sentence")
    cut = [sentence[:longest] for sentence in sentences]
    if not variant.context:
        yield from (_reading(cut, [at], [at], section, variant, frame) for at in range(len(cut)))
        return
    for window in windows([len(sentence) + 1 + each for sentence in cut], room):
        read, judged = range(window.start, window.stop), range(window.first, window.last)
        yield _reading(cut, read, judged, section, variant, frame)


def _reading(
    sentences: Sequence[Tokens],
    read: Sequence[int],
    judged: Sequence[int],
    section: Tokens,
    variant: Variant,
    frame: Frame,
) -> Reading:
    tokens = [frame.first]
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
    return Reading(tuple(tokens), tuple(places))
