"""The library on disk: indices, old versions, and how large it gets."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document
from whycite.library import Library, add_documents, adding, compact, maintenance, remove
from whycite.library.store import Store, open_store
from whycite.library.tables import TABLES

Make = Callable[..., Document]
Read = Callable[[Path], Any]
INDICES = {"papers": 2, "documents": 1, "spans": 2, "citations": 3, "passages": 2}


def _opened(place: Path) -> Store:
    store = open_store(place)
    assert store is not None
    return store


def _pieces(store: Store, table: str) -> int:
    return int(store[table].stats()["fragment_stats"]["num_fragments"])


def _versions(place: Path, table: str) -> list[int]:
    return [found["version"] for found in _opened(place)[table].list_versions()]


def _answer(library: Library, encoder: Any) -> tuple[Any, ...]:
    [vector] = encoder.encode(["growing cells"])
    hits = library.search_spans("growing cells", vector, k=1_000)
    citations = library.citations([hit.id for hit in hits])
    papers = library.papers([citation.paper for citation in citations])
    return hits, citations, papers, list(library.occurrences()), library.info().documents


def test_every_table_with_rows_is_indexed(place: Path, encoder: Any, numbered: Make, make: Make) -> None:
    add_documents(place, [make("a.md", "Nothing is cited.", title="On cells")], jobs=1, encoder=encoder)
    found = {name: len(_opened(place)[name].list_indices()) for name in TABLES}
    assert found == INDICES | {"spans": 0, "citations": 0}
    assert not maintenance.needs_index(_opened(place))
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    assert {name: len(_opened(place)[name].list_indices()) for name in TABLES} == INDICES
    assert not maintenance.needs_index(_opened(place))


def test_rows_wait_for_an_index_until_they_are_many(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, map(numbered, range(20)), jobs=1, encoder=encoder)
    monkeypatch.setattr(maintenance, "MAX_UNINDEXED", 8)
    monkeypatch.setattr(maintenance, "MAX_ALWAYS_INDEXED", 0)
    monkeypatch.setattr(maintenance, "MAX_UNINDEXED_SHARE", 1)

    def waiting() -> int:
        return int(_opened(place)["papers"].index_stats("text_idx").num_unindexed_rows)

    add_documents(place, [numbered(30)], jobs=1, encoder=encoder)
    assert waiting() == 3
    store = _opened(place)
    add_documents(place, [numbered(at) for at in (40, 50)], jobs=1, encoder=encoder)
    assert waiting() == 0
    assert not maintenance.needs_index(store, more_coming=True)


def test_an_add_that_was_killed_before_the_end_is_indexed_by_the_next(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, map(numbered, range(3)), jobs=1, encoder=encoder)
    documents = [numbered(number) for number in range(3, 6)]
    with monkeypatch.context() as patch:
        patch.setattr(adding, "prune", lambda _: 1 / 0)
        patch.setattr(adding, "needs_index", lambda *_, **__: False)
        with pytest.raises(ZeroDivisionError):
            add_documents(place, documents, jobs=1, encoder=encoder)
    assert _opened(place)["papers"].index_stats("text_idx").num_unindexed_rows
    assert add_documents(place, documents, jobs=1, encoder=encoder).added == 0
    assert not _opened(place)["papers"].index_stats("text_idx").num_unindexed_rows


def test_vectors_are_indexed_when_they_are_many(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MIN_INDEXED_VECTORS", 300)
    monkeypatch.setattr(maintenance, "PARTITION_ROWS", 20)
    add_documents(place, map(numbered, range(320)), jobs=1, encoder=encoder)
    compact(place)
    names = {index.name for index in _opened(place)["spans"].list_indices()}
    assert names == {"id_idx", "text_idx", "vector_16_idx"}
    text = "Cells of kind 7 grow in the “ponds”"
    hits = Library.open(place).search_spans("", encoder.encode([text])[0], k=3)
    assert text in {hit.text for hit in hits}


def test_many_small_adds_stay_small(place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs about the same room in a large library: nothing is rewritten for a single paper."""
    monkeypatch.setattr(maintenance, "MAX_ALWAYS_INDEXED", 0)
    monkeypatch.setattr(maintenance, "MAX_UNINDEXED_SHARE", 1)
    add_documents(place, map(numbered, range(300)), jobs=1, encoder=encoder)
    compact(place)
    sizes = [Library.open(place).info().bytes]
    began = time.process_time()
    for at in range(1_000, 1_006):
        add_documents(place, [numbered(at)], jobs=1, encoder=encoder)
        sizes.append(Library.open(place).info().bytes)
    grown = [after - before for before, after in pairwise(sizes)]
    assert max(grown) < 60_000 < sizes[0]
    assert time.process_time() - began < 30


def test_old_versions_go_when_nobody_can_need_them(
    place: Path, encoder: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "READER_GRACE", timedelta(0))
    monkeypatch.setattr(maintenance, "PRUNE_SLACK", timedelta(0))
    monkeypatch.setattr(maintenance, "MAX_FRAGMENTS", 6)
    for at in range(12):
        add_documents(place, [numbered(at)], jobs=1, encoder=encoder)
    remove(place, ["paper3.md"])
    before = content(place)
    assert all(len(_versions(place, name)) < 20 for name in TABLES)
    assert all(_pieces(_opened(place), name) <= 7 for name in TABLES)
    size, _ = compact(place)
    time.sleep(1.1)  # commits are timed in seconds
    assert compact(place)[1] < size
    assert all(len(_versions(place, name)) <= 4 for name in TABLES)
    assert content(place) == before


class Since:
    """A grace that began at a given time, however long a test takes."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def __rsub__(self, now: datetime) -> datetime:
        return self.time


def test_a_reader_goes_on_with_what_it_opened(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when that was old when it was opened: what counts is for how long there has been something newer."""
    monkeypatch.setattr(maintenance, "MAX_FRAGMENTS", 2)
    slack = timedelta(seconds=5)  # on a busy machine it takes two to drop versions
    monkeypatch.setattr(maintenance, "PRUNE_SLACK", slack)
    for at in range(4):
        add_documents(place, [numbered(at)], jobs=1, encoder=encoder)
    time.sleep(5.2)
    add_documents(place, [numbered(5)], jobs=1, encoder=encoder)
    versions = _versions(place, "documents")
    time.sleep(7)  # longer than the slack and the grace together
    monkeypatch.setattr(maintenance, "READER_GRACE", Since(datetime.now(UTC) - timedelta(seconds=1)))
    reader, unread = Library.open(place), Library.open(place)
    held = _opened(place).commit.versions
    before = _answer(reader, encoder)
    add_documents(place, [numbered(6)], jobs=1, encoder=encoder)
    remove(place, ["paper1.md", "paper2.md"])
    compact(place)
    compact(place)
    assert _answer(reader, encoder) == before
    assert _answer(unread, encoder) == before
    assert all(held[name] in _versions(place, name) for name in TABLES)  # not only in its memory
    assert Library.open(place).info().documents == 4
    assert versions[0] not in _versions(place, "documents")  # what is older did go
