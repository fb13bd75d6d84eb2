"""Features of what was found, column by column."""

from __future__ import annotations

from math import log, log1p

import numpy as np
import pytest

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import EVIDENCE, PAPER, TITLE, RankingFeatures, full_match
from whycite.library.tables import identifier


def of_evidence(features: RankingFeatures, span: str | None, paper: str) -> dict[str, float]:
    """The features of a span (or of the title) for a paper that are not 0."""
    place = features.papers.tolist().index(identifier(paper))
    wanted = TITLE if span is None else identifier(span)
    (row,) = features.evidence[(features.paper_index == place) & (features.spans == wanted)].tolist()
    return {name: value for name, value in zip(EVIDENCE, row, strict=True) if value}


def of_paper(features: RankingFeatures, paper: str) -> dict[str, float]:
    row = features.paper[features.papers.tolist().index(identifier(paper))].tolist()
    return {name: value for name, value in zip(PAPER, row, strict=True) if value}


def test_spans(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide here", "a", "b", cosine=0.5, lexical=5.0)
    library.cite("division of cells", "a", cosine=0.25, kind="piece")
    found = EvidenceSum(library, encoder).features(Claim("Cells divide in the light"))
    # Three words of content, each 5 in a library of that size.
    sentence = {"sentence_cosine": 0.5, "sentence_coverage": 5 / 15, "lexical": 5.0, "crowd": log(2)}
    assert of_evidence(found, "cells divide here", "a") == pytest.approx(sentence, rel=1e-5)
    assert of_evidence(found, "cells divide here", "b") == pytest.approx(sentence, rel=1e-5)
    assert of_evidence(found, "division of cells", "a") == pytest.approx({"part": 1.0, "part_cosine": 0.25})
    assert len(found.paper_index) == 3


@pytest.mark.parametrize("kind", ["sentence", "context"])
def test_a_span_that_is_a_whole_sentence_anywhere_is_one(library: FakeLibrary, encoder: FakeEncoder, kind: str) -> None:
    library.cite("cells divide", "a", kind="piece")
    library.cite("cells divide", "a", kind=kind, document="another")
    found = EvidenceSum(library, encoder).features(Claim("light"))
    assert of_evidence(found, "cells divide", "a") == {"sentence_cosine": 0.5}


def test_a_span_counts_once_for_a_paper(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for document in "xyz":
        library.cite("cells divide", "a", document=document)
    assert len(EvidenceSum(library, encoder).features(Claim("light")).paper_index) == 1


def test_a_part_that_equals_the_claim(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("Fiji", "a", kind="entity")
    library.cite("Fiji", "b", kind="sentence")
    library.cite("Fiji plugin", "a", kind="entity")
    found = EvidenceSum(library, encoder).features(Claim("fiji"))
    assert of_evidence(found, "Fiji", "a")["part_equal"] == 1
    assert "part_equal" not in of_evidence(found, "Fiji plugin", "a")
    assert "part_equal" not in of_evidence(found, "Fiji", "b")


def test_titles(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", about=0.75, hit=3.0)
    library.add_paper("b", about=0.5)
    library.cite("cells divide", "b")
    found = EvidenceSum(library, encoder).features(Claim("light"))
    full = log1p(len(library.known)) / 2  # titles are compared with titles, however many spans there are
    assert of_evidence(found, None, "a") == pytest.approx(
        {"title": 1.0, "title_cosine": 0.75, "title_coverage": 3 / full, "title_lexical": 3.0}
    )
    assert len(found.paper_index) == 2
    assert of_paper(found, "b")["about"] == 0.5  # though its title is no evidence


@pytest.mark.parametrize(
    ("year", "limit", "age"), [(2010, 2020, 10), (None, 2020, 12), (2020, 2020, 0), (1900, 2020, 120)]
)
def test_papers(library: FakeLibrary, encoder: FakeEncoder, year: int | None, limit: int, age: int) -> None:
    library.add_paper("a", year=year)
    for document in "xyz":
        library.cite("cells divide", "a", document=document)
    found = EvidenceSum(library, encoder).features(Claim("light", year=limit))
    expected = {"support": log1p(3), "age": log1p(age)}
    assert of_paper(found, "a") == pytest.approx({name: value for name, value in expected.items() if value})


def test_a_paper_of_the_future_has_no_age(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", year=9999)
    library.cite("cells divide", "a")
    assert "age" not in of_paper(EvidenceSum(library, encoder).features(Claim("light")), "a")


def test_papers_the_draft_cites(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", "b", "c")
    library.beside = {identifier("b"): 3.0, identifier("elsewhere"): 1.0}
    found = EvidenceSum(library, encoder).features(Claim("light", cited=("a",)))
    assert of_paper(found, "a")["cited"] == 1
    assert of_paper(found, "b")["cocited"] == 0.75
    assert not {"cited", "cocited"} & of_paper(found, "c").keys()
    assert identifier("elsewhere") not in found.papers  # nothing speaks for it


def test_sections_and_topics(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", document="x", section="method")
    library.cite("cells divide", "a", document="y", section="introduction")
    library.cite("cells divide", "b", document="z", section=None)
    library.about[identifier("doi:x")] = 0.25
    library.about[identifier("doi:y")] = 0.5
    found = EvidenceSum(library, encoder).features(Claim("light", section_type="method", title="Light and cells"))
    a, b = (of_evidence(found, "cells divide", paper) for paper in "ab")
    assert (a["same_section"], a["same_topic"]) == (1, 0.5)
    assert not {"same_section", "same_topic"} & b.keys()
    plain = EvidenceSum(library, encoder).features(Claim("light"))
    assert not {"same_section", "same_topic"} & of_evidence(plain, "cells divide", "a").keys()


def test_only_some_papers(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for number in range(6):
        library.cite(f"span {number}", *"abcdef"[: number + 1], cosine=number / 10)
    found = EvidenceSum(library, encoder).features(Claim("light"))
    kept = np.array([True, False, True, False, False, True])
    some = found.select_papers(kept)
    assert some.papers.tolist() == found.papers[kept].tolist()
    for place, paper in enumerate(some.papers.tolist()):
        before = found.paper_index == found.papers.tolist().index(paper)
        assert some.spans[some.paper_index == place].tolist() == found.spans[before].tolist()
        assert some.evidence[some.paper_index == place].tolist() == found.evidence[before].tolist()


def test_nothing_found(library: FakeLibrary, encoder: FakeEncoder) -> None:
    found = EvidenceSum(library, encoder).features(Claim("light"))
    assert found.papers.tolist() == found.paper_index.tolist() == found.spans.tolist() == []
    assert found.evidence.shape == (0, len(EVIDENCE))
    assert found.paper.shape == (0, len(PAPER))


def test_a_claim_of_function_words_still_has_a_full_match() -> None:
    assert full_match(0, 0) > 0
    assert full_match(0, 100) == full_match(1, 100) > 0
