"""Shards of a library find, together, exactly what the whole library finds."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.drafts import numbered_document
from tests.fakes import hashing_encoder
from tests.thoroughness import examples
from whycite.errors import Busy
from whycite.library import Library, add_documents, maintenance, remove
from whycite.library.snapshot import CandidateRows, SearchCandidates, SearchRequest, Shard

QUESTIONS = [f"Cells of kind {number} grow in ponds" for number in range(examples(12))] + [
    "",
    "the of and",
    "water " * 300,
]


def _build(place: Path) -> Path:
    """A library whose tables have several fragments."""
    for start in (0, 200):
        papers = [numbered_document(at) for at in range(start, start + 200)]
        add_documents(place, papers, jobs=1, encoder=hashing_encoder())
    return place


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that is too small for an index of its vectors."""
    return _build(tmp_path_factory.mktemp("shards") / "library")


@pytest.fixture(scope="module")
def whole(built: Path) -> Callable[..., tuple[list[Any], ...]]:
    """What the whole library finds, searched once for each question."""
    library, encoder = Library.open(built), hashing_encoder()
    return cache(lambda question, *limits: search(library, encoder, question, *limits))


def asking(shards: Sequence[Shard]) -> Callable[[SearchRequest], list[SearchCandidates]]:
    """Asks shards of this process one after the other."""
    return lambda request: [shard.search(request) for shard in shards]


def search(library: Library, encoder: Any, question: str, *limits: int) -> tuple[list[Any], ...]:
    """All that a library finds for a question."""
    return library.search(question, lambda: encoder.encode([question])[0], *limits)


def sharded(place: Path, parts: int) -> Library:
    """A library that so many shards search."""
    library = Library.open(place)
    library.search_with(asking([Shard(place, number, parts) for number in range(parts)]))
    return library


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize(("spans", "papers", "passages"), [(100, 50, 20), (1, 1, 1), (7, 3, 0)])
def test_shards_find_what_one_library_finds(
    built: Path, whole: Any, encoder: Any, parts: int, spans: int, papers: int, passages: int
) -> None:
    several = sharded(built, parts)
    for question in QUESTIONS:
        limits = spans, papers, passages
        assert search(several, encoder, question, *limits) == whole(question, *limits)


def test_nothing_is_missed_that_an_index_of_vectors_finds(
    tmp_path: Path, encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MIN_INDEXED_VECTORS", 150)
    built = _build(tmp_path / "library")
    version = Library.open(built).version
    for question in QUESTIONS:
        [vector] = encoder.encode([question])
        request = SearchRequest(version, question, vector, {"spans": 20, "papers": 10}, 0, [])
        whole = Shard(built, 0, 1).search(request)
        thirds = [Shard(built, number, 3).search(request) for number in range(3)]
        for table, parts in zip(whole.tables, zip(*(third.tables for third in thirds), strict=True), strict=True):
            assert _by_words(table) <= {row for part in parts for row in _by_words(part)}
            assert _by_meaning(table) <= {row for part in parts for row in _by_meaning(part)}


def _by_words(rows: CandidateRows) -> set[tuple[int, float]]:
    return {*zip(rows.ids.tolist(), rows.scores.tolist(), strict=True)}


def _by_meaning(rows: CandidateRows) -> set[tuple[int, float, float]]:
    near = np.isfinite(rows.distances)
    return {*zip(*(column[near].tolist() for column in (rows.ids, rows.cosines, rows.distances)), strict=True)}


def test_no_shard_has_all(built: Path, encoder: Any) -> None:
    [vector] = encoder.encode(["cells"])
    version = Library.open(built).version
    request = SearchRequest(version, "cells grow", vector, {"spans": 10_000, "papers": 10_000}, 10_000, ["id"])
    halves = [Shard(built, number, 2).search(request) for number in range(2)]
    whole = Shard(built, 0, 1).search(request)
    for table, parts in zip(whole.tables, zip(*(half.tables for half in halves), strict=True), strict=True):
        assert not np.intersect1d(*(part.ids for part in parts)).size
        assert {*np.concatenate([part.ids for part in parts]).tolist()} == {*table.ids.tolist()}
        assert abs(len(parts[0].ids) - len(parts[1].ids)) <= 1
        assert len(set(table.ids.tolist())) == len(table.ids)


def test_a_library_with_fewer_rows_than_shards(tmp_path: Path, encoder: Any) -> None:
    place = tmp_path / "library"
    add_documents(place, [numbered_document(1)], jobs=1, encoder=hashing_encoder())
    [vector] = encoder.encode(["cells"])
    expected = Library.open(place).search("cells grow", lambda: vector, passages=20)
    assert expected[0]
    assert sharded(place, 20).search("cells grow", lambda: vector, passages=20) == expected


def test_shards_search_the_version_that_they_are_asked_for(tmp_path: Path, encoder: Any) -> None:
    place = tmp_path / "library"
    add_documents(place, [numbered_document(at) for at in range(20)], jobs=1, encoder=hashing_encoder())
    shards = [Shard(place, number, 2) for number in range(2)]
    before = Library.open(place)
    [vector] = encoder.encode(["cells"])
    old = before.search("kind 3 grow", lambda: vector)
    before.search_with(asking(shards))
    assert before.search("kind 3 grow", lambda: vector) == old
    add_documents(place, [numbered_document(at) for at in range(20, 40)], jobs=1, encoder=hashing_encoder())
    remove(place, [numbered_document(3).path])
    after = Library.open(place)
    new = after.search("kind 3 grow", lambda: vector)
    assert new != old
    after.search_with(asking(shards))
    for _ in range(2):  # whoever has not moved yet asks in between
        assert after.search("kind 3 grow", lambda: vector) == new
        assert before.search("kind 3 grow", lambda: vector) == old
    before.search_with(asking([Shard(place, number, 2) for number in range(2)]))
    assert before.search("kind 3 grow", lambda: vector) == old  # by shards that have just started


def test_a_version_that_is_not_there_is_told(built: Path) -> None:
    request = SearchRequest(999, "cells", np.zeros(8, np.float32), {"spans": 1}, 0, [])
    with pytest.raises(Busy, match="does not have version 999"):
        Shard(built, 0, 2).search(request)


def test_a_missing_shard_is_an_error(built: Path, encoder: Any) -> None:
    library = Library.open(built)

    def ask(request: SearchRequest) -> list[SearchCandidates]:
        raise Busy("part 2 of 2 of the library does not answer")

    library.search_with(ask)
    [vector] = encoder.encode(["cells"])
    with pytest.raises(Busy, match="part 2 of 2"):
        library.search("cells", lambda: vector)
