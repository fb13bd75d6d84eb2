"""The text of a block gathered from parts of a file, each character still at its place there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from whycite.documents.prose import Prose

__all__ = ["Span", "Stretch"]

Span = tuple[int, int]


class Stretch:
    """Parts of one file joined: a paragraph without the marks of quotes and lists on its lines."""

    def __init__(self, file: str, text: str, spans: Iterable[Span]) -> None:
        self.file = file
        self._at: list[int] = []  # where each part begins in the joined text
        self._source: list[int] = []  # and in the file
        parts: list[str] = []
        length = 0
        for start, end in spans:
            if start < end:
                self._at.append(length)
                self._source.append(start)
                parts.append(text[start:end])
                length += end - start
        self.text = "".join(parts)

    def source(self, start: int, end: int) -> Span:
        """The range of the file that a range of the joined text came from."""
        if end <= start:
            at = self._place(start)
            return at, at
        return self._place(start), self._place(end - 1) + 1

    def locate(self, source: int) -> int | None:
        """Where a character of the file stands in the joined text, if it does."""
        part = bisect_right(self._source, source) - 1
        if part < 0:
            return None
        at = self._at[part] + source - self._source[part]
        return at if at < (self._at[part + 1] if part + 1 < len(self._at) else len(self.text)) else None

    def add_to(self, prose: Prose, start: int, end: int) -> None:
        """Append a range of the text as it stands."""
        part = bisect_right(self._at, start) - 1
        while start < end:
            stop = min(end, self._at[part + 1] if part + 1 < len(self._at) else end)
            prose.add(self.text[start:stop], self.file, self._source[part] + start - self._at[part])
            start, part = stop, part + 1

    def put(self, prose: Prose, text: str, start: int, end: int) -> None:
        """Append text that stands for a range."""
        prose.add(text, self.file, *self.source(start, end))

    def cite(self, prose: Prose, marker: str, keys: tuple[str, ...], start: int, end: int) -> None:
        """Append a citation that stands at a range."""
        prose.cite(marker, keys, self.file, *self.source(start, end))

    def _place(self, at: int) -> int:
        part = bisect_right(self._at, at) - 1 if len(self._at) > 1 else 0
        return self._source[part] + at - self._at[part] if self._source else 0
