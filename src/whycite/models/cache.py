"""No text is encoded twice: vectors are kept in a file, and those of claims that come together in memory."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
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

__all__ = ["LIMIT", "CachedEncoder", "SharedEncoder", "cache_folder"]


LIMIT = 2_000_000_000  # bytes of the file: about 2.4 million vectors of the bundled encoder
_FILE = "vectors-1.sqlite"  # another number where its form changes
_AT_ONCE = 4096  # texts between two writes: seconds of work, lost when the process is killed
_SHARE = 20  # where the file is full, one in so many goes, the oldest
_PATIENCE = 30.0  # seconds to wait for other processes, each of which writes for less than one
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_LOG = logging.getLogger("whycite")
_Answer = TypeVar("_Answer")


def cache_folder() -> Path:
    """Where is kept what can be made again: $WHYCITE_CACHE, else a folder where the platform keeps such."""
    path = os.environ.get("WHYCITE_CACHE")
    return Path(path).expanduser() if path else platformdirs.user_cache_path("whycite", appauthor=False)


class CachedEncoder:
    """An encoder with a memory that outlives the process; several processes may share the file.

    Vectors have the precision of libraries, 16 bits a number, whether they were remembered or not. A file that cannot
    be used is told of once and done without.
    """

    def __init__(self, encoder: Encoder, file: Path | None = None, limit: int | None = LIMIT) -> None:
        self._encoder = encoder
        self._file = file or cache_folder() / _FILE
        self._limit = limit
        self._name = blake2b(f"{encoder.name}\0".encode(), digest_size=16)
        self._usable = True

    @property
    def name(self) -> str:
        """The name of the encoder whose vectors these are."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order; only texts that were never encoded before take time."""
        if isinstance(texts, str):
            raise TypeError("encode takes a sequence of texts, not one text")
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            chunk = texts[start : start + _AT_ONCE]
            vectors[start : start + len(chunk)] = self._vectors(chunk, progress)
        return vectors

    def _vectors(self, texts: Sequence[str], progress: Callable[[int], None] | None) -> NDArray[np.float16]:
        keys = [self._key(text) for text in texts]
        nothing: dict[bytes, bytes] = {}
        vectors = self._ask(lambda database: _read(database, set(keys), 2 * self.dimensions), nothing)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if progress and len(missing) < len(texts):
            progress(len(texts) - len(missing))
        if missing:
            encoded = self._encoder.encode(list(missing.values()), progress).astype(np.float16)
            new = {key: vector.tobytes() for key, vector in zip(missing, encoded, strict=True)}
            self._ask(lambda database: _write(database, new.items(), self._limit), None)
            vectors |= new
        return np.frombuffer(b"".join(vectors[key] for key in keys), np.float16).reshape(len(keys), self.dimensions)

    def _key(self, text: str) -> bytes:
        state = self._name.copy()
        state.update(text.encode("utf-8", "surrogatepass"))
        return state.digest()

    def _ask(self, ask: Callable[[sqlite3.Connection], _Answer], otherwise: _Answer) -> _Answer:
        """What the file answers; once it could not be used, what is to be had without."""
        if self._usable:
            try:
                # Opened each time: that takes a millisecond, and nobody has to remember to close it.
                with closing(_connect(self._file)) as database, database:
                    return ask(database)
            except (OSError, sqlite3.Error) as error:
                self._usable = False
                message = (
                    "%s: vectors cannot be kept there (%s), so that texts are encoded anew; if that stays, delete it"
                )
                _LOG.warning(message, self._file, error)
        return otherwise


def _connect(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(file, timeout=_PATIENCE)
    try:
        _write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors "
            "(age INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
        )
    except sqlite3.Error:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection) -> None:
    """Let a killed process leave the file whole, and readers wait for nobody."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # For this change alone SQLite does not wait for others.
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _read(database: sqlite3.Connection, keys: Iterable[bytes], size: int) -> dict[bytes, bytes]:
    """The vectors of so many bytes that are there and whole."""
    vectors = {}
    for key in keys:
        row = database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if (
            row
            and isinstance(row[0], bytes)
            and len(row[0]) == size + 4
            and _checksum(key, row[0][:size]) == row[0][size:]
        ):
            vectors[key] = row[0][:size]
    return vectors


def _write(database: sqlite3.Connection, vectors: Iterable[tuple[bytes, bytes]], limit: int | None) -> None:
    rows = ((key, vector + _checksum(key, vector)) for key, vector in vectors)
    database.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
    oldest = f"(SELECT min(age) + (max(age) - min(age)) / {_SHARE} FROM vectors)"
    while limit is not None and _used_bytes(database) > limit:
        if not database.execute(f"DELETE FROM vectors WHERE age <= {oldest}").rowcount:
            break


def _used_bytes(database: sqlite3.Connection) -> int:
    """Bytes of the file that hold something; the others are filled again before it grows."""
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _checksum(key: bytes, vector: bytes) -> bytes:
    """Tells a damaged vector, of which SQLite knows nothing."""
    return crc32(vector, crc32(key)).to_bytes(4, "big")


_MAX_TEXTS = 64  # texts: those of twenty claims, some of which are asked at the same time

Vector = NDArray[np.float32]


class SharedEncoder:
    """An encoder that knows its last few texts; what several threads ask for at once, the first of them encodes."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._futures: OrderedDict[str, Future[Vector]] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The name of the encoder whose vectors these are."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text, in order."""
        missing: dict[str, Future[Vector]] = {}
        try:
            futures = self._futures_of(texts, missing)
            encoded = self._encoder.encode(list(missing)) if missing else ()
            for future, vector in zip(missing.values(), encoded, strict=True):
                future.set_result(vector)
        except BaseException as error:
            self._give_up(missing, error)
            raise
        # Our own are there by now, so that no two threads wait for each other.
        vectors = [self._vector_of(text, future) for text, future in zip(texts, futures, strict=True)]
        if progress:
            progress(len(texts))
        return np.array(vectors, np.float32).reshape(len(texts), self.dimensions)

    def _futures_of(self, texts: Sequence[str], missing: dict[str, Future[Vector]]) -> list[Future[Vector]]:
        """What there is of texts, or will be; those that nobody has asked for yet go into `missing`."""
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
        """Let nobody wait for what will not come."""
        unfinished = {text: future for text, future in missing.items() if not future.done()}
        with self._lock:
            for text, future in unfinished.items():
                if self._futures.get(text) is future:
                    del self._futures[text]  # whoever asks later tries again
        for future in unfinished.values():
            future.set_exception(error)

    def _vector_of(self, text: str, future: Future[Vector]) -> Vector:
        """What somebody made; where that failed, perhaps because of another text, we try ourselves."""
        return self._encoder.encode([text])[0] if future.exception() else future.result()
