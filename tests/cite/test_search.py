"""How a claim is made ready, and what is asked of a library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite.recommendations import Claim
from whycite.cite.search import candidate_papers, prepare_claim, search_library
from whycite.library.tables import identifier


def _axes() -> FakeEncoder:
    """Gives the n-th text the n-th axis."""
    axes = iter(np.eye(3, dtype=np.float32))
    return FakeEncoder(lambda text: next(axes), 3)


def test_a_claim_alone() -> None:
    query = prepare_claim(Claim("  The  IL-6 of\nthe IL6 "), _axes())
    assert query.text == "The IL-6 of the IL6"
    assert query.words == 1  # "IL-6" and "IL6" are one
    assert query.vector.tolist() == [1, 0, 0]
    assert query.title_vector is None


def test_the_paragraph_adds_a_little() -> None:
    query = prepare_claim(Claim("cells", paragraph="Cells are small."), _axes())
    assert query.vector.tolist() == pytest.approx([1 / 1.04**0.5, 0.2 / 1.04**0.5, 0])
    assert query.title_vector is None


def test_the_title_is_apart() -> None:
    query = prepare_claim(Claim("cells", title="On cells"), _axes())
    assert query.vector.tolist() == [1, 0, 0]
    assert query.title_vector is not None
    assert query.title_vector.tolist() == [0, 1, 0]


def test_paragraph_and_title() -> None:
    query = prepare_claim(Claim("cells", paragraph="Cells are small.", title="On cells"), _axes())
    assert query.vector[1] > 0
    assert query.title_vector is not None
    assert query.title_vector.tolist() == [0, 0, 1]


def test_half_characters_do_not_reach_the_library() -> None:
    assert prepare_claim(Claim("cells \ud800 divide"), _axes()).text == "cells ? divide"


@pytest.mark.parametrize("claim", ["cells divide " * 8000, "x" * 100_000], ids=["words", "one word"])
def test_a_long_claim_is_cut(claim: str) -> None:
    text = prepare_claim(Claim(claim), _axes()).text
    assert 3_900 < len(text) <= 4_000
    assert not text.endswith((" ", "ce", "cell", "div"))


@given(st.text(min_size=1))
def test_any_text_can_be_prepared(text: str) -> None:
    query = prepare_claim(Claim(f"a{text}"), _axes())
    query.text.encode()
    assert query.words >= 0


def test_what_is_found(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", "b")
    library.cite("cells divide", "a", document="other")
    library.cite("cells live", "a")
    found = search_library(library, prepare_claim(Claim("cells"), encoder))
    a, b, divide, live = map(identifier, ("a", "b", "cells divide", "cells live"))
    assert {paper: {*spans} for paper, spans in found.citations.items()} == {a: {divide, live}, b: {divide}}
    assert len(found.citations[a][divide]) == 2
    assert found.crowds == {divide: 2, live: 1}


def test_the_library_is_asked_no_more_than_needed(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a")
    search_library(library, prepare_claim(Claim("cells"), encoder))
    assert library.calls == {"search": 1, "citations": 1}


def test_what_the_draft_says_itself_is_no_evidence(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", "b", document="draft")
    library.cite("cells divide", "a", document="other")
    library.retitled("draft", "The Division of Cells")
    found = search_library(library, prepare_claim(Claim("cells", title="The division of cells."), encoder))
    assert {*found.citations} == {identifier("a")}
    assert found.crowds == {identifier("cells divide"): 1}


def test_facts_go_on_until_there_are_enough(library: FakeLibrary, encoder: FakeEncoder) -> None:
    keys = [f"new {number}" for number in range(5)] + [f"old {number}" for number in range(5)]
    for key in keys:
        library.add_paper(key, year=2020 if key.startswith("new") else 1990)
    query = prepare_claim(Claim("cells", year=2000), encoder)
    found = candidate_papers(library, query, [*map(identifier, keys)], 2)
    # Two, two and one new: the third pair has the first old paper, the fourth the next two.
    assert [*found.papers] == [identifier(f"old {number}") for number in range(3)]
    assert library.calls["outlines"] == 4


def test_facts_of_fewer_than_wanted(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", year=2020)
    query = prepare_claim(Claim("cells", year=2000), encoder)
    assert candidate_papers(library, query, [identifier("a")], 5).papers == {}
    assert candidate_papers(library, query, [], 5).papers == {}
