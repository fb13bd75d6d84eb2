"""What goes into a pool of candidates and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from whycite.errors import UserError

__all__ = ["CitedSet", "K", "Lessons", "Paper", "Part", "Recommender", "check_number"]

K = 2000  # papers in a pool (SCOPE 4.5.5)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that is cited, or may be."""

    key: str
    title: str = ""
    abstract: str = ""
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A draft or a section of one, as far as it is written; what is not known may be left out."""

    cited: tuple[Paper, ...] = ()  # so far; none of them is recommended
    title: str = ""  # of the draft; a paper with this title is not recommended
    section_types: tuple[str, ...] = ()  # of a whole draft all that it has
    text: str = ""  # the claim, with what is known around it: for methods that look for each sentence anew
    year: int | None = None  # no newer paper is recommended


@dataclass(frozen=True, slots=True)
class CitedSet:
    """What a document cites, or what it cites in its sections of one type (SCOPE 4.2.3)."""

    document: str
    title: str
    section_types: tuple[str, ...]
    papers: tuple[str, ...]  # keys, each once, in order


@dataclass(frozen=True, slots=True)
class Lessons:
    """What recommenders learn from; the last four are for those that are trained."""

    sets: Sequence[CitedSet]
    papers: Mapping[str, Paper]
    floor: int = 1  # documents that must cite a paper before it is recommended (SCOPE 4.5.2)
    seed: int = 0
    epochs: int = 20
    encoder: str | None = None  # that gives words their vectors, if not the bundled one
    word_vectors: Path | None = None  # a file of word vectors in its place

    def __post_init__(self) -> None:
        if self.floor < 1:
            raise UserError(f"a paper must be cited at least once to be known, not {self.floor} times")
        if self.epochs < 1:
            raise UserError(f"there must be at least one epoch, not {self.epochs}")


class Recommender(Protocol):
    """Recommends candidate papers for a draft or a section: keys with scores, best first."""

    @property
    def name(self) -> str: ...

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]: ...


def check_number(k: int) -> None:
    """Refuse a pool of less than one paper."""
    if k < 1:
        raise UserError(f"a pool must hold at least one paper, not {k}")
