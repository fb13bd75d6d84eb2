"""What is known of how papers were published: stored, completed by other versions, absent from older libraries."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes import hashing_encoder
from whycite.documents.model import Document, Publication, Reference
from whycite.library import Library, Paper, add_documents, reindex
from whycite.library.readingcopy import MANIFEST
from whycite.library.store import open_store
from whycite.library.tables import identifier

Make = Callable[..., Document]
BARE = Reference("p", title="Growth of cells in ponds", authors=("Doe, J.",), year=2010, doi="10.1234/ponds")
DETAILS = Publication(type="article-journal", volume="7", pages="1-9")
FULL = replace(BARE, id="p", venue="Ponds", publication=DETAILS)
# Titles are what joins these with the DOI; the preprint appeared elsewhere.
TITLED = replace(FULL, doi="", pmid="77", publication=replace(DETAILS, issue="2", publisher="Pond Press"))
PREPRINT = replace(BARE, doi="", arxiv="1001.00001", venue="arXiv", publication=Publication(volume="1001"))


def _add(place: Path, encoder: Any, make: Make, *references: Reference) -> None:
    papers = [
        make(f"{number}.md", f"Claim {number} holds in “ponds” [@p].", references=[reference])
        for number, reference in enumerate(references)
    ]
    add_documents(place, papers, jobs=1, encoder=encoder)


def _paper(place: Path) -> Paper:
    paper = identifier("doi:10.1234/ponds")
    return Library.open(place).papers([paper])[paper]


def test_entries_complete_each_other(place: Path, encoder: Any, make: Make) -> None:
    _add(place, encoder, make, BARE, FULL, TITLED, PREPRINT)
    paper = _paper(place)
    assert paper.publication == replace(DETAILS, issue="2", publisher="Pond Press")
    assert (paper.venue, paper.pmid, paper.arxiv) == ("Ponds", "77", "1001.00001")


def test_the_fuller_date_counts(place: Path, encoder: Any, make: Make) -> None:
    dated = [replace(BARE, publication=Publication(date=date)) for date in ("2010-06", "2010-06-05")]
    _add(place, encoder, make, *dated)
    assert _paper(place).publication.date == "2010-06-05"


def test_two_references_may_both_end_in_et_al(place: Path, encoder: Any, make: Make) -> None:
    first = replace(BARE, publication=Publication(et_al=True, volume="3"))
    other = replace(BARE, publication=Publication(et_al=True, pages="1-9"))
    _add(place, encoder, make, first, other)
    assert _paper(place).publication == Publication(et_al=True, volume="3", pages="1-9")


def test_all_authors_take_the_place_of_et_al(place: Path, encoder: Any, make: Make) -> None:
    first = replace(BARE, publication=Publication(et_al=True))
    everybody = replace(BARE, authors=("Doe, Jane", "Roe, R.", "Poe, E."))
    _add(place, encoder, make, first, everybody)
    assert _paper(place).authors == everybody.authors
    assert not _paper(place).publication.et_al


def test_a_library_of_the_version_before(place: Path, encoder: Any, make: Make) -> None:
    """It opens without a change, and what is added later is complete."""
    _add(place, encoder, make, BARE)
    store = open_store(place)
    assert store is not None
    store["papers"].drop_columns(["publication"])
    store.save()
    assert _paper(place).publication == Publication()
    assert Library.open(place).find([BARE]) == ["doi:10.1234/ponds"]
    encoder = hashing_encoder("another@1")
    reindex(place, encoder=encoder)
    _add(place, encoder, make, BARE, FULL)
    assert _paper(place).publication == DETAILS


def test_a_reading_copy_of_the_version_before(place: Path, encoder: Any, make: Make) -> None:
    """Its records end before the new fields; the next add writes them again."""
    _add(place, encoder, make, FULL)
    manifest = next((place / "reading").glob(f"*/{MANIFEST}"))
    manifest.write_text(manifest.read_text("utf-8").replace('"columns"', '"unknown"'), "utf-8")
    heaps = {path.name for path in (place / "reading").glob("papers-*.heap")}
    _add(place, encoder, make, FULL, replace(TITLED, title="Stars", year=1999))
    assert heaps.isdisjoint(path.name for path in (place / "reading").glob("papers-*.heap"))
    assert _paper(place).publication == DETAILS
