"""Caches of computed results: in a file shared by all processes, and in memory for concurrent claims."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TypeVar
from zlib import crc32

import numpy as np
import platformdirs
from numpy.typing import NDArray

from whycite.models.encoders import Encoder

__all__ = [
    "LOCK_SECONDS",
    "TEXTS_PER_WRITE",
    "VECTORS_FILE",
    "Cache",
    "CachedEncoder",
    "SharedEncoder",
    "cache_folder",
    "keep_open",
]

VECTORS_FILE = "vectors-1.sqlite"  # increase the number when the format changes
_VECTORS_LIMIT = 2_000_000_000  # bytes of the file: about 2.4 million vectors of the bundled encoder
TEXTS_PER_WRITE = 4096  # texts between two writes: seconds of work, lost if the process is killed
_EVICTED_PARTS = 20  # a full file drops the oldest twentieth
LOCK_SECONDS = 30.0  # to wait for other processes, each of which writes for less than a second
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CHECKSUM_BYTES = 4
_LOG = logging.getLogger("whycite")
_Answer = TypeVar("_Answer")


def cache_folder() -> Path:
    """The cache folder: $WHYCITE_CACHE, or the platform's default."""
    path = os.environ.get("WHYCITE_CACHE")
    return Path(path).expanduser() if path else platformdirs.user_cache_path("whycite", appauthor=False)


def keep_open(file: Path) -> sqlite3.Connection | None:
    """An idle connection to a cache, while which writes do not wait for the disk; None if the file cannot be used.

    Without one, each write is the last one for the time being, after which SQLite merges its log into the file.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(file, timeout=LOCK_SECONDS, check_same_thread=False)
        _write_ahead(database)
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except (OSError, sqlite3.Error):
        return None  # the cache itself reports it
    return database


class Cache:
    """Computed values by key, in one table of an SQLite file that several processes may share.

    Processes may be killed at any time; damaged values are dropped. A full file drops its oldest values. An unusable
    file is reported once, and every value is computed again.
    """

    def __init__(self, file: Path, table: str, limit: int | None) -> None:
        self.file, self._table, self._limit = file, table, limit
        self._usable = True

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The cached values by key; keys without one are left out."""
        unique_keys, nothing = {*keys}, dict[bytes, bytes]()
        return self._run(lambda database: self._read(database, unique_keys), nothing) if unique_keys else nothing

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Cache values; a full file drops its oldest ones."""
        if values:
            self._run(lambda database: self._write(database, values), None)

    def _run(self, task: Callable[[sqlite3.Connection], _Answer], otherwise: _Answer) -> _Answer:
        if self._usable:
            try:
                # Opened each time: it takes a millisecond, and there is no connection to close later.
                with closing(self._connect()) as database, database:
                    return task(database)
            except (OSError, sqlite3.Error) as error:
                self._usable = False
                message = "cannot use the cache %s (%s): results are computed again; if this persists, delete the file"
                _LOG.warning(message, self.file, error)
        return otherwise

    def _connect(self) -> sqlite3.Connection:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.file, timeout=LOCK_SECONDS)
        database.text_factory = bytes  # older versions wrote text, which may be damaged and is not a valid value
        try:
            _write_ahead(database)
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} "
                "(age INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)"
            )
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _read(self, database: sqlite3.Connection, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        values = {}
        for key in keys:
            # Columns by position: older versions had another name for the last one.
            row = database.execute(f"SELECT * FROM {self._table} WHERE key = ?", (key,)).fetchone()
            if row and isinstance(row[2], bytes):
                value, checksum = row[2][:-_CHECKSUM_BYTES], row[2][-_CHECKSUM_BYTES:]
                if _checksum(key, value) == checksum:
                    values[key] = value
        return values

    def _write(self, database: sqlite3.Connection, values: Mapping[bytes, bytes]) -> None:
        rows = [(key, value + _checksum(key, value)) for key, value in values.items()]
        database.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (NULL, ?, ?)", rows)
        oldest = f"(SELECT min(age) + (max(age) - min(age)) / {_EVICTED_PARTS} FROM {self._table})"
        while self._limit is not None and _used_bytes(database) > self._limit:
            if not database.execute(f"DELETE FROM {self._table} WHERE age <= {oldest}").rowcount:
                break


def _write_ahead(database: sqlite3.Connection) -> None:
    """Use a write-ahead log: killed processes cannot corrupt the file, and readers never wait."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait for other processes when it makes this change.
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _used_bytes(database: sqlite3.Connection) -> int:
    """The bytes of the file in use; free ones are reused before it grows."""
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _checksum(key: bytes, value: bytes) -> bytes:
    """A checksum, to detect damage that SQLite does not notice."""
    return crc32(value, crc32(key)).to_bytes(_CHECKSUM_BYTES, "big")


