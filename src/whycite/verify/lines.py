"""The lines of offsets in the files of a draft."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from whycite.documents.sources import decode

__all__ = ["Lines"]

_LINE = re.compile(r"\r\n|\n|\r")


class Lines:
    """Each file is read once."""

    def __init__(self) -> None:
        self._starts: dict[str, list[int] | None] = {}

    def of(self, file: str, offset: int) -> int | None:
        """The line of an offset, counted from 1; None where the file is not on disk: in an archive, standard input."""
        if file not in self._starts:
            self._starts[file] = _starts(file)
        starts = self._starts[file]
        return None if starts is None else bisect_right(starts, offset)


def _starts(file: str) -> list[int] | None:
    try:
        text = decode(Path(file).read_bytes())[0]
    except OSError:
        return None
    return [0, *(end.end() for end in _LINE.finditer(text))]
