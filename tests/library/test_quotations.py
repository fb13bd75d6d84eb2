"""Evidence as it was written: stored with the document, and absent from libraries of older versions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from whycite.cite.recommendations import Claim, load_method
from whycite.documents.model import Document, Reference
from whycite.library import Library, add_documents
from whycite.library.maintenance import compact, remove
from whycite.library.store import open_store
from whycite.library.tables import identifier

Make = Callable[..., Document]
PONDS = Reference("ponds", title="Growth of cells in ponds", authors=("Doe, J.",), year=2010, doi="10.1234/ponds")
LAKES = Reference("lakes", title="Growth of cells in lakes", authors=("Roe, R.",), year=2011, doi="10.1234/lakes")


def _quotations(place: Path) -> set[str]:
    library = Library.open(place)
    return {*library.quotations(library.citations([identifier(text) for text in _span_texts(library)])).values()}


def _span_texts(library: Library) -> list[str]:
    return [cited.text for cited in library.cited_spans()]


def _paper(make: Make, path: str, sentence: str, *, title: str) -> Document:
    return make(path, sentence, references=[PONDS, LAKES], title=title, year=2020)


def _make_older(place: Path) -> None:
    """Turn a library into one of the version before, which had no quotations."""
    store = open_store(place)
    assert store is not None
    store["documents"].drop_columns(["quotations"])
    store.save()


def test_each_place_has_its_sentence(place: Path, encoder: Any, make: Make) -> None:
    both = "Cells grow in “ponds” [@ponds], and they divide in “lakes” [@lakes]."
    papers = [make("a.md", both, "Cells rest in “mud” [@lakes].", references=[PONDS, LAKES], title="On cells")]
    add_documents(place, papers, jobs=1, encoder=encoder)
    assert _quotations(place) == {
        "Cells grow in “ponds” [1], and they divide in “lakes” [2].",
        "Cells rest in “mud” [1].",
    }


def test_the_same_words_in_two_documents_are_quoted_from_each(place: Path, encoder: Any, make: Make) -> None:
    papers = [
        _paper(make, "a.md", "Cells grow in “ponds” [@ponds].", title="On the cells of ponds and lakes"),
        _paper(make, "b.md", "Cells [@lakes] grow in “ponds”.", title="On the ponds and lakes of cells"),
    ]
    add_documents(place, papers, jobs=1, encoder=encoder)
    assert _quotations(place) == {"Cells grow in “ponds” [1].", "Cells [1] grow in “ponds”."}
    remove(place, ["a.md"], encoder=encoder)
    assert _quotations(place) == {"Cells [1] grow in “ponds”."}


def test_a_library_of_the_version_before(place: Path, encoder: Any, make: Make) -> None:
    """It answers as before; what is added later is quoted as written."""
    old = _paper(make, "a.md", "Cells grow in “ponds” [@ponds].", title="On the cells of ponds and lakes")
    add_documents(place, [old], jobs=1, encoder=encoder)
    _make_older(place)
    assert _quotations(place) == set()
    [best, *_] = load_method("ilciter", Library.open(place), encoder).recommend(Claim("Cells grow in ponds"))
    assert [evidence.sentence for evidence in best.evidence] == ["Cells grow in “ponds”"]
    new = _paper(make, "b.md", "Cells rest in “lakes” [@lakes].", title="On the ponds and lakes of cells")
    assert add_documents(place, [old, new], jobs=1, encoder=encoder).added == 1
    compact(place)
    assert _quotations(place) == {"Cells rest in “lakes” [1]."}
    assert sorted(_span_texts(Library.open(place))) == ["Cells grow in “ponds”", "Cells rest in “lakes”"]
