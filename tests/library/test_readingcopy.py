"""The reading copy answers as the tables do, whatever happened to the library."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.drafts import numbered_document
from tests.fakes import hashing_encoder
from tests.thoroughness import examples
from whycite.documents.model import Document, Reference
from whycite.library import Library, add_documents, compact, readingcopy, remove, store
from whycite.library.readingcopy import CITATION_COLUMNS, copy_folder, open_copy
from whycite.library.store import Store, open_store
from whycite.library.tables import read_columns, rows_at, rows_by_id

Make = Callable[..., Document]


def _store(place: Path) -> Store:
    found = open_store(place)
    assert found is not None
    return found


def _copies(place: Path) -> list[str]:
    return sorted(file.name for file in copy_folder(place).iterdir() if file.is_dir())


def _heaps(place: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in copy_folder(place).glob("*.heap")}


def _heap(place: Path, table: str) -> Path:
    [heap] = copy_folder(place).glob(f"{table}-*.heap")
    return heap


def _answers(library: Library, encoder: Any) -> tuple[Any, ...]:
    [vector] = encoder.encode(["growing cells"])
    spans, papers, _ = library.search("growing cells", lambda: vector, 1_000, 1_000)
    citations = library.citations([hit.id for hit in spans])
    cited = sorted({citation.paper for citation in citations})
    return (
        spans,
        papers,
        citations,
        library.papers(cited),
        library.outlines(cited, vector, texts=True),
        library.support(cited),
        library.texts([citation.sentence for citation in citations]),
        library.cocited([paper.key for paper in library.papers(cited[:3]).values()]),
    )


def _same_without(place: Path, encoder: Any) -> None:
    """Check that the copy is used, and answers as the tables do."""
    with_copy = Library.open(place)
    assert with_copy.snapshot.reading_copy
    bare = shutil.copytree(place, place.with_name(f"{place.name} without copy"), dirs_exist_ok=True)
    shutil.rmtree(copy_folder(bare))
    assert _answers(with_copy, encoder) == _answers(Library.open(bare), encoder)
    shutil.rmtree(bare)


def _told(at: int, abstract: str) -> Document:
    """What a paper says of itself that `numbered(at)` cites."""
    cited = f"Observations number {at} of the growth of cells in ponds"
    paper = Reference("self", title=cited, doi=f"10.1234/work.{at}", abstract=abstract)
    return Document(f"work{at}.md", "plain", paper, references=(Reference("x", title="Something else"),))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library in several pieces, some rows of which are gone."""
    place = tmp_path_factory.mktemp("copied") / "library"
    for first in (0, 10, 20):
        papers = [numbered_document(at) for at in range(first, first + 10)]
        add_documents(place, papers, jobs=1, encoder=hashing_encoder())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whycite.library.maintenance.encoder_of", lambda *_: hashing_encoder())
        remove(place, ["paper3.md", "paper14.md"])
    return place


@settings(max_examples=examples(25), deadline=None)
@given(table=st.sampled_from(["spans", "papers"]), seed=st.integers(0, 99), data=st.data())
def test_rows_are_those_of_the_table(built: Path, table: str, seed: int, data: st.DataObject) -> None:
    held = _store(built)
    copy = open_copy(built, held.commit)
    assert copy is not None
    rows = copy.rows[table]
    columns = {
        "spans": ["id", "text", "vector"],
        "papers": ["id", "key", "title", "authors", "year", "venue", "doi", "abstract", "text", "vector"],
    }[table]
    asked = data.draw(st.lists(st.sampled_from(columns), min_size=1, unique=True))
    rows_held = read_columns(held[table], ["id", "_rowid"])
    chance = random.Random(seed)
    ids = chance.choices([*rows_held["id"].to_pylist(), 0, 7, 2**62], k=chance.randrange(30))
    expected = rows_by_id(held[table], "id", sorted(set(ids)), asked)
    found = rows.rows_by_id("id", ids, asked)
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()
    places = chance.choices(rows_held["_rowid"].to_pylist(), k=chance.randrange(30))
    assert rows.rows_at(places, asked).to_pylist() == rows_at(held[table], sorted(set(places)), asked).to_pylist()


@pytest.mark.parametrize("column", ["span", "paper"])
def test_citations_are_those_of_the_table(built: Path, column: str) -> None:
    held = _store(built)
    copy = open_copy(built, held.commit)
    assert copy is not None
    ids = [*read_columns(held["citations"], [column])[column].to_pylist()[::3], 0, 2**62]
    columns = [*reversed(CITATION_COLUMNS[column])]
    found, expected = (
        sorted(rows.to_pylist(), key=repr)
        for rows in (
            copy.citations.rows_by_id(column, ids, columns),
            rows_by_id(held["citations"], column, sorted(set(ids)), columns),
        )
    )
    assert found == expected
    assert len(found) > 10
    assert copy.citations.rows_by_id(column, [], columns).to_pylist() == []


def test_what_is_added_later_is_appended(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(40)), jobs=1, encoder=encoder)
    before, [first] = _heaps(place), _copies(place)
    add_documents(place, [numbered(50)], jobs=1, encoder=encoder)
    after = _heaps(place)
    # Papers of which more is known are copied again, and so is their small heap.
    [spans] = (name for name in before if name.startswith("spans"))
    assert before[spans] < after[spans] < before[spans] + 2_000
    assert _copies(place) != [first]
    _same_without(place, encoder)