class CachedEncoder:
    """An encoder with a cache on disk: no text is encoded twice, not even by another process.

    Vectors have the precision of libraries, 16 bits per number, whether cached or not.
    """

    def __init__(self, encoder: Encoder, file: Path | None = None, limit: int | None = _VECTORS_LIMIT) -> None:
        self._encoder = encoder
        self._cache = Cache(file or cache_folder() / VECTORS_FILE, "vectors", limit)
        self._name = blake2b(f"{encoder.name}\0".encode(), digest_size=16)

    @property
    def name(self) -> str:
        """The name of the underlying encoder."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """A unit vector for each text, in order; only new texts are encoded."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), TEXTS_PER_WRITE):
            chunk = texts[start : start + TEXTS_PER_WRITE]
            vectors[start : start + len(chunk)] = self._vectors(chunk, progress)
        return vectors

    def _vectors(self, texts: Sequence[str], progress: Callable[[int], None] | None) -> NDArray[np.float16]:
        keys = [self._key(text) for text in texts]
        size = 2 * self.dimensions
        vectors = {key: vector for key, vector in self._cache.get(keys).items() if len(vector) == size}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if progress and len(missing) < len(texts):
            progress(len(texts) - len(missing))
        if missing:
            encoded = self._encoder.encode(list(missing.values()), progress).astype(np.float16)
            new = {key: vector.tobytes() for key, vector in zip(missing, encoded, strict=True)}
            self._cache.put(new)
            vectors |= new
        return np.frombuffer(b"".join(vectors[key] for key in keys), np.float16).reshape(len(keys), self.dimensions)

    def _key(self, text: str) -> bytes:
        state = self._name.copy()
        state.update(text.encode("utf-8", "surrogatepass"))
        return state.digest()


_MAX_TEXTS = 64  # enough for about twenty claims

Vector = NDArray[np.float32]


class SharedEncoder:
    """An encoder that remembers its latest texts; a text that several threads ask for at once is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._futures: OrderedDict[str, Future[Vector]] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The name of the underlying encoder."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """A unit vector for each text, in order."""
        missing: dict[str, Future[Vector]] = {}
        try:
            futures = self._futures_of(texts, missing)
            encoded = self._encoder.encode(list(missing)) if missing else ()
            for future, vector in zip(missing.values(), encoded, strict=True):
                future.set_result(vector)
        except BaseException as error:
            self._give_up(missing, error)
            raise
        # This thread's own texts are done by now, so that no two threads wait for each other.
        vectors = [self._vector_of(text, future) for text, future in zip(texts, futures, strict=True)]
        if progress:
            progress(len(texts))
        return np.array(vectors, np.float32).reshape(len(texts), self.dimensions)

    def _futures_of(self, texts: Sequence[str], missing: dict[str, Future[Vector]]) -> list[Future[Vector]]:
        """The futures of texts; those that no thread is encoding yet are added to `missing`."""
        with self._lock:
            for text in texts:
                if text not in self._futures:
                    missing[text] = Future()
                    self._futures[text] = missing[text]
                self._futures.move_to_end(text)
            futures = [self._futures[text] for text in texts]
            while len(self._futures) > _MAX_TEXTS:
                self._futures.popitem(last=False)
        return futures

    def _give_up(self, missing: dict[str, Future[Vector]], error: BaseException) -> None:
        """Pass an error on to the threads that wait for these texts."""
        unfinished = {text: future for text, future in missing.items() if not future.done()}
        with self._lock:
            for text, future in unfinished.items():
                if self._futures.get(text) is future:
                    del self._futures[text]  # later calls try again
        for future in unfinished.values():
            future.set_exception(error)

    def _vector_of(self, text: str, future: Future[Vector]) -> Vector:
        """The vector from any thread; if that failed, perhaps because of another text, encode the text here."""
        return self._encoder.encode([text])[0] if future.exception() else future.result()
