"""A writer that is ended at any moment loses nothing that it told, and leaves a library that opens."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb.merge
import lancedb.table
import pytest

from whycite.documents.model import Document
from whycite.library import Library, add_documents, adding, compact, maintenance, remove

Make = Callable[..., Document]
Read = Callable[[Path], Any]
Write = Callable[[Path], object]
SLOW = [pytest.mark.slow, pytest.mark.timeout(900)]
WORKER = Path(__file__).with_name("worker.py")
CALLS = [
    *((lancedb.table.LanceTable, name) for name in ("add", "delete", "optimize", "create_index", "restore")),
    (lancedb.merge.LanceMergeInsertBuilder, "execute"),
]


class Killed(BaseException):
    """The end of a process, as far as files can tell: nothing is written after it."""


@contextmanager
def _ended_at(call: int) -> Iterator[list[str]]:
    """End the writer before the nth call that changes a table (-1: never); the calls are listed."""
    made: list[str] = []

    def ending(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*args: Any, **options: Any) -> Any:
            if len(made) == call:
                raise Killed
            made.append(name)
            return original(*args, **options)

        return changed

    with pytest.MonkeyPatch.context() as patch:
        for home, name in CALLS:
            patch.setattr(home, name, ending(name, getattr(home, name)))
        yield made


def _consistent(place: Path, encoder: Any) -> set[str]:
    """Check that everything that is referred to is there; the paths of the documents."""
    library = Library.open(place)
    hits = library.search_spans("growing cells", encoder.encode(["cells"])[0], k=1_000)
    citations = library.citations([hit.id for hit in hits])
    papers = {citation.paper for citation in citations}
    documents = {citation.document for citation in citations}
    assert {citation.span for citation in citations} == {hit.id for hit in hits}
    assert library.papers(sorted(papers)).keys() == papers
    assert library.sources(sorted(documents)).keys() == documents
    assert library.texts([citation.sentence for citation in citations]).keys() <= {hit.id for hit in hits}
    assert library.info().documents == len(documents)
    return {entry.path for entry in library.documents()}


@pytest.fixture
def scattered(place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library in some pieces, and batches so small that a few papers are several."""
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", 1)
    monkeypatch.setattr(maintenance, "MAX_FRAGMENTS", 2)
    add_documents(place, [numbered(at) for at in range(2)], jobs=1, encoder=encoder)
    return place


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=SLOW)])
@pytest.mark.parametrize("what", ["add", "first add", "remove", "compact"])
def test_ended_before_any_change_of_any_table(
    scattered: Path,
    encoder: Any,
    numbered: Make,
    make: Make,
    content: Read,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    every: int,
) -> None:
    old = numbered(1)
    changed = make(old.path, "Cells “shrink” [@r1].", references=old.references, title="Anew", doi=old.paper.doi)
    told: list[int] = []
    writes: dict[str, Write] = {
        "add": lambda at: add_documents(
            at, [changed, numbered(7)], jobs=1, encoder=encoder, progress=lambda p: told.append(p.added)
        ),
        "first add": lambda at: add_documents(
            at, [numbered(7), numbered(8)], jobs=1, encoder=encoder,
            progress=lambda p: told.append(p.added),
        ),
        "remove": lambda at: remove(at, ["paper1.md"]),
        "compact": compact,
    }  # fmt: skip
    write, first = writes[what], what == "first add"
    if what == "compact":  # of a library that has not changed for longer than readers have
        monkeypatch.setattr(maintenance, "READER_GRACE", timedelta(0))
        slack = timedelta(seconds=5)  # a busy machine takes two to drop versions
        monkeypatch.setattr(maintenance, "PRUNE_SLACK", slack)
        time.sleep(5.5)

    def begin(name: str) -> Path:
        at = scattered.with_name(name)
        return at if first else shutil.copytree(scattered, at)

    before = None if first else content(scattered)
    undisturbed = begin("undisturbed")
    with _ended_at(-1) as calls:
        write(undisturbed)
    after = content(undisturbed)
    assert len(calls) >= 5
    for call in range(0, len(calls), every):
        place = begin(f"ended{call}")
        told.clear()
        with _ended_at(call), pytest.raises(Killed):
            write(place)
        if any(told) or not first:
            found = _consistent(place, encoder)
            assert len(found & {"paper1.md", "paper7.md"} if any(told) else {"told"}) >= 1
            if not any(told):
                assert content(place) in (before, after)
        if not (what == "remove" and content(place) == after):
            write(place)
        assert content(place) == after, f"ended before call {call} of {calls}"


def _killed(command: list[str], after: float) -> list[str]:
    """What a process said that is killed so many seconds after it told of anything kept."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = next(line for line in process.stdout if not line.startswith("0 "))
        time.sleep(after)
        process.kill()
        return [first, *process.stdout.read().splitlines()]


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=SLOW)])
def test_killed_at_any_moment_of_adding(place: Path, encoder: Any, numbered: Make, content: Read, kills: int) -> None:
    papers = 60
    moment = random.Random(kills)
    command = [sys.executable, str(WORKER), "add", str(place), str(papers)]
    for _ in range(kills):
        if place.exists() and Library.open(place).info().documents == papers:
            shutil.rmtree(place)  # it is complete: from the beginning
        held = _consistent(place, encoder) if place.exists() else set()
        said = _killed(command, moment.uniform(0, 0.6))
        told = max((int(line.split()[0]) for line in said if line[:1].isdigit()), default=0)
        found = _consistent(place, encoder)
        assert held <= found
        assert len(found) >= len(held) + told
    add_documents(place, map(numbered, range(papers)), jobs=1, encoder=encoder)
    fresh = place.with_name("fresh")
    add_documents(fresh, map(numbered, range(papers)), jobs=1, encoder=encoder)
    assert content(place) == content(fresh)


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=SLOW)])
def test_killed_at_any_moment_of_compacting(
    place: Path, encoder: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", 3)
    add_documents(place, map(numbered, range(40)), jobs=1, encoder=encoder)
    before = content(place)
    moment = random.Random(kills)
    command = [sys.executable, str(WORKER), "compact", str(place), "0"]
    for _ in range(kills):
        _killed(command, moment.uniform(0, 0.3))
        assert content(place) == before
        assert len(_consistent(place, encoder)) == 40
    compact(place)
    assert content(place) == before
