"""A library that is opened only when something is asked of it that it was not asked before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite.check.memory import Memory, key_of
from whycite.documents.model import Reference
from whycite.encoders.batches import keep_here
from whycite.recommend import DEFAULT, Claim, Evidence, Method, Recommendation, as_dict
from whycite.recommend import method as method_of

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["Answer", "Shelf"]

_MORE = 2  # claims than cores that are asked at once: while the store looks for some, others keep the cores busy


@dataclass(frozen=True, slots=True)
class Answer:
    """The papers for a claim, best first, and the score below which it is doubtful that any fits, where it is known."""

    papers: tuple[Recommendation, ...]
    doubt: float | None

    @property
    def doubtful(self) -> bool:
        """Whether even the best does not clearly fit."""
        return self.doubt is not None and bool(self.papers) and self.papers[0].score < self.doubt


class Shelf:
    """A library at a path, or one that is open, with a memory of its answers."""

    def __init__(self, library: Library | Path, memory: Memory | None = None, threads: int | None = None) -> None:
        self._library = library
        self._memory = memory
        self._threads = threads or (os.cpu_count() or 1) + _MORE

    @cached_property
    def library(self) -> Library:
        """The library, open."""
        return _opened(self._library, json.dumps(self._state)) if isinstance(self._library, Path) else self._library

    @cached_property
    def _state(self) -> list[Any]:
        """What answers depend on: they are the same where this is."""
        release = version("whycite")
        if not isinstance(self._library, Path):
            return [release, str(self._library.path), self._library.version]
        # Importing the store takes longer than all the rest; that there is a new commit can be seen from outside.
        commits = self._library / "commits.lance" / "_versions"
        return [release, str(self._library.resolve()), _made(commits)]

    def recommend(self, claims: Sequence[Claim], n: int, told: Callable[[], None] = lambda: None) -> list[Answer]:
        """The best papers for each claim; `told` is called as each answer is there."""
        keys = [key_of("papers and doubt", self._state, DEFAULT, n, asdict(claim)) for claim in claims]
        known = self._memory.get(keys) if self._memory else {}
        missing = {key: claim for key, claim in zip(keys, claims, strict=True) if key not in known}
        for _ in range(len(claims) - len(missing)):
            told()
        made = self._made(missing, n, told) if missing else {}
        if self._memory:
            self._memory.put({key: _kept(answer) for key, answer in made.items()})
        return [made[key] if key in made else _answer(known[key]) for key in keys]

    def _made(self, claims: Mapping[bytes, Claim], n: int, told: Callable[[], None]) -> dict[bytes, Answer]:
        method = self._method
        doubt: float | None = getattr(method, "doubt", None)

        def answer(claim: Claim) -> Answer:
            found = method.recommend(claim, n)
            told()
            return Answer(tuple(found), doubt)

        # Where every thread has a claim, to share out what models do for one takes more time than it saves.
        pool = ThreadPoolExecutor(self._threads, initializer=keep_here if len(claims) >= self._threads else None)
        try:
            return dict(zip(claims, pool.map(answer, claims.values()), strict=True))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @cached_property
    def _method(self) -> Method:
        return _method(self.library)

    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of the library's paper for each reference, where it has the paper."""
        if not references:
            return []
        key = key_of("references", self._state, [asdict(reference) for reference in references])
        known = self._memory.get([key]) if self._memory else {}
        found: list[str | None] = known[key] if key in known else self.library.find(references)
        if self._memory and key not in known:
            self._memory.put({key: found})
        return found


@lru_cache(maxsize=1)
def _opened(path: Path, state: str) -> Library:
    """The library in that state; it stays open for the next check of the same process."""
    from whycite.library import Library

    return Library.open(path)


def _made(folder: Path) -> list[tuple[str, int]]:
    """The files in a folder and when each was made; a writer may drop some meanwhile."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                found.append((entry.name, entry.stat().st_mtime_ns))
    return sorted(found)


@lru_cache(maxsize=1)
def _method(library: Library) -> Method:
    return method_of(DEFAULT, library)


def _kept(answer: Answer) -> dict[str, Any]:
    return {"papers": [as_dict(one, explain=True) for one in answer.papers], "doubt": answer.doubt}


def _answer(record: Mapping[str, Any]) -> Answer:
    return Answer(tuple(map(_recommendation, record["papers"])), record["doubt"])


def _recommendation(record: Mapping[str, Any]) -> Recommendation:
    """The recommendation that was kept."""
    from whycite.library.model import Paper, Source

    paper = record["paper"]
    return Recommendation(
        rank=record["rank"],
        score=record["score"],
        support=record["support"],
        paper=Paper(**paper | {"authors": tuple(paper["authors"])}),
        evidence=tuple(
            Evidence(one["span"], one["score"], one["sentence"], Source(**one["source"])) for one in record["evidence"]
        ),
        shares=record["explain"],
    )
