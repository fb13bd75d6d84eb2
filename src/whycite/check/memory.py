"""What earlier checks computed: results in a file, what belongs to a bibliography in memory."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from hashlib import blake2b
from operator import is_
from pathlib import Path
from typing import Any, TypeVar

from whycite.documents.model import Reference
from whycite.models.cache import Cache, cache_folder

__all__ = ["MEMORY_FILE", "Memory", "memory_key", "once_per_bibliography"]

MEMORY_FILE = "checks-1.sqlite"
_TABLE = "known"  # the name in files of earlier versions, which remain usable
_LIMIT = 100_000_000  # size of the file in bytes


def memory_key(*parts: Any) -> bytes:
    """A cache key made of JSON values."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


class Memory:
    """A cache of JSON values."""

    def __init__(self, file: Path | None = None, limit: int = _LIMIT) -> None:
        self._cache = Cache(file or cache_folder() / MEMORY_FILE, _TABLE, limit)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The cached values by key; keys without one are left out."""
        return {key: json.loads(value) for key, value in self._cache.get(keys).items()}

    def put(self, values: Mapping[bytes, Any]) -> None:
        """Cache values; a full file drops its oldest ones."""
        self._cache.put({key: json.dumps(value).encode() for key, value in values.items()})


_MAX_BIBLIOGRAPHIES = 2  # those of the drafts that one works on

_Result = TypeVar("_Result")


def once_per_bibliography(
    function: Callable[[Sequence[Reference]], _Result],
) -> Callable[[Sequence[Reference]], _Result]:
    """A function that remembers its results for the last bibliographies, since an editor reads a draft at every change.

    Entries are compared by identity, which takes no time: a file that did not change gives the same objects.
    """
    results: deque[tuple[Sequence[Reference], _Result]] = deque(maxlen=_MAX_BIBLIOGRAPHIES)

    @wraps(function)
    def remembering(references: Sequence[Reference]) -> _Result:
        for earlier_references, result in tuple(results):
            if len(earlier_references) == len(references) and all(map(is_, earlier_references, references)):
                return result
        result = function(references)
        results.append((references, result))
        return result

    return remembering
