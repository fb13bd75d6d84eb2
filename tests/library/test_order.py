"""The same documents make the same library, in whatever order and batches they are added."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from whycite.documents.model import Document, Reference
from whycite.library import Library, add_documents, adding

Make = Callable[..., Document]
GROWTH = "The slow growth of green cells in very cold ponds"
FIELDS: tuple[Mapping[str, Any], ...] = (
    {"authors": ("Doe, Jane",)},  # without a year: of which paper depends on how many there are
    {"authors": ("Doe, Jane",), "year": 2010},
    {"authors": ("Doe, Jane",), "year": 2011},
    {"authors": ("Doe, Jane",), "year": 2012, "venue": "Journal of Ponds"},
    {"authors": ("Doe, Jane", "Roe, R."), "year": 2012, "doi": "10.1/ponds"},
    {"authors": ("Doe, J.",), "year": 2011, "doi": "10.1/PONDS", "venue": "J. Ponds"},
    {"authors": ("Doe, Jane",), "year": 2012, "doi": "10.1/ponds", "pmid": "77", "venue": "JOURNAL OF PONDS"},
    {"authors": ("Doe, Jane",), "year": 2007, "pmid": "77"},
    {"authors": ("Doe, Jane",), "year": 2009, "arxiv": "0901.00001"},
    {"authors": ("Poe, Edgar",), "year": 2012, "doi": "10.1/other"},
)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_adding_does_not_matter(
    seed: int, tmp_path: Path, encoder: Any, make: Make, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [
        make(
            f"{number}.md",
            f"Cells of kind {number} grow in “water” [@a].",
            references=[Reference("a", title=GROWTH, **fields)],
            title=f"Report number {number} about growth of cells in cold ponds",
            year=2020,
        )
        for number, fields in enumerate(FIELDS)
    ]
    # A document that others cite, with another title and year than it gives itself.
    documents.append(make("own.md", "We grew cells.", title=GROWTH.upper(), doi="10.1/ponds", year=2013))
    add_documents(tmp_path / "together", documents, jobs=1, encoder=encoder)
    shuffled = Random(seed).sample(documents, len(documents))
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", seed + 1)
    add_documents(tmp_path / "shuffled", shuffled, jobs=1, encoder=encoder)
    together, one_by_one = content(tmp_path / "together"), content(tmp_path / "shuffled")
    for name in together:
        assert together[name] == one_by_one[name]


def test_what_was_added_when_does_not_change_scores(tmp_path: Path, encoder: Any, make: Make) -> None:
    """BM25 counts words in all that is there, not in what was indexed first."""
    syllables = Random("words")
    vocabulary = ["".join(syllables.choices(("ka", "lo", "mi", "nu", "re"), k=4)) for _ in range(60)]
    documents = [
        make(
            f"{number}.md",
            f"{' '.join(Random(number).choices(vocabulary[: 5 + number], k=3 + number % 9))} grow in “water” [@a].",
            references=[
                Reference("a", title=f"Observations of the growth of plants in pond {number}", doi=f"10.1/{number}")
            ],
            title=f"Report number {number} about growth of cells in cold ponds",
            year=2020,
        )
        for number in range(48)
    ]
    portions = {"together": [48], "in portions": [1, 20, 7, 20], "backwards": [30, 18]}
    scores = {}
    for name, sizes in portions.items():
        waiting = documents[::-1] if name == "backwards" else list(documents)
        for size in sizes:
            add_documents(tmp_path / name, waiting[:size], jobs=1, encoder=encoder)
            del waiting[:size]
        library = Library.open(tmp_path / name)
        hits = [library.search_spans(word, encoder.encode([word])[0]) for word in vocabulary[:20]]
        scores[name] = [{(hit.text, hit.lexical) for hit in found if hit.lexical} for found in hits]
    assert any(scores["together"])
    assert scores["in portions"] == scores["backwards"] == scores["together"]


@pytest.mark.parametrize("fields", [{}, {"year": 2010}], ids=["no year", "same year"])
def test_two_files_of_one_paper_are_one_document(
    tmp_path: Path, encoder: Any, make: Make, monkeypatch: pytest.MonkeyPatch, fields: Mapping[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("paper.xml", "paper.pdf"):
        (tmp_path / name).touch()
    published = make("paper.xml", "Cells grow.", title=GROWTH, year=2010, doi="10.1/ponds")
    printed = make("paper.pdf", "Cells grow\u00ad.", title=GROWTH, **fields)
    other = make("other.md", "Cells shrink.", title=GROWTH, year=2001)
    report = add_documents(tmp_path / "library", [published, printed, other], jobs=1, encoder=encoder)
    assert report.added == 2
    assert [Path(path).name for path, _ in report.skipped] == ["paper.pdf"]
    again = add_documents(tmp_path / "library", [printed], jobs=1, encoder=encoder)
    assert (again.added, len(again.skipped)) == (0, 1)