def test_nothing_new_nothing_copied(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    before = {file: file.stat().st_mtime_ns for file in copy_folder(place).rglob("*")}
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    assert {file: file.stat().st_mtime_ns for file in copy_folder(place).rglob("*")} == before


def test_papers_of_which_more_is_told(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(5)), jobs=1, encoder=encoder)
    add_documents(place, [_told(2, "On algae.")], jobs=1, encoder=encoder)
    _same_without(place, encoder)
    [found] = [paper for paper in Library.open(place).papers(_ids(place)).values() if paper.abstract]
    assert found.abstract == "On algae."
    remove(place, ["work2.md"], encoder=encoder)
    _same_without(place, encoder)
    assert not any(paper.abstract for paper in Library.open(place).papers(_ids(place)).values())


def _ids(place: Path) -> list[int]:
    ids: list[int] = read_columns(_store(place)["papers"], ["id"])["id"].to_pylist()
    return ids


def test_what_was_removed_is_gone_from_the_copy_with_compact(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(9)), jobs=1, encoder=encoder)
    remove(place, ["paper4.md"])
    _same_without(place, encoder)
    compact(place)
    _same_without(place, encoder)
    said = b"".join(file.read_bytes() for file in copy_folder(place).glob("*.heap"))
    assert b"Cells of kind 5 grow" in said
    assert b"Cells of kind 4 grow" not in said
    assert len(_copies(place)) == 1
    assert len(_heaps(place)) == 2


def test_a_heap_that_is_mostly_waste_is_written_anew(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(20)), jobs=1, encoder=encoder)
    before = _heaps(place)
    remove(place, [f"paper{at}.md" for at in range(15)])
    after = _heaps(place)
    assert len(after) == 2
    assert not after.keys() & before.keys()
    assert sum(after.values()) < sum(before.values()) / 2
    _same_without(place, encoder)


@pytest.mark.parametrize("call", [0, 3, 9, 14])
def test_ended_while_it_copies(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    class Killed(BaseException):
        pass

    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    reader = Library.open(place)
    before = _answers(reader, encoder)
    saved: list[str] = []

    def ending(file: Path, values: Any) -> None:
        if len(saved) == call:
            raise Killed
        saved.append(file.name)
        save(file, values)

    save = np.save
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", ending)
        with pytest.raises(Killed):
            add_documents(place, [numbered(9)], jobs=1, encoder=encoder)
    assert Library.open(place).snapshot.reading_copy is None
    assert Library.open(place).info().documents == 5
    assert _answers(Library.open(place), encoder)[0] != before[0]
    assert add_documents(place, [numbered(9)], jobs=1, encoder=encoder).unchanged == 1
    _same_without(place, encoder)
    assert _answers(reader, encoder) == before


def test_readers_go_on_with_the_copy_they_opened(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(6)), jobs=1, encoder=encoder)
    reader = Library.open(place)
    before = _answers(Library.open(place), encoder)
    remove(place, ["paper1.md", "paper2.md"])
    add_documents(place, map(numbered, range(20, 26)), jobs=1, encoder=encoder)
    compact(place)
    assert _answers(reader, encoder) == before


@pytest.mark.parametrize("damage", ["no facts", "facts", "array", "no array", "no heap", "nothing"])
def test_a_copy_that_cannot_be_opened_is_left_alone(place: Path, encoder: Any, numbered: Make, damage: str) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    before = _answers(Library.open(place), encoder)
    folder = copy_folder(place, _store(place).commit)
    if damage == "no facts":
        (folder / "facts.json").unlink()
    elif damage == "facts":
        (folder / "facts.json").write_text("{}")
    elif damage == "array":
        (folder / "spans.ids.npy").write_bytes(b"")
    elif damage == "no array":
        (folder / "citations.span.begins.npy").unlink()
    elif damage == "no heap":
        _heap(place, "papers").unlink()
    library = Library.open(place)
    assert (library.snapshot.reading_copy is not None) == (damage == "nothing")
    assert _answers(library, encoder) == before
    add_documents(place, [numbered(9)], jobs=1, encoder=encoder)
    _same_without(place, encoder)


@pytest.mark.parametrize("table", ["spans", "papers"])
def test_a_heap_that_was_cut_is_told_and_not_read(
    place: Path, encoder: Any, numbered: Make, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    before = _answers(Library.open(place), encoder)
    heap = _heap(place, table)
    heap.write_bytes(heap.read_bytes()[:100])
    assert _answers(Library.open(place), encoder) == before
    assert "the reading copy is damaged; mend it with: whycite library check --repair" in caplog.text
    compact(place)
    _same_without(place, encoder)


def test_a_copy_made_anew_while_it_is_opened_is_not_half_of_each(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    before = _answers(Library.open(place), encoder)
    found = readingcopy.load_column

    def loaded(folder: Path, name: str, column: str) -> Any:
        if (name, column) == ("papers", "same_as"):  # the rows are open, the citations not yet
            monkeypatch.setattr(readingcopy, "load_column", found)
            readingcopy.write_copy(_store(place), from_scratch=True)
        return found(folder, name, column)

    monkeypatch.setattr(readingcopy, "load_column", loaded)
    library = Library.open(place)
    assert library.snapshot.reading_copy is None
    assert _answers(library, encoder) == before
    _same_without(place, encoder)


def test_a_folder_put_back_from_an_older_state_does_not_use_the_newer_copy(
    place: Path, encoder: Any, numbered: Make, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    old = shutil.copytree(place, place.with_name("old"))
    add_documents(place, [numbered(2)], jobs=1, encoder=encoder)
    shutil.copytree(copy_folder(place), copy_folder(old), dirs_exist_ok=True)
    monkeypatch.setattr(store, "commit_time", lambda: "2030-01-01T00:00:00+00:00")  # later than what was put back
    add_documents(old, [make("other.md", "Stones “roll” [@w].", references=[Reference("w", title="Works")])],
                  jobs=1, encoder=encoder)  # fmt: skip
    _same_without(old, encoder)
