"""Citations of a draft against a folder and a library of papers."""

import json
from pathlib import Path

import pytest

from whycite import documents
from whycite.documents import Citation, Document, Reference, Section, Sentence
from whycite.documents.sources import DiskFolder
from whycite.errors import UserError
from whycite.library import Library, add
from whycite.models.cache import cache_folder
from whycite.verify import drafts, fulltexts
from whycite.verify.drafts import LineIndex
from whycite.verify.fulltexts import FullText

pytestmark = pytest.mark.usefixtures("judged_by_words")
DRAFT = """\
---
title: A draft
references:
- {{id: a, title: On dams, author: [{{family: Doe}}], issued: 2001}}
- {{id: b, title: On otters, author: [{{family: Roe}}], issued: 2002}}
---

{}

{}

{}
"""


def test_every_citation_has_a_verdict(draft: Path, paper: Path) -> None:
    found = list(drafts.verify_draft(draft, paper.parent))
    assert [checked.reference.id for checked in found] == ["kaiser", "kaiser", "roe", "nobody"]
    night, cools, ants, wasps = found
    assert night.claim == "Honeybees that forage sleep at night."
    assert night.verification.verdict == "backed"
    assert night.paper == str(paper)
    assert cools.verification.verdict != "backed"
    assert "thorax" in cools.claim
    assert "ants" not in cools.claim
    assert ants.verification.verdict == wasps.verification.verdict == "could not check"
    assert "full text of the paper was not found" in ants.verification.reason
    assert "no entry 'nobody'" in wasps.verification.reason
    text = draft.read_text("utf-8")
    assert text[night.start : night.end] == "[@kaiser]"
    assert night.line == text[: night.start].count("\n") + 1


def test_papers_that_are_cited_in_turn_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    animals = ("bees", "otters", "beavers", "rats", "wasps", "ants")
    folder = tmp_path / "papers"
    folder.mkdir()
    for animal in animals:
        text = f"---\ntitle: How {animal} sleep at night\n---\n\n# Results\n\nAt night {animal} sleep in their nests.\n"
        (folder / f"{animal}.md").write_text(text, "utf-8")
    entries = "".join(f"- {{id: {animal}, title: How {animal} sleep at night}}\n" for animal in animals)
    sentences = "".join(f"The {animal} sleep in their nests [@{animal}].\n" for animal in (*animals, *animals))
    draft = tmp_path / "draft.md"
    draft.write_text(f"---\nreferences:\n{entries}---\n\n{sentences}", "utf-8")
    opened: list[str] = []

    def open_full_text(full_text: FullText) -> Document:
        opened.append(full_text.path)
        return fulltexts.open_full_text(full_text)

    monkeypatch.setattr(drafts, "open_full_text", open_full_text)
    verdicts = list(drafts.verify_draft(draft, folder))
    assert [checked.paper for checked in verdicts] == [str(folder / f"{animal}.md") for animal in (*animals, *animals)]
    assert opened == [str(folder / f"{animal}.md") for animal in animals]


def test_a_marker_that_is_not_linked_is_listed() -> None:
    text = "Ants sleep (Nobody 2001) and bees dance [@kaiser]."
    at = text.index("(Nobody 2001)")
    markers = (Citation((), at, at + 13, at, at + 13), Citation(("kaiser",), 40, 49, 40, 49))
    read = Document(
        *("not-on-disk.md", "markdown", Reference("")),
        sections=(Section("Sleep", 1),),
        sentences=(Sentence(text, 0, 0, "not-on-disk.md", 0, len(text), markers),),
        references=(Reference("kaiser", title="Busy bees"),),
    )
    unlinked, linked = sorted(drafts.verify_draft(read), key=lambda each: each.start)
    assert unlinked.verification.verdict == "could not check"
    assert unlinked.verification.reason == "the marker '(Nobody 2001)' matches no reference"
    assert unlinked.claim.startswith("Ants sleep")
    assert linked.reference.id == "kaiser"
    assert unlinked.line is None


