"""What earlier checks computed: answers of a library and other results in a file, what a bibliography gave in memory.

`Memory` is the file, `CachedLibrary` a library that is opened only for questions that it has not answered before.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, wraps
from hashlib import blake2b
from importlib.metadata import version
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from whycite.cite.recommendations import (
    DEFAULT_METHOD,
    Claim,
    Evidence,
    Method,
    OwnPassage,
    Recommendation,
    answer_fits,
    load_method,
    recommendation_json,
)
from whycite.documents.jsondocument import load_publication
from whycite.documents.model import Notice, Reference
from whycite.library.notices import PaperNotices, load_notices, stated
from whycite.library.paths import library_state, register_state
from whycite.models.cache import Cache, cache_folder
from whycite.models.runtime import disable_threads

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["MEMORY_FILE", "CachedLibrary", "LibraryAnswer", "Memory", "memory_key", "once_per_bibliography"]

MEMORY_FILE = "checks-1.sqlite"
_TABLE = "known"  # the name in files of earlier versions, which remain usable
_LIMIT = 100_000_000  # size of the file in bytes
_EXTRA_THREADS = (
    2  # claims searched at once beyond the number of cores, so that cores stay busy while the store searches
)


def memory_key(*parts: Any) -> bytes:
    """A cache key made of JSON values."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


class Memory:
    """A cache of JSON values."""

    def __init__(self, file: Path | None = None, limit: int = _LIMIT) -> None:
        self._cache = Cache(file or cache_folder() / MEMORY_FILE, _TABLE, limit)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The cached values by key; keys without one are left out."""
        return {key: json.loads(value) for key, value in self._cache.get(keys).items()}

    def put(self, values: Mapping[bytes, Any]) -> None:
        """Cache values; a full file drops its oldest ones."""
        self._cache.put({key: json.dumps(value).encode() for key, value in values.items()})


_MAX_BIBLIOGRAPHIES = 2  # those of the drafts that one works on

_Result = TypeVar("_Result")


def once_per_bibliography(
    function: Callable[[Sequence[Reference]], _Result],
) -> Callable[[Sequence[Reference]], _Result]:
    """A function that remembers its results for the last bibliographies, since an editor reads a draft at every change.

    Entries are compared by identity, which takes no time: a file that did not change gives the same objects.
    """
    results: deque[tuple[Sequence[Reference], _Result]] = deque(maxlen=_MAX_BIBLIOGRAPHIES)

    @wraps(function)
    def remembering(references: Sequence[Reference]) -> _Result:
        for earlier_references, result in tuple(results):
            if len(earlier_references) == len(references) and all(map(is_, earlier_references, references)):
                return result
        result = function(references)
        results.append((references, result))
        return result

    return remembering


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """The papers for a claim, best first, the score below which they are doubtful, and the chance that one fits."""

    papers: tuple[Recommendation, ...]
    doubt: float | None  # None if not known
    fits: float | None  # None if not known

    @property
    def doubtful(self) -> bool:
        """Whether even the best paper is poor beside those of other claims."""
        return self.doubt is not None and bool(self.papers) and self.papers[0].score < self.doubt


class CachedLibrary:
    """An open library, or one at a path, with a cache of its answers."""

    def __init__(self, library: Library | Path, memory: Memory | None = None, threads: int | None = None) -> None:
        self._library = library
        self._memory = memory
        self._threads = threads or (os.cpu_count() or 1) + _EXTRA_THREADS

    @cached_property
    def library(self) -> Library:
        """The library, opened on first use."""
        return (
            _open_library(self._library, json.dumps(self.state)) if isinstance(self._library, Path) else self._library
        )

    @cached_property
    def state(self) -> list[Any]:
        """Everything the answers depend on, as part of cache keys."""
        release = version("whycite")
        if not isinstance(self._library, Path):
            path = self._library.path
            return [release, str(path), self._library.version, register_state(path)]
        # Importing the store takes longer than everything else, and is not needed to notice a new commit.
        return [release, str(self._library.resolve()), library_state(self._library)]

    def recommend(
        self, claims: Sequence[Claim], n: int, on_answer: Callable[[], None] = lambda: None
    ) -> list[LibraryAnswer]:
        """The best papers for each claim; `on_answer` is called after each."""
        keys = [
            memory_key("whole papers, doubt and fits", self.state, DEFAULT_METHOD, n, asdict(claim)) for claim in claims
        ]
        memory_records = self._memory.get(keys) if self._memory else {}
        missing = {key: claim for key, claim in zip(keys, claims, strict=True) if key not in memory_records}
        for _ in range(len(claims) - len(missing)):
            on_answer()
        answers = self._compute_answers(missing, n, on_answer) if missing else {}
        if self._memory:
            self._memory.put({key: _answer_record(answer) for key, answer in answers.items()})
        return [answers[key] if key in answers else _answer_from_record(memory_records[key]) for key in keys]

    def _compute_answers(
        self, claims: Mapping[bytes, Claim], n: int, on_answer: Callable[[], None]
    ) -> dict[bytes, LibraryAnswer]:
        method = self._method
        doubt: float | None = getattr(method, "doubt", None)

        def answer(claim: Claim) -> LibraryAnswer:
            recommendations = method.recommend(claim, n)
            on_answer()
            return LibraryAnswer(tuple(recommendations), doubt, answer_fits(recommendations))

        # If every thread has a claim, splitting the work of the models further costs more time than it saves.
        pool = ThreadPoolExecutor(self._threads, initializer=disable_threads if len(claims) >= self._threads else None)
        try:
            return dict(zip(claims, pool.map(answer, claims.values()), strict=True))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @cached_property
    def _method(self) -> Method:
        return _default_method(self.library)

    def notices(self, references: Sequence[Reference]) -> list[PaperNotices]:
        """What was published about the paper of each reference."""
        path = self._library if isinstance(self._library, Path) else self._library.path
        if not register_state(path):  # what documents of the library say would be in the register
            return [stated(reference) for reference in references]
        key = memory_key("notices", self.state, [asdict(reference) for reference in references])
        memory_records = self._memory.get([key]) if self._memory else {}
        if key in memory_records:
            return [load_notices(record) for record in memory_records[key]]
        notices = self.library.notices(references, self.find(references))
        if self._memory:
            self._memory.put({key: [asdict(paper_notices) for paper_notices in notices]})
        return notices

    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of the library's paper for each reference, or None."""
        if not references:
            return []
        key = memory_key("references", self.state, [asdict(reference) for reference in references])
        memory_records = self._memory.get([key]) if self._memory else {}
        paper_keys: list[str | None] = memory_records[key] if key in memory_records else self.library.find(references)
        if self._memory and key not in memory_records:
            self._memory.put({key: paper_keys})
        return paper_keys


