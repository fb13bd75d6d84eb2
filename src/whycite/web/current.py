"""The library as it is now: what another program adds is there with the next question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from whycite.recommend import DEFAULT, Method
from whycite.recommend import method as make_method

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["Current"]

T = TypeVar("T")


@dataclass(slots=True)
class _Opened:
    """A library at one commit, with what was found out about it; all of it goes when there is a newer one."""

    state: int
    library: Library
    methods: dict[str, Method] = field(default_factory=dict)
    known: dict[Callable[..., Any], Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class Current:
    """Opens the library at a path once, and again when it has changed."""

    def __init__(self, path: Path | None) -> None:
        self._given = path
        self._lock = Lock()
        self._opened: _Opened | None = None

    @property
    def path(self) -> Path:
        """Where the library is, or will be."""
        from whycite.library.place import default_path

        return (self._given or default_path()).expanduser()

    def library(self) -> Library:
        """The library at its last commit."""
        return self._now().library

    def method(self, name: str = DEFAULT) -> Method:
        """A method over the library."""
        now = self._now()
        with now.lock:
            if name not in now.methods:
                now.methods[name] = make_method(name, now.library)
            return now.methods[name]

    def known(self, function: Callable[[Library], T]) -> T:
        """What a function says of the library; it is asked once for each commit."""
        now = self._now()
        with now.lock:
            if function not in now.known:
                now.known[function] = function(now.library)
            found: T = now.known[function]
            return found

    def _now(self) -> _Opened:
        from whycite.library import Library

        with self._lock:
            state = self._state()
            if self._opened is None or self._opened.state != state:
                self._opened = _Opened(state, Library.open(self._given))
            return self._opened

    def _state(self) -> int:
        """Changes with every commit, and takes no time to see."""
        try:
            return (self.path / "commits.lance" / "_versions").stat().st_mtime_ns
        except OSError:  # no library yet: opening says so
            return 0
