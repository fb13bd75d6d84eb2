"""Adding documents: what is found again, what happens when they come again, change or cannot be read."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document, Reference
from whycite.errors import UserError
from whycite.evidence import extract
from whycite.library import AddProgress, Library, add, add_documents
from whycite.library import adding as module

Make = Callable[..., Document]
Read = Callable[[Path], Any]
PONDS = Reference("ponds", title="Growth of cells in ponds", authors=("Doe, J.",), year=2010, doi="10.1234/ponds")


def _hits(library: Library, encoder: Any, text: str) -> list[str]:
    return [hit.text for hit in library.search_spans(text, encoder.encode([text])[0]) if hit.lexical]


def test_what_is_added_is_found(place: Path, encoder: Any, make: Make) -> None:
    paper = make("a.md", "Cells grow in “ponds” [@ponds].", references=[PONDS], title="On cells", year=2020)
    report = add_documents(place, [paper], jobs=1, encoder=encoder)
    assert (report.added, report.replaced, report.unchanged, report.skipped) == (1, 0, 0, [])
    assert (report.spans, report.papers) == (1, 2)  # the paper itself and what it cites
    library = Library.open(place)
    vector = encoder.encode(["growing cells"])[0]
    [hit] = library.search_spans("growing cells", vector)
    assert hit.text == "Cells grow in “ponds”"
    assert hit.lexical > 0
    [citation] = library.citations([hit.id])
    assert library.papers([citation.paper])[citation.paper].key == "doi:10.1234/ponds"
    assert (citation.kind, citation.section_type, citation.sentence) == ("sentence", "introduction", hit.id)
    assert library.sources([citation.document])[citation.document].title == "On cells"
    assert library.support([citation.paper]) == {citation.paper: 1}
    assert library.texts([hit.id]) == {hit.id: hit.text}
    [entry] = library.documents()
    assert (entry.path, entry.title, entry.year, entry.citations) == ("a.md", "On cells", 2020, 1)
    info = library.info()
    assert (info.documents, info.papers, info.spans, info.citations) == (1, 2, 1, 1)
    assert (info.encoder, info.path, info.version) == ("fake@1", str(place), library.version)
    assert info.bytes > 0


def test_adding_again_changes_nothing(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    papers = [numbered(at) for at in range(5)]
    add_documents(place, papers, jobs=1, encoder=encoder)
    before, version = content(place), Library.open(place).version
    report = add_documents(place, papers, jobs=1, encoder=encoder)
    assert (report.added, report.unchanged, report.spans) == (0, 5, 0)
    assert Library.open(place).version == version
    assert content(place) == before


def test_one_paper_twice_in_one_go_is_one(place: Path, encoder: Any, numbered: Make) -> None:
    report = add_documents(place, [numbered(1), numbered(1)], jobs=1, encoder=encoder)
    assert (report.added, report.unchanged) == (1, 1)


def test_a_changed_file_is_replaced(place: Path, encoder: Any, numbered: Make, content: Read, make: Make) -> None:
    old = numbered(1)
    new = make(
        old.path, "Stars shine at “night” [@r2].", references=old.references, title=old.paper.title, doi=old.paper.doi
    )
    add_documents(place, [numbered(0), old], jobs=1, encoder=encoder)
    report = add_documents(place, [new], jobs=1, encoder=encoder)
    assert (report.added, report.replaced) == (0, 1)
    add_documents(place.with_name("fresh"), [numbered(0), new], jobs=1, encoder=encoder)
    assert content(place)["spans"] == content(place.with_name("fresh"))["spans"]
    assert content(place)["citations"] == content(place.with_name("fresh"))["citations"]
    assert content(place)["documents"] == content(place.with_name("fresh"))["documents"]


def test_the_same_paper_elsewhere_is_skipped(place: Path, encoder: Any, tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first.md", "second.md"))
    for file, words in ((first, "Cells grow"), (second, "Cells grow slowly")):
        file.write_text(f"---\ntitle: The growth of cells in very cold ponds\n---\n\n{words} in “ponds” [@a].\n")
    add(place, [first], jobs=1, encoder=encoder)
    report = add(place, [second], jobs=1, encoder=encoder)
    assert report.added == 0
    assert report.skipped == [(str(second), f"same paper as {first}")]
    first.unlink()  # it has moved
    report = add(place, [second], jobs=1, encoder=encoder)
    assert (report.added, report.replaced) == (0, 1)
    assert [entry.path for entry in Library.open(place).documents()] == [str(second)]


def test_what_holds_nothing_is_skipped(place: Path, encoder: Any, make: Make, numbered: Make) -> None:
    unreadable = make("b.pdf", warnings=("b.pdf: is locked with a password",))
    report = add_documents(place, [make("a.md"), unreadable, numbered(1)], jobs=1, encoder=encoder)
    assert report.skipped == [("a.md", "contains no text"), ("b.pdf", "b.pdf: is locked with a password")]
    assert report.added == 1
    assert report.warnings == [("b.pdf", "b.pdf: is locked with a password")]


def test_an_input_that_cannot_be_read_does_not_stop_the_others(place: Path, encoder: Any, tmp_path: Path) -> None:
    bad, good = tmp_path / "a.pdf", tmp_path / "b.md"
    bad.write_bytes(b"no PDF\0")
    good.write_text("Cells grow in “ponds” [@a].\n")
    report = add(place, [bad, tmp_path / "none.md", good], jobs=1, encoder=encoder)
    assert report.added == 1
    assert [path for path, _ in report.skipped] == [str(bad), str(tmp_path / "none.md")]
    assert "not a PDF" in report.skipped[0][1]
    with pytest.raises(UserError, match="unknown format 'word'"):
        add(place, [good], format="word", jobs=1, encoder=encoder)


def test_nothing_at_all_makes_no_library(place: Path, encoder: Any, make: Make) -> None:
    add_documents(place, [make("a.md")], jobs=1, encoder=encoder)
    with pytest.raises(UserError, match="no library here yet"):
        Library.open(place)


def test_bibliography_makes_papers_known(place: Path, encoder: Any, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        "@article{a, title={Growth of cells in ponds}, author={Doe, J.}, year={2010}, doi={10.1234/ponds},"
        " abstract={Ducks were counted.}}\n@book{b, title={Stars}, author={Roe, K.}}\n"
    )
    report = add(place, [file], jobs=1, encoder=encoder)
    assert (report.added, report.spans, report.papers) == (1, 0, 2)
    library = Library.open(place)
    vector = encoder.encode(["ducks"])[0]
    assert library.search_spans("ducks", vector) == []
    [found] = [hit for hit in library.search_papers("ducks", vector) if hit.lexical]
    assert library.papers([found.id])[found.id].abstract == "Ducks were counted."
    assert list(library.pairs()) == []
    assert library.support([found.id]) == {found.id: 0}


def test_words_are_searched_when_the_first_papers_had_no_evidence(place: Path, encoder: Any, make: Make) -> None:
    add_documents(place, [make("refs.bib", references=[PONDS])], jobs=1, encoder=encoder)
    paper = make("a.md", "Cells grow in “ponds” [@ponds].", references=[PONDS], title="On cells")
    add_documents(place, [paper], jobs=1, encoder=encoder)
    assert _hits(Library.open(place), encoder, "growing cells") == ["Cells grow in “ponds”"]


def test_what_is_added_later_is_searched_at_once(place: Path, encoder: Any, make: Make, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    later = make("later.md", "Comets return to “orbits” [@ponds].", references=[PONDS], title="On comets")
    add_documents(place, [later], jobs=1, encoder=encoder)
    assert _hits(Library.open(place), encoder, "returning comets") == ["Comets return to “orbits”"]


def test_evidence_for_nobody_knows_what_is_left_out(place: Path, encoder: Any, make: Make) -> None:
    paper = make("a.md", "Cells grow in “ponds” [@x].", "Stars shine in “skies” [@x,y].",
                 references=[Reference("x"), PONDS], title="On cells")  # fmt: skip
    report = add_documents(place, [paper], jobs=1, encoder=encoder)
    library = Library.open(place)
    assert (report.spans, library.info().citations) == (0, 0)


def test_progress_tells_what_is_on_disk(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_DOCUMENTS", 2)
    seen: list[tuple[AddProgress, int]] = []

    def look(progress: AddProgress) -> None:
        seen.append((progress, Library.open(place).info().documents if progress.added else 0))

    add_documents(place, [numbered(at) for at in range(5)], jobs=1, encoder=encoder, progress=look)
    assert all(progress.added == held for progress, held in seen if held)
    assert [progress.added for progress, _ in seen] == [0, 0, 2, 2, 2, 4, 4, 5]
    assert [progress.read for progress, _ in seen] == [1, 2, 2, 3, 4, 4, 5, 5]
    assert seen[-1][0].reading == "paper4.md"


def test_slow_documents_are_kept_before_there_are_many(
    place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_SECONDS", 0.3)

    def papers() -> Iterator[Document]:
        for at in range(4):
            if at == 2:
                time.sleep(0.4)
            yield numbered(at)

    seen: list[int] = []
    add_documents(place, papers(), jobs=1, encoder=encoder, progress=lambda progress: seen.append(progress.added))
    assert 3 in seen  # and not only the four at the end


def test_an_error_in_the_middle_keeps_what_was_told(
    place: Path, encoder: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_DOCUMENTS", 2)

    def papers() -> Any:
        yield from (numbered(at) for at in range(3))
        raise UserError("b.md: no such file")

    with pytest.raises(UserError, match="no such file"):
        add_documents(place, papers(), jobs=1, encoder=encoder)
    assert Library.open(place).info().documents == 2
    add_documents(place, [numbered(at) for at in range(3)], jobs=1, encoder=encoder)
    add_documents(place.with_name("fresh"), [numbered(at) for at in range(3)], jobs=1, encoder=encoder)
    assert content(place) == content(place.with_name("fresh"))


def test_occurrences_are_the_pairs_of_the_paper(place: Path, encoder: Any, make: Make, numbered: Make) -> None:
    mixed = make("m.md", "We use GPT-2 [@a], while “cells” [@a,b] grow in cold ponds [@b].",
                 references=[PONDS, Reference("a", title="Language models"), Reference("b", doi="10.1/b", year=1999)],
                 title="A mixture")  # fmt: skip
    papers = [numbered(1), numbered(2), mixed]
    add_documents(place, papers, jobs=1, encoder=encoder)
    keys = {"r1": "doi:10.1234/work.1", "r2": "doi:10.1234/work.2", "r3": "doi:10.1234/work.3"}
    keys |= {"a": "title:language models", "b": "doi:10.1/b"}
    expected = [(span.text, keys[key]) for paper in papers for span in extract(paper) for key in span.keys]
    found = [(text, key) for text, key, _ in Library.open(place).occurrences()]
    assert sorted(found) == sorted(expected)
    assert len(found) > 8


def test_two_of_one_paper_in_one_file_settle(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    """The first stays: were the second to take its place, adding the file again would change the library each time."""
    first, second = numbered(1), numbered(1, year=2021)
    report = add_documents(place, [first, second], jobs=1, encoder=encoder)
    assert (report.added, report.replaced) == (1, 0)
    assert report.skipped == [("paper1.md", "same paper as paper1.md")]
    before, version = content(place), Library.open(place).version
    add_documents(place, [first, second], jobs=1, encoder=encoder)
    assert (content(place), Library.open(place).version) == (before, version)


def test_more_told_of_the_same_works_is_new(place: Path, encoder: Any, make: Make) -> None:
    bare = make("refs.bib", references=[PONDS])
    told = make("refs.bib", references=[replace(PONDS, abstract="Ducks were counted.")])
    add_documents(place, [bare], jobs=1, encoder=encoder)
    assert add_documents(place, [told], jobs=1, encoder=encoder).added == 1
    [vector] = encoder.encode(["ducks"])
    assert [hit.lexical > 0 for hit in Library.open(place).search_papers("ducks", vector)] == [True]


def test_papers_beside_a_draft_are_not_left_out_without_a_word(place: Path, encoder: Any, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    (papers / "2023").mkdir(parents=True)
    draft = "\\documentclass{article}\\begin{document}\\includegraphics{hive}Bees sleep.\\end{document}"
    (papers / "notes.tex").write_text(draft, "utf-8")
    for name in ("notes.pdf", "hive.pdf"):  # what the draft became, and its figure
        (papers / name).write_bytes(b"%PDF-1.7")
    assert add(place, [papers], jobs=1, encoder=encoder).warnings == []
    for name in ("doe.pdf", "2023/roe.pdf", "2023/poe.zip", "2023/zoe.docx"):
        (papers / name).write_bytes(b"")
    warnings = dict(add(place, [papers], jobs=1, encoder=encoder).warnings)
    assert warnings[str(papers)].startswith(
        "not read, as they lie in the folder of a LaTeX draft: poe.zip, roe.pdf, zoe.docx and 1 more"
    )
