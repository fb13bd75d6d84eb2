"""The same papers make the same library, however the work is divided."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document
from whycite.library import Library, add_documents, adding

Make = Callable[..., Document]
Read = Callable[[Path], Any]


@pytest.mark.parametrize(("batch", "jobs"), [(1, 1), (5, 1), (32, 2)], ids=str)
def test_batches_and_jobs_do_not_matter(
    place: Path, encoder: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch, batch: int, jobs: int
) -> None:
    papers = [numbered(at) for at in range(12)]
    add_documents(place, papers, jobs=1, encoder=encoder)
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", batch)
    other = place.with_name("other")
    report = add_documents(other, papers, jobs=jobs, encoder=encoder)
    assert report.added == 12
    assert content(other) == content(place)
    [vector] = encoder.encode(["cells"])
    answers = [
        [(hit.text, hit.cosine) for hit in Library.open(at).search_spans("cells", vector)] for at in (place, other)
    ]
    assert answers[0] == answers[1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_thousand_papers(place: Path, encoder: Any, numbered: Make) -> None:
    report = add_documents(place, map(numbered, range(5_000)), jobs=1, encoder=encoder)
    info = Library.open(place).info()
    assert (report.added, info.documents, info.spans) == (5_000, 5_000, 5_001)
    assert info.bytes < 100 << 20
    [vector] = encoder.encode(["cells"])
    hits = Library.open(place).search_spans("cells of kind 4321", vector, k=10)
    assert any("4321" in hit.text for hit in hits)
