"""A library is asked only what it was not asked before."""

from collections.abc import Sequence
from pathlib import Path
from threading import get_ident
from typing import Any, cast

import pytest

from tests.fakes import FakeMethod
from whycite.check import memory as module
from whycite.check.memory import CachedLibrary, Memory
from whycite.cite.recommendations import Claim, Evidence, Recommendation, Recommendations
from whycite.documents.model import Reference
from whycite.library import Library, Paper, SourceDocument
from whycite.models.runtime import map_threaded


class Counting(FakeMethod):
    """A library and its method in one."""

    path = Path("somewhere")
    name = "whycite"
    doubt = 2.0

    def __init__(self, version: int = 3) -> None:
        super().__init__(_answer)
        self.version = version
        self.looked_up = 0

    def find(self, references: Sequence[Reference]) -> list[str | None]:
        self.looked_up += 1
        return ["doi:10.1/x", *[None] * (len(references) - 1)]


def _answer(claim: Claim) -> Recommendations:
    paper = Paper("doi:10.1/x", claim.text.upper(), ("Doe, Jane",), 2001, "Journal", "10.1/x")
    evidence = Evidence("span", 0.5, "sentence", SourceDocument("k", "Title", None))
    return Recommendations([Recommendation(1, float(len(claim.text)), 2, paper, (evidence,), {"a": 1.0}, 0.4)], 0.6)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(module, "load_method", lambda name, library: library)
    return Counting()


def shelf(library: Counting, tmp_path: Path) -> CachedLibrary:
    return CachedLibrary(cast(Library, library), Memory(tmp_path / "memory.sqlite"), threads=2)


def test_answers_are_remembered_and_come_back_as_they_were(library: Counting, tmp_path: Path) -> None:
    first = shelf(library, tmp_path).recommend([Claim("a"), Claim("bb")], 3)
    assert [answer.doubtful for answer in first] == [True, False]
    assert [(answer.fits, answer.papers[0].fits) for answer in first] == [(0.6, 0.4)] * 2
    heard: list[Any] = []
    again = shelf(library, tmp_path).recommend([Claim("bb"), Claim("ccc"), Claim("a")], 3, lambda: heard.append(1))
    assert sorted(claim.text for claim, _ in library.asked) == ["a", "bb", "ccc"]
    assert [again[2], again[0]] == first
    assert len(heard) == 3


def test_whatever_an_answer_depends_on_makes_it_another(library: Counting, tmp_path: Path) -> None:
    claims = [
        Claim("a"),
        Claim("a", title="T"),
        Claim("a", year=1),
        Claim("a", cited=("k",)),
        Claim("a", paragraph="p"),
    ]
    shelf(library, tmp_path).recommend(claims, 3)
    assert len(library.asked) == 5
    shelf(library, tmp_path).recommend(claims[:1], 4)
    assert len(library.asked) == 6
    library.version += 1
    shelf(library, tmp_path).recommend(claims[:1], 3)
    assert len(library.asked) == 7


def test_models_work_on_the_thread_of_a_claim_where_all_threads_have_one(
    library: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []

    def recommend(claim: Claim, n: int) -> list[Recommendation]:
        kept.append({*map_threaded(lambda _: get_ident(), range(4), 2)} == {get_ident()})
        return []

    monkeypatch.setattr(library, "recommend", recommend)
    shelf(library, tmp_path).recommend([Claim("a")], 3)
    assert kept == [False]
    shelf(library, tmp_path).recommend([Claim("b"), Claim("c"), Claim("d")], 3)
    assert kept == [False, True, True, True]


def test_a_claim_that_comes_twice_is_asked_once(library: Counting, tmp_path: Path) -> None:
    found = shelf(library, tmp_path).recommend([Claim("a"), Claim("a")], 3)
    assert [claim.text for claim, _ in library.asked] == ["a"]
    assert found[0] == found[1]


def test_references_are_looked_up_once(library: Counting, tmp_path: Path) -> None:
    references = [Reference("x", "Title"), Reference("y", "Other")]
    assert shelf(library, tmp_path).find(references) == ["doi:10.1/x", None]
    assert shelf(library, tmp_path).find(references) == ["doi:10.1/x", None]
    assert library.looked_up == 1
    assert shelf(library, tmp_path).find([]) == []


def test_a_new_commit_is_seen_from_outside(tmp_path: Path) -> None:
    versions = tmp_path / "library" / "commits.lance" / "_versions"
    versions.mkdir(parents=True)
    before = CachedLibrary(tmp_path / "library").state
    (versions / "2.manifest").write_bytes(b"")
    assert CachedLibrary(tmp_path / "library").state != before


def test_a_library_stays_open_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def open_(path: Path) -> Counting:
        opened.append(path)
        return Counting()

    monkeypatch.setattr(Library, "open", open_)
    versions = tmp_path / "library" / "commits.lance" / "_versions"
    versions.mkdir(parents=True)
    first = CachedLibrary(tmp_path / "library").library
    assert CachedLibrary(tmp_path / "library").library is first
    (versions / "2.manifest").write_bytes(b"")
    assert CachedLibrary(tmp_path / "library").library is not first
    assert opened == [tmp_path / "library"] * 2
