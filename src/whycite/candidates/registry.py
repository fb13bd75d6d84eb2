"""The recommenders of candidates by name, built-in and added alike."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from whycite.candidates.model import Lessons, Recommender
from whycite.errors import UserError

__all__ = ["DEFAULT", "Factory", "recommender", "recommenders"]

DEFAULT = "local-bm25"  # finds more than all others in SCOPE's table 7
_GROUP = "whycite.candidates"

Factory = Callable[[str, Lessons], Recommender]
"""What an entry point names: makes the recommender of that name from what there is to learn."""


def recommenders() -> list[str]:
    """The name of every installed recommender."""
    return sorted(_entries())


def recommender(name: str, lessons: Lessons) -> Recommender:
    """The recommender of that name; what it needs is loaded now, so that training asks for its packages only here."""
    entries = _entries()
    if name not in entries:
        raise UserError(f"no recommender of candidates '{name}'; there are: {', '.join(sorted(entries))}")
    make: Factory = entries[name].load()
    return make(name, lessons)


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=_GROUP)}
