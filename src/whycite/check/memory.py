"""A cache file with the results of earlier checks, so that only changes are checked again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from whycite.models.cache import Cache, cache_folder

__all__ = ["Memory", "memory_key"]

_FILE = "checks-1.sqlite"
_TABLE = "known"  # the name in files of earlier versions, which remain usable
_LIMIT = 100_000_000  # size of the file in bytes


def memory_key(*parts: Any) -> bytes:
    """A cache key made of JSON values."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


class Memory:
    """A cache of JSON values."""

    def __init__(self, file: Path | None = None, limit: int = _LIMIT) -> None:
        self._cache = Cache(file or cache_folder() / _FILE, _TABLE, limit)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The cached values by key; keys without one are left out."""
        return {key: json.loads(value) for key, value in self._cache.get(keys).items()}

    def put(self, values: Mapping[bytes, Any]) -> None:
        """Cache values; a full file drops its oldest ones."""
        self._cache.put({key: json.dumps(value).encode() for key, value in values.items()})
