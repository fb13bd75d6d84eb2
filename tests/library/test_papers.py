"""Which references are one paper, and how often a paper is cited."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document, Reference
from whycite.library import Library, Paper, add_documents, remove
from whycite.library.tables import identifier

Make = Callable[..., Document]
Read = Callable[[Path], Any]
TITLE = "The slow growth of cells in very cold ponds"
PUBLISHED = Reference("p", title=TITLE, authors=("Doe, J.",), year=2012, doi="10.1234/growth")
PREPRINT = Reference("q", title=TITLE, authors=("Doe, Jane",), year=2011, arxiv="1101.01234v2")
TITLED = Reference("t", title=TITLE.upper() + ".", authors=("J. Doe",), year=2012)
BRIDGE = Reference("b", title="Growth in ponds", authors=("Doe, J.",), doi="10.1234/growth", arxiv="1101.01234")
# In one go, and one by one with each of them last.
ORDERS = [((0, 1, 2), False), ((0, 1, 2), True), ((2, 0, 1), True), ((1, 2, 0), True)]
OTHER = Reference("o", title="Stars", authors=("Lee, K.",), year=2000)


def _citing(make: Make, *references: Reference) -> list[Document]:
    return [
        make(f"{at}.md", f"Claim {at} holds in “{reference.id}” [@{reference.id}].", references=[reference])
        for at, reference in enumerate(references)
    ]


def _add(place: Path, encoder: Any, papers: Sequence[Document], apart: bool = False) -> Library:
    for some in [[paper] for paper in papers] if apart else [papers]:
        add_documents(place, some, jobs=1, encoder=encoder)
    return Library.open(place)


def _cited(library: Library) -> dict[str, int]:
    """Support by key."""
    vector = [hit.id for hit in _everything(library)]
    papers = sorted({citation.paper for citation in library.citations(vector)})
    support = library.support(papers)
    return {paper.key: support[at] for at, paper in library.papers(papers).items()}


def _everything(library: Library) -> list[Any]:
    return [type("Hit", (), {"id": identifier(text)}) for text in dict.fromkeys(text for text, _ in library.pairs())]


def test_support_counts_places_not_rows(place: Path, encoder: Any, make: Make) -> None:
    paper = make("a.md", "Cells grow in “ponds” [@p].", "Cold “ponds” [@p] are cold, and “stars” [@o] too.",
                 references=[PUBLISHED, OTHER])  # fmt: skip
    other = make("b.md", "Cells grow in “ponds” [@p].", "All of it “holds” [@p,o].", references=[PUBLISHED, OTHER])
    library = _add(place, encoder, [paper, other])
    assert _cited(library) == {"doi:10.1234/growth": 4, "title:stars|2000|lee": 2}


@pytest.mark.parametrize(("order", "apart"), ORDERS, ids=str)
def test_versions_are_one_paper_under_the_best_key(
    place: Path, encoder: Any, make: Make, order: Sequence[int], apart: bool
) -> None:
    papers = _citing(make, PUBLISHED, PREPRINT, TITLED)
    library = _add(place, encoder, [papers[at] for at in order], apart)
    assert _cited(library) == {"doi:10.1234/growth": 3}
    assert library.info().papers == 1
    assert {key for _, key, _ in library.occurrences()} == {"doi:10.1234/growth"}


@pytest.mark.parametrize(("order", "apart"), ORDERS, ids=str)
def test_a_reference_with_both_ids_joins_papers_that_have_one(
    place: Path, encoder: Any, make: Make, order: Sequence[int], apart: bool
) -> None:
    published = Reference("p", title="Growth in ponds", authors=("Doe, J.",), doi="10.1234/growth")
    preprint = Reference("q", title="Cells: how they grow", authors=("Lee, K.",), arxiv="1101.01234")
    papers = _citing(make, published, preprint, BRIDGE)
    library = _add(place, encoder, [papers[at] for at in order], apart)
    assert _cited(library) == {"doi:10.1234/growth": 3}


@pytest.mark.parametrize(("order", "apart"), ORDERS, ids=str)
def test_references_complete_each_other(
    place: Path, encoder: Any, make: Make, order: Sequence[int], apart: bool
) -> None:
    parts: list[dict[str, Any]] = [{"title": TITLE}, {"authors": ("Doe, J.",), "year": 2012}, {"venue": "Ponds"}]
    papers = _citing(make, *(Reference(f"r{at}", doi="10.1234/growth", **part) for at, part in enumerate(parts)))
    library = _add(place, encoder, [papers[at] for at in order], apart)
    version = identifier("doi:10.1234/growth")
    expected = Paper("doi:10.1234/growth", TITLE, ("Doe, J.",), 2012, "Ponds", "10.1234/growth")
    assert library.papers([version]) == {version: expected}
    [hit] = [hit for hit in library.search_papers("slow growth", encoder.encode(["slow"])[0]) if hit.lexical]
    assert hit.id == version
    assert library.outlines([version], encoder.encode([TITLE])[0])[version].cosine == pytest.approx(1, abs=1e-3)


def test_outlines_tell_of_all_versions(place: Path, encoder: Any, make: Make) -> None:
    preprint = replace(PREPRINT, abstract="Cells in very cold ponds grow slowly.")
    library = _add(place, encoder, _citing(make, PUBLISHED, preprint, OTHER))
    ids = [identifier("doi:10.1234/growth"), identifier("title:stars|2000|lee")]
    papers, outlines = library.papers(ids), library.outlines(ids, encoder.encode([TITLE])[0], texts=True)
    assert [outlines[id].abstract for id in ids] == [preprint.abstract, ""]
    for id in ids:
        assert (outlines[id].title, outlines[id].authors) == (papers[id].title, papers[id].authors)


def test_a_printed_entry_is_no_title_to_be_found_by(place: Path, encoder: Any, make: Make) -> None:
    printed = "Le Gouellec, V. J. M., Maury, A. J., & Hull, C. 2020, , 644, A11"
    [paper] = _citing(make, Reference("x", authors=("Le Gouellec, V. J. M.",), year=2020, text=printed))
    library = _add(place, encoder, [paper])
    [hit] = library.search_spans("claim holds", encoder.encode(["claim"])[0])
    [citation] = library.citations([hit.id])
    assert library.papers([citation.paper])[citation.paper].title == printed
    assert library.search_papers("Le Gouellec 2020", encoder.encode([printed])[0]) == []


@pytest.mark.parametrize("apart", [False, True], ids=["at once", "one by one"])
def test_a_title_told_later_takes_the_place_of_a_printed_entry(
    place: Path, encoder: Any, make: Make, apart: bool
) -> None:
    known = [Reference("x", text="Doe, J. 2012, , 644, A11", doi="10.1/x"), Reference("y", title=TITLE, doi="10.1/x")]
    library = _add(place, encoder, _citing(make, *known), apart)
    [paper] = library.papers([identifier("doi:10.1/x")]).values()
    assert paper.title == TITLE
    assert [hit.id for hit in library.search_papers("growth of cells", encoder.encode([TITLE])[0]) if hit.lexical]


@pytest.mark.parametrize("first", ["citing", "cited"])
def test_a_paper_knows_best_what_it_is(place: Path, encoder: Any, make: Make, first: str) -> None:
    citing = make("citing.md", "It “holds” [@x].", references=[Reference("x", title="Growht", doi="10.1234/growth")])
    cited = make("cited.md", "It is so.", title=TITLE, doi="10.1234/growth", abstract="Ducks were counted.")
    library = _add(place, encoder, [citing, cited] if first == "citing" else [cited, citing], apart=True)
    version = identifier("doi:10.1234/growth")
    paper = library.papers([version])[version]
    assert (paper.title, paper.abstract) == (TITLE, "Ducks were counted.")
    assert [hit.id for hit in library.search_papers("ducks", encoder.encode(["ducks"])[0]) if hit.lexical] == [version]


def test_find_knows_versions(place: Path, encoder: Any, make: Make) -> None:
    library = _add(place, encoder, _citing(make, PREPRINT, OTHER))
    asked = [PUBLISHED, PREPRINT, TITLED, OTHER, Reference("n", title="Comets"), Reference("")]
    arxiv = "arxiv:1101.01234"
    assert library.find(asked) == [arxiv, arxiv, arxiv, "title:stars|2000|lee", None, None]
    assert library.find([]) == []


def test_cocited_papers_of_documents_that_share_references(place: Path, encoder: Any, make: Make) -> None:
    both = make("a.md", "It “holds” [@p].", "Stars “shine” [@o].", references=[PUBLISHED, OTHER])
    alone = make("b.md", "Comets “return” [@c].", references=[Reference("c", title="Comets")])
    library = _add(place, encoder, [both, alone])
    found = library.cocited(["doi:10.1234/growth"])
    assert {paper.key for paper in library.papers(list(found)).values()} == {
        "doi:10.1234/growth",
        "title:stars|2000|lee",
    }
    assert library.cocited(["doi:10.9/unknown"]) == {}
    assert library.cocited([]) == {}


def test_the_next_version_stands_when_the_first_goes(place: Path, encoder: Any, make: Make) -> None:
    papers = _citing(make, PUBLISHED, PREPRINT, TITLED)
    _add(place, encoder, papers)
    remove(place, ["0.md"])
    assert _cited(Library.open(place)) == {"arxiv:1101.01234": 2}
    remove(place, ["1.md"])
    assert list(_cited(Library.open(place)).values()) == [1]
    assert Library.open(place).info().papers == 1


def test_papers_held_together_by_one_come_apart_without_it(
    place: Path, encoder: Any, make: Make, content: Read
) -> None:
    indexed = Reference("q", title="Cells: how they grow", authors=("Lee, K.",), pmid="12345")
    bridge = Reference("b", title=TITLE, authors=("Doe, J.",), year=2012, arxiv="1101.01234", pmid="12345")
    papers = _citing(make, PUBLISHED, indexed)
    joined = make("j.md", "It “holds” [@b].", references=[bridge])
    _add(place.with_name("alone"), encoder, papers)
    assert len(_cited(Library.open(place.with_name("alone")))) == 2
    _add(place, encoder, [*papers, joined])
    assert len(_cited(Library.open(place))) == 1
    remove(place, ["j.md"])
    assert content(place) == content(place.with_name("alone"))
    assert sorted(_cited(Library.open(place))) == ["doi:10.1234/growth", "pmid:12345"]
