"""What earlier checks computed, kept in a file so that only what has changed is checked again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from whycite.models.cache import Cache, cache_folder

__all__ = ["Memory", "memory_key"]

_FILE = "checks-1.sqlite"
_TABLE = "known"  # as earlier versions called it: their file is used on
_LIMIT = 100_000_000  # bytes of the file


def memory_key(*parts: Any) -> bytes:
    """A key for whatever these parts, which JSON can hold, tell apart."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


class Memory:
    """A cache of values that JSON can hold."""

    def __init__(self, file: Path | None = None, limit: int = _LIMIT) -> None:
        self._cache = Cache(file or cache_folder() / _FILE, _TABLE, limit)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The values of those keys that have one."""
        return {key: json.loads(value) for key, value in self._cache.get(keys).items()}

    def put(self, values: Mapping[bytes, Any]) -> None:
        """Keep values; where there is no room, the oldest go."""
        self._cache.put({key: json.dumps(value).encode() for key, value in values.items()})
