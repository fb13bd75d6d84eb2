"""What is computed of a bibliography alone stays in memory, since an editor has its draft read with every change."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import wraps
from operator import is_
from typing import TypeVar

from whycite.documents.model import Reference

__all__ = ["once_per_bibliography"]

_MAX_BIBLIOGRAPHIES = 2  # those of the drafts that one works on

_Result = TypeVar("_Result")


def once_per_bibliography(
    function: Callable[[Sequence[Reference]], _Result],
) -> Callable[[Sequence[Reference]], _Result]:
    """A function that remembers its results for the last bibliographies.

    Entries are compared by identity, which takes no time: a file that did not change gives the same objects.
    """
    results: deque[tuple[Sequence[Reference], _Result]] = deque(maxlen=_MAX_BIBLIOGRAPHIES)

    @wraps(function)
    def remembering(references: Sequence[Reference]) -> _Result:
        for known, result in tuple(results):
            if len(known) == len(references) and all(map(is_, known, references)):
                return result
        result = function(references)
        results.append((references, result))
        return result

    return remembering