def test_a_semicolon_parts_the_claims_of_two_citations(tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    text = DRAFT.format(
        "However, @a show that beavers repair dams in winter; others found the same for otters of the north [@b].",
        "Beavers sleep at day [@a]; otters too [@b].",
        "Beavers; otters; rats: they all build large dams [@a] and live in wet places near them [@b].",
    )
    draft.write_text(text, "utf-8")
    claims = [cited.claim for cited in drafts.citations(documents.read(draft))]
    assert claims[:2] == [
        "Doe show that beavers repair dams in winter",
        "others found the same for otters of the north",
    ]
    assert claims[2] == "Beavers sleep at day"
    assert claims[4:] == ["Beavers; otters; rats: they all build large dams", "live in wet places near them"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_offsets(tmp_path: Path, end: str) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(f"ä{end}b{end}{end}c".encode())
    lines = LineIndex()
    text = file.read_bytes().decode()
    assert [lines.line_at(str(file), text.index(letter)) for letter in "äbc"] == [1, 2, 4]
    file.unlink()
    assert lines.line_at(str(file), 0) == 1  # read once
    assert LineIndex().line_at(str(file), 0) is None


def test_papers_of_a_library(draft: Path, paper: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    add(library, [paper], jobs=1)
    found = list(drafts.verify_draft(draft, library=Library.open(library)))
    assert found[0].verification.verdict == "backed"
    paper.unlink()
    gone = list(drafts.verify_draft(draft, library=Library.open(library)))
    assert gone[0].verification.verdict == "could not check"
    assert "no longer exists" in gone[0].verification.reason


@pytest.mark.parametrize(
    "reference",
    [
        Reference("a", doi="10.1000/BEES"),
        Reference("a", title="Busy Bees need rest, too.", authors=("Kaiser, W.",), year=1988),
        Reference("a", title="Busy bees need rest too", year=1989),
    ],
    ids=["doi", "title, author and year", "title"],
)
def test_a_reference_is_found(paper: Path, reference: Reference) -> None:
    (found,) = fulltexts.match_references([reference], fulltexts.texts_in_folder(paper.parent))
    assert found is not None
    assert fulltexts.open_full_text(found).paper.title == "Busy bees need rest, too"


@pytest.mark.parametrize(
    "reference",
    [
        Reference("a", title="Busy bees need no rest", year=1988),
        Reference("a", title="Busy bees need rest, too", doi="10.1000/other", year=1988),
        Reference("a", title="Busy bees need rest, too", year=2020),
        Reference("a"),
    ],
    ids=["title", "doi", "year", "empty"],
)
def test_another_paper_is_not_taken_for_it(paper: Path, reference: Reference) -> None:
    assert fulltexts.match_references([reference], fulltexts.texts_in_folder(paper.parent)) == [None]


def test_files_are_read_once(paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fulltexts.texts_in_folder(paper.parent)
    monkeypatch.setattr(documents, "stream", _refuse)
    assert fulltexts.texts_in_folder(paper.parent) == first
    paper.write_text(paper.read_text("utf-8") + "\nMore.\n", "utf-8")
    with pytest.raises(AssertionError):
        fulltexts.texts_in_folder(paper.parent)


def test_what_was_kept_may_be_damaged(paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    first = fulltexts.texts_in_folder(paper.parent)
    for kept in (cache_folder() / "papers").iterdir():
        kept.write_text("{", "utf-8")
    assert fulltexts.texts_in_folder(paper.parent) == first
    assert all(json.loads(kept.read_text("utf-8")) for kept in (cache_folder() / "papers").iterdir())


def test_a_file_that_cannot_be_read_is_told_of(paper: Path) -> None:
    (paper.parent / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    held = fulltexts.texts_in_folder(paper.parent)
    (broken,) = [each for each in held if each.problem]
    assert "broken.pdf" in broken.problem
    with pytest.raises(UserError, match=r"broken\.pdf"):
        fulltexts.open_full_text(broken)


def test_a_file_without_text_is_warned_of(draft: Path, paper: Path, caplog: pytest.LogCaptureFixture) -> None:
    (paper.parent / "empty.md").write_text("", "utf-8")
    list(drafts.verify_draft(draft, paper.parent))
    assert [record.getMessage() for record in caplog.records] == [f"{paper.parent / 'empty.md'}: the file is empty"]


def test_no_folder(draft: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        list(drafts.verify_draft(draft, tmp_path / "nowhere"))


def _refuse(*_: object) -> None:
    raise AssertionError("read again")


def test_a_file_that_goes_while_the_folder_is_looked_through_is_not_there(
    paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fulltexts.texts_in_folder(paper.parent)
    gone = paper.with_name("gone.md")
    gone.write_text(paper.read_text("utf-8"), "utf-8")
    listed = DiskFolder.names

    def names(folder: DiskFolder) -> list[str]:
        found = listed(folder)
        gone.unlink()
        return found

    monkeypatch.setattr(DiskFolder, "names", names)
    assert fulltexts.texts_in_folder(paper.parent) == expected
