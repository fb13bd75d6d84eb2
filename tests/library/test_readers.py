"""Many readers beside a writer: each sees one whole state."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, Self

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import Library, add_documents, adding, compact, maintenance, remove
from whycite.library.readingcopy import copy_folder

Make = Callable[..., Document]
Read = Callable[[Path], Any]
WORKER = Path(__file__).with_name("worker.py")


def _whole(place: Path, encoder: Any) -> int:
    """Check that one state is whole; the number of its documents."""
    library = Library.open(place)
    hits = library.search_spans("growing cells", encoder.encode(["cells"])[0], k=1_000)
    citations = library.citations([hit.id for hit in hits])
    documents = {citation.document for citation in citations}
    papers = {citation.paper for citation in citations}
    info = library.info()
    assert {citation.span for citation in citations} == {hit.id for hit in hits}
    assert len(hits) == info.spans
    assert len(citations) == info.citations
    assert library.papers(sorted(papers)).keys() == papers
    assert library.sources(sorted(documents)).keys() == documents
    assert info.documents == len(documents)
    assert list(library.occurrences())
    return info.documents


def test_readers_beside_a_writer(place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", 2)
    monkeypatch.setattr(maintenance, "MAX_FRAGMENTS", 3)
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    done = Event()

    def read() -> list[int]:
        seen = [_whole(place, encoder)]
        while not done.is_set():
            seen.append(_whole(place, encoder))
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for first in (10, 20):
                add_documents(place, map(numbered, range(first, first + 6)), jobs=1, encoder=encoder)
                compact(place)
            remove(place, ["paper1.md", "paper10.md"])
        finally:
            done.set()
        seen = [reader.result() for reader in readers]
    assert {count for counts in seen for count in counts} <= {4, 6, 8, 10, 12, 14, 16}
    assert _whole(place, encoder) == 14


def test_what_a_writer_drops_while_it_is_counted_counts_as_nothing(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    library = Library.open(place)
    size = library.info().bytes
    listed = os.scandir

    class Dropped:
        """What is in the folder of copies, which is gone as soon as it is listed."""

        def __init__(self) -> None:
            with listed(copy_folder(place)) as entries:
                self._entries = iter(list(entries))
            monkeypatch.setattr(os, "scandir", listed)
            shutil.rmtree(copy_folder(place))

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __iter__(self) -> Self:
            return self

        def __next__(self) -> os.DirEntry[str]:
            return next(self._entries)

    monkeypatch.setattr(
        os, "scandir", lambda folder: Dropped() if Path(folder) == copy_folder(place) else listed(folder)
    )
    assert 0 < library.info().bytes < size
    assert not copy_folder(place).exists()


def test_readers_in_other_processes_answer_the_same(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(12)), jobs=1, encoder=encoder)
    command = [sys.executable, str(WORKER), "ask", str(place), "0"]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [reader.communicate()[0] for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0]
    assert answers[0] == answers[1]
    assert answers[0].endswith("done\n")


def test_two_that_add_at_once(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    """The second is turned away when it begins; the first does not notice."""
    refused: list[str] = []

    def papers() -> Any:
        for at in range(4):
            with pytest.raises(UserError, match="in use by") as caught:
                add_documents(place, [numbered(99)], jobs=1, encoder=encoder)
            refused.append(str(caught.value))
            yield numbered(at)

    assert add_documents(place, papers(), jobs=1, encoder=encoder).added == 4
    assert len(refused) == 4
    fresh = place.with_name("fresh")
    add_documents(fresh, map(numbered, range(4)), jobs=1, encoder=encoder)
    assert content(place) == content(fresh)
