"""The library as it is now: what another program adds is there with the next question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from whycite.recommend import DEFAULT, Method
from whycite.recommend import method as make_method

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["Current"]


@dataclass(slots=True)
class _Opened:
    state: int
    library: Library
    methods: dict[str, Method]


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
        with self._lock:
            if name not in now.methods:
                now.methods[name] = make_method(name, now.library)
            return now.methods[name]

    def _now(self) -> _Opened:
        from whycite.library import Library

        with self._lock:
            state = self._state()
            if self._opened is None or self._opened.state != state:
                self._opened = _Opened(state, Library.open(self._given), {})
            return self._opened

    def _state(self) -> int:
        """Changes with every commit, and takes no time to see."""
        try:
            return (self.path / "commits.lance" / "_versions").stat().st_mtime_ns
        except OSError:  # no library yet: opening says so
            return 0
