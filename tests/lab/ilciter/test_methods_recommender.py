"""ILCiteR's methods over a library."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite.recommendations import Claim
from whycite.errors import UserError
from whycite.lab import ilciter
from whycite.lab.ilciter import EvidenceDatabase, IlciterMethods, make


@pytest.fixture
def library() -> FakeLibrary:
    """An empty library."""
    return FakeLibrary()


@pytest.fixture(scope="session")
def encoder() -> FakeEncoder:
    """The encoder of these libraries."""
    return FakeEncoder()


@pytest.fixture
def fastalign(library: FakeLibrary) -> FakeLibrary:
    """What table 3 shows of FastAlign, among spans of other things."""
    library.add_paper("dyer", year=2013)
    library.add_paper("vaswani", year=2017)
    library.add_paper("other", year=2020)
    library.cite("The alignment is induced with FastAlign", "dyer")
    library.cite("One such method is the FastAlign model", "dyer", document="second", section="method")
    library.cite("One such method is the FastAlign model", "dyer", document="third", section="results")
    library.cite("FastAlign", "dyer", "other", kind="entity", sentence="We used FastAlign for it")
    library.cite("the alignment of words is learned", "vaswani")
    library.cite("FastAlign", "vaswani", kind="context")  # no pair of ILCiteR's
    return library


@pytest.mark.parametrize("name", ilciter.METHODS)
def test_as_the_published_method_has_it(fastalign: FakeLibrary, encoder: FakeEncoder, name: str) -> None:
    database = EvidenceDatabase.from_occurrences(fastalign.occurrences())
    claim = "The alignment with FastAlign"
    expected = IlciterMethods(database, encoder.encode).rank(name, claim)
    method = make(name, fastalign, encoder)
    found = method.recommend(Claim(claim))
    assert method.name == name
    assert [one.paper.key for one in found] == [database.papers[one.paper][0] for one in expected]
    assert [one.score for one in found] == [one.score for one in expected]
    assert [sum(one.shares.values()) for one in found] == [one.score for one in expected]
    for one, ranked in zip(found, expected, strict=True):
        assert [shown.span for shown in one.evidence] == [database.spans[span] for span in ranked.evidence]


def test_evidence(fastalign: FakeLibrary, encoder: FakeEncoder) -> None:
    first, second = make("ilciter", fastalign, encoder).recommend(Claim("FastAlign", section_type="results"))
    assert (first.rank, first.paper.key, first.support, first.score) == (1, "dyer", 4, 1.0)
    assert (second.rank, second.paper.key, second.score) == (2, "other", 0.5)
    name, *_, model = first.evidence
    assert (name.span, name.sentence, name.source.title) == ("FastAlign", "We used FastAlign for it", "document")
    assert model.source.title == "third"
    assert [shown.score for shown in first.evidence] == [1, 1 / 2, 1 / 3]


def test_no_paper_newer_than_the_claim_may_cite(fastalign: FakeLibrary, encoder: FakeEncoder) -> None:
    found = make("ilciter", fastalign, encoder).recommend(Claim("FastAlign", year=2019))
    assert [(one.rank, one.score, one.paper.key) for one in found] == [(1, 1.0, "dyer")]


def test_the_draft_is_not_recommended(fastalign: FakeLibrary, encoder: FakeEncoder) -> None:
    found = make("ilciter", fastalign, encoder).recommend(Claim("FastAlign", title="On dyer"))
    assert [(one.rank, one.paper.key) for one in found] == [(1, "other")]


def test_as_many_as_asked_for(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells", *(f"paper {number:03}" for number in range(120)))
    found = make("bm25-plus", library, encoder).recommend(Claim("cells"), 110)
    assert len(found) == 110
    assert found[0].paper.key == "paper 000"


def test_the_database_is_read_once_for_all_methods(fastalign: FakeLibrary, encoder: FakeEncoder) -> None:
    methods = [make(name, fastalign, encoder) for name in ilciter.METHODS]
    assert fastalign.calls["occurrences"] == 0
    for method in methods * 2:
        method.recommend(Claim("FastAlign"))
    assert fastalign.calls["occurrences"] == 1


def test_a_library_that_is_done_with_is_let_go(encoder: FakeEncoder) -> None:
    library = FakeLibrary()
    make("bm25-okapi", library, encoder).recommend(Claim("cells"))
    kept = weakref.ref(library)
    del library
    gc.collect()
    assert kept() is None


def test_nothing_found(library: FakeLibrary, encoder: FakeEncoder) -> None:
    assert make("ilciter", library, encoder).recommend(Claim("cells")) == []


def test_no_recommendations(library: FakeLibrary, encoder: FakeEncoder) -> None:
    with pytest.raises(UserError, match="1 or more"):
        make("ilciter", library, encoder).recommend(Claim("cells"), 0)
