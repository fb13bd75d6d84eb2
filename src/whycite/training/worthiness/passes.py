"""What a model reads in each pass, for all paragraphs at once: the same as `worthiness.inputs`, in arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.training.worthiness.texts import Texts
from whycite.worthiness.inputs import SECTION, Frame
from whycite.worthiness.variants import Variant
from whycite.worthiness.windows import Window, windows

__all__ = ["Passes", "Spans", "passes", "ranges"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """Texts and signs behind each other, as passes have them."""

    texts: Numbers
    lengths: Numbers
    signs: Numbers  # the token of a sign, -1 for texts
    owner: Numbers  # the place of a span's sentence in `sentences`; their number where it has none
    heads: Numbers  # the span that begins each pass
    separators: Numbers  # of each sentence the span behind it
    sentences: Numbers


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes over all paragraphs: which sentences each reads, and which of them it judges."""

    variant: Variant
    frame: Frame
    forms: Numbers  # of each sentence the text that is read
    lengths: Numbers  # of each sentence the tokens that are read
    sections: Numbers  # of each paragraph the text
    section_lengths: Numbers
    windows: Numbers  # passes x 5: paragraph, start, stop, first, last
    first: Numbers  # of each paragraph its first pass, and the number of passes
    sizes: Numbers  # of each paragraph the tokens of its passes

    def spans(self, paragraphs: Numbers) -> Spans:
        """What is read of some paragraphs, one behind the other."""
        own = self.windows[ranges(self.first[paragraphs], self.first[paragraphs + 1])]
        paragraph, start, stop, first, last = own.T
        counts = stop - start
        heads = 3 * (np.cumsum(1 + counts) - 1 - counts)
        sentence = ranges(start, stop)
        window = np.repeat(np.arange(len(own)), counts)
        number = sentence - start[window]
        place = heads[window] + 3 + 3 * number
        judged = (sentence >= first[window]) & (sentence < last[window])
        total, judging = 3 * (len(own) + len(sentence)), int(judged.sum())
        texts, lengths, signs = np.zeros(total, np.int64), np.zeros(total, np.int64), np.full(total, -1)
        owner = np.full(total, judging)
        always, before = self.variant.section == "always", self.variant.section == "first"
        extra = self.variant.section == "extra"
        signs[heads], lengths[heads] = self.frame.first, 1
        texts[heads + 1], lengths[heads + 1] = self.sections[paragraph], self.section_lengths[paragraph] * extra
        signs[heads + 2], lengths[heads + 2] = self.frame.separator, int(extra)
        texts[place] = self.sections[paragraph[window]]
        lengths[place] = self.section_lengths[paragraph[window]] * (always | (before & (number == 0)))
        texts[place + 1], lengths[place + 1] = self.forms[sentence], self.lengths[sentence]
        signs[place + 2], lengths[place + 2] = self.frame.separator, 1
        slots = np.where(judged, np.cumsum(judged) - 1, judging)
        owner[place + 1] = slots
        empty = self.lengths[sentence] == 0
        owner[place[empty] + 2] = slots[empty]
        return Spans(texts, lengths, signs, owner, heads, place[judged] + 2, sentence[judged])


def passes(texts: Texts, forms: Numbers, sections: Numbers, variant: Variant, frame: Frame) -> Passes:
    """The passes that judge every sentence of every paragraph once."""
    every = np.diff(texts.ends, prepend=0)
    told = np.minimum(every[sections], SECTION) * (variant.section != "none")
    each = told if variant.section == "always" else np.zeros_like(told)
    room = frame.limit - 1 - (told + 1) * (variant.section in ("extra", "first"))
    longest = room - each - 1
    if len(longest) and longest.min() < 1:
        raise ValueError(f"a limit of {frame.limit} tokens leaves no room for a sentence")
    lengths = np.minimum(every[forms], texts.by_sentence(longest))
    taken = lengths + 1 + texts.by_sentence(each)
    start, stop = texts.paragraphs[:-1], texts.paragraphs[1:]
    sums = np.concatenate([[0], np.cumsum(taken)])
    whole = sums[stop] - sums[start]
    found = np.stack([np.arange(len(start)), start, stop, start, stop], axis=1)
    if not variant.context:
        lone = np.arange(len(forms))
        found = np.stack([texts.by_sentence(np.arange(len(start))), lone, lone + 1, lone, lone + 1], axis=1)
    else:
        long = np.flatnonzero(whole > room)
        parted = [_row(at, int(start[at]), each) for at in long.tolist()
                  for each in windows(taken[start[at] : stop[at]].tolist(), int(room[at]))]  # fmt: skip
        found = np.concatenate([np.delete(found, long, axis=0), np.array(parted, np.int64).reshape(-1, 5)])
        found = found[np.lexsort((found[:, 3], found[:, 0]))]
    first = np.searchsorted(found[:, 0], np.arange(len(start) + 1))
    used = sums[found[:, 2]] - sums[found[:, 1]] + 1 + ((told + 1) * (variant.section == "extra"))[found[:, 0]]
    used = used + (told * (variant.section == "first"))[found[:, 0]]
    sizes = np.bincount(found[:, 0], used, len(start)).astype(np.int64)
    return Passes(variant, frame, forms, lengths, sections, told, found, first, sizes)


def _row(paragraph: int, start: int, window: Window) -> tuple[int, int, int, int, int]:
    return (paragraph, start + window.start, start + window.stop, start + window.first, start + window.last)


def ranges(starts: Numbers, stops: Numbers) -> Numbers:
    """The numbers from each start to before its stop, behind each other."""
    counts = stops - starts
    return np.repeat(stops - np.cumsum(counts), counts) + np.arange(int(counts.sum()))
