"""Removing documents takes away what they brought, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document, Reference
from whycite.errors import UserError
from whycite.library import Library, add_documents, compact, remove

Make = Callable[..., Document]
Read = Callable[[Path], Any]


def test_removed_is_as_never_added(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    papers = [numbered(at) for at in range(6)]
    add_documents(place, papers, jobs=1, encoder=encoder)
    gone = remove(place, ["paper1.md", "doi:10.5555/paper.4"])
    assert sorted(entry.path for entry in gone) == ["paper1.md", "paper4.md"]
    alone = place.with_name("alone")
    add_documents(alone, [papers[at] for at in (0, 2, 3, 5)], jobs=1, encoder=encoder)
    assert content(place) == content(alone)


def test_a_paper_that_nobody_cites_any_more_goes(place: Path, encoder: Any, make: Make) -> None:
    work = Reference("w", title="Growth of cells", doi="10.1234/growth")
    bare = Reference("n")
    add_documents(
        place,
        [
            make("a.md", "Cells “grow” [@w].", references=[work]),
            make("b.md", "Stars “shine” [@n].", references=[bare]),
        ],
        jobs=1,
        encoder=encoder,
    )
    remove(place, ["a.md", "b.md"])
    info = Library.open(place).info()
    assert (info.documents, info.papers, info.spans, info.citations) == (0, 0, 0, 0)


@pytest.mark.parametrize("removed", ["citing.md", "cited.md"])
def test_a_paper_stays_while_it_is_cited_or_there(
    place: Path, encoder: Any, make: Make, content: Read, removed: str
) -> None:
    cited = make("cited.md", "It is so.", title="Growth of cells", doi="10.1234/growth", abstract="Ducks were counted.")
    citing = make(
        "citing.md", "Cells “grow” [@w].", references=[Reference("w", title="Growth of cells", doi="10.1234/growth")]
    )
    add_documents(place, [cited, citing], jobs=1, encoder=encoder)
    remove(place, [removed])
    alone = place.with_name("alone")
    add_documents(alone, [paper for paper in (cited, citing) if paper.path != removed], jobs=1, encoder=encoder)
    assert content(place) == content(alone)


@pytest.mark.parametrize("selector", ["no.md", "", "0", "doi:10.5555/paper", "paper%", "' OR 1=1"])
def test_unknown_document_removes_nothing(
    place: Path, encoder: Any, numbered: Make, make: Make, content: Read, selector: str
) -> None:
    untitled = make("untitled.md", "It “holds” [@w].", references=[Reference("w", title="Works")])
    add_documents(place, [numbered(1), untitled], jobs=1, encoder=encoder)
    before, version = content(place), Library.open(place).version
    with pytest.raises(UserError, match="no document '"):
        remove(place, ["paper1.md", selector])
    assert content(place) == before
    assert Library.open(place).version == version


def test_by_id_and_again(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    add_documents(place, [numbered(1), numbered(2)], jobs=1, encoder=encoder)
    before = content(place)
    [entry] = [entry for entry in Library.open(place).documents() if entry.path == "paper1.md"]
    assert remove(place, [str(entry.id), entry.path]) == [entry]
    with pytest.raises(UserError, match=r"no document 'paper1\.md'; list documents with: whycite library list"):
        remove(place, ["paper1.md"])
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    assert content(place) == before


def test_another_encoder_may_be_given(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    monkeypatch.undo()
    with pytest.raises(UserError, match="no encoder 'fake'"):
        remove(place, ["paper1.md"])
    assert Library.open(place).info().documents == 1
    assert len(remove(place, ["paper1.md"], encoder=encoder)) == 1


def test_compacting_changes_no_content(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    for at in range(6):
        add_documents(place, [numbered(at)], jobs=1, encoder=encoder)
    remove(place, ["paper2.md"])
    before = content(place)
    sizes = compact(place)
    assert content(place) == before
    assert sizes[1] == Library.open(place).info().bytes
    assert compact(place)[1] <= sizes[1] * 1.2  # nothing left to pack
    [vector] = encoder.encode(["cells"])
    assert any(hit.lexical for hit in Library.open(place).search_spans("growing cells", vector))
