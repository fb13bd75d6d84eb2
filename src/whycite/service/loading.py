"""The library at its latest commit, and modules and models that are loaded once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from whycite.cite.recommendations import DEFAULT_METHOD, Method, load_method
from whycite.errors import MissingExtra, NoLibrary, UserError
from whycite.library.paths import default_path, library_state, mirrored_address

if TYPE_CHECKING:
    from whycite.library import Library
    from whycite.library.snapshot import AskShards

__all__ = ["CurrentLibrary", "LazyLoader", "keep_caches_open", "load_documents", "load_questions", "warm"]


T = TypeVar("T")


@dataclass(slots=True)
class _LibrarySnapshot:
    """A library at one commit, with its methods and cached answers."""

    path: Path
    state: list[tuple[str, int]]
    library: Library
    methods: dict[str, Method] = field(default_factory=dict)
    answers: dict[Callable[..., Any], Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class CurrentLibrary:
    """Opens the library at a path, and opens it again after a change."""

    def __init__(self, path: Path | None, shards: AskShards | None = None) -> None:
        """With `shards`, these search the library, and this process reads what they find."""
        self._path, self._shards = path, shards
        # Remembered, since the copy that the path leads to is deleted a day after it was replaced.
        self._address = mirrored_address(path.expanduser()) if path is not None else None
        self._lock = Lock()
        self._snapshot: _LibrarySnapshot | None = None

    @property
    def stated_path(self) -> Path | None:
        """The path that was asked for; None for the default library."""
        return self._path if self._address is None else self.path

    @property
    def path(self) -> Path:
        """Where the library is, or will be; one in object storage is in the copy of its last snapshot."""
        if self._address is None:
            return (self._path or default_path()).expanduser()
        from whycite.library.publishing import locate

        return locate(self._address)

    @property
    def shared_path(self) -> Path:
        """Where other machines find the library too: its address in object storage, or the whole path."""
        path = self.path
        return Path(mirrored_address(path) or os.path.abspath(path))  # noqa: PTH100 - links keep their names

    def library(self) -> Library:
        """The library at its last commit."""
        return self._refresh().library

    def library_if_any(self) -> Library | None:
        """The library at its last commit; None if nothing was added to it yet."""
        try:
            return self.library()
        except NoLibrary:
            return None

    def library_if_open(self) -> Library | None:
        """The library at its last commit if it was opened before; opening it may take longer than the question."""
        return self.library() if self._snapshot is not None else None

    def method(self, name: str = DEFAULT_METHOD) -> Method:
        """A method over the library."""
        snapshot = self._refresh()
        with snapshot.lock:
            if name not in snapshot.methods:
                snapshot.methods[name] = load_method(name, snapshot.library)
            return snapshot.methods[name]

    def answer_once(self, function: Callable[[Library], T]) -> T:
        """The result of a function of the library, computed once per commit."""
        snapshot = self._refresh()
        with snapshot.lock:
            if function not in snapshot.answers:
                snapshot.answers[function] = function(snapshot.library)
            answer: T = snapshot.answers[function]
            return answer

    def _refresh(self) -> _LibrarySnapshot:
        from whycite.library import Library

        with self._lock:
            path = self.path
            state = library_state(path)
            if self._snapshot is None or (self._snapshot.path, self._snapshot.state) != (path, state):
                library = Library.open(path)
                if self._shards is not None:
                    library.search_with(self._shards)
                self._snapshot = _LibrarySnapshot(path, state, library)
            return self._snapshot


class LazyLoader:
    """Calls a function on first use; concurrent callers wait for it."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._lock = Lock()
        self._is_loaded = False

    def __call__(self) -> None:
        """Return once the function has been called."""
        with self._lock:
            if not self._is_loaded:
                self._function()
                self._is_loaded = True


def keep_caches_open(owner: object) -> None:
    """Keep the caches open for as long as an object lives: each check writes to them several times."""
    from whycite.check.memory import MEMORY_FILE
    from whycite.models.cache import VECTORS_FILE, cache_folder, keep_open

    for name in (MEMORY_FILE, VECTORS_FILE):
        if connection := keep_open(cache_folder() / name):
            weakref.finalize(owner, connection.close)


def load_questions() -> None:
    """Load what it takes to answer questions, including the models."""
    with ThreadPoolExecutor(1) as pool:
        opened = pool.submit(_open_models)
    opened.result()


def load_documents() -> None:
    """Load what it takes to check and verify documents."""
    import whycite.check.fix
    import whycite.check.pipeline
    import whycite.verify  # noqa: F401


def warm(current: CurrentLibrary) -> None:
    """Answer a first question, so that models and tables are loaded before a user asks one."""
    from whycite.check.detector import load_detector
    from whycite.cite.recommendations import Claim

    try:
        current.method().recommend(Claim("the first question takes longest"), 1)
        load_detector()
    except (UserError, MissingExtra):
        return  # no usable library; the first request will report it


def _open_models() -> None:
    from whycite.models import load_encoder
    from whycite.models.pairs import load_entailment

    load_encoder().encode(["a word"])
    load_entailment().judge("a word", ["another"])
