"""Long paragraphs in windows: every sentence is judged once, with sentences around it on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Window", "windows"]


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences `start` to `stop` are read together; of them `first` to `last` are judged (ends not counted in)."""

    start: int
    stop: int
    first: int
    last: int


def windows(lengths: Sequence[int], limit: int, context: int | None = None) -> Iterator[Window]:
    """Windows of at most `limit` tokens; `lengths` are those of the sentences, what each needs beside it counted in.

    A sentence at the inner edge of a window is judged in the one where it has `context` tokens more around it (an
    eighth of the limit unless told), as far as there is room. One that is longer than the limit has a window alone.
    """
    if limit < 1:
        raise ValueError(f"a window needs room for at least one token, not {limit}")
    room = limit // 8 if context is None else context
    done = 0
    while done < len(lengths):
        start, used = done, 0
        while start and used + lengths[start - 1] <= room and used + lengths[start - 1] + lengths[done] <= limit:
            start -= 1
            used += lengths[start]
        stop = done
        while stop < len(lengths) and (stop == done or used + lengths[stop] <= limit):
            used += lengths[stop]
            stop += 1
        last = stop
        if stop < len(lengths):
            behind = 0
            while last - 1 > done and behind + lengths[last - 1] <= room:
                last -= 1
                behind += lengths[last]
        yield Window(start, stop, done, last)
        done = last