@lru_cache(maxsize=1)
def _open_library(path: Path, state: str) -> Library:
    """Open the library in that state, and keep it open for the next check in this process."""
    from whycite.library import Library

    return Library.open(path)


@lru_cache(maxsize=1)
def _default_method(library: Library) -> Method:
    return load_method(DEFAULT_METHOD, library)


def _answer_record(answer: LibraryAnswer) -> dict[str, Any]:
    return {
        "papers": [recommendation_json(recommendation, explain=True) for recommendation in answer.papers],
        "doubt": answer.doubt,
        "fits": answer.fits,
    }


def _answer_from_record(record: Mapping[str, Any]) -> LibraryAnswer:
    return LibraryAnswer(tuple(map(_recommendation_from_record, record["papers"])), record["doubt"], record["fits"])


def _recommendation_from_record(record: Mapping[str, Any]) -> Recommendation:
    """Restore a cached recommendation."""
    from whycite.library.records import Paper, SourceDocument

    paper = {name: value for name, value in record["paper"].items() if name != "warning"}
    return Recommendation(
        rank=record["rank"],
        score=record["score"],
        support=record["support"],
        paper=Paper(
            **paper
            | {
                "authors": tuple(paper["authors"]),
                "publication": load_publication(paper.get("publication", {})),
                "notices": tuple(Notice(**notice) for notice in paper.get("notices", ())),
            }
        ),
        evidence=tuple(
            Evidence(evidence["span"], evidence["score"], evidence["sentence"], SourceDocument(**evidence["source"]))
            for evidence in record["evidence"]
        ),
        shares=record["explain"],
        fits=record["fits"],
        citing_documents=record["citing_documents"],
        passages=tuple(OwnPassage(**passage) for passage in record["passages"]),
        title_matches=record["title_matches"],
    )
