"""Which evidence is shown, and where it stands."""

from __future__ import annotations

import pytest

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim, EvidencePiece, citation_shown, distinct
from whycite.library import SpanCitation


def piece(sentence: int) -> EvidencePiece:
    return EvidencePiece("span", 0.5, SpanCitation(1, 1, 1, sentence, "sentence", None, 1))


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("a b c d", "a b c d", True),
        ("A, b (c) D.", "a b c d", True),
        ("a b c d e", "a b c d", True),  # 4 of 5
        ("a b c", "a b c d", False),  # 3 of 4
        ("", "", True),
        ("", "a", False),
    ],
)
def test_sentences_that_say_the_same(first: str, second: str, alike: bool) -> None:
    texts = [first, second]
    found = distinct([piece(0), piece(1)], lambda shown: texts[shown.citation.sentence])
    assert [shown.citation.sentence for shown in found] == ([0] if alike else [0, 1])


def test_a_sentence_is_shown_once_by_its_best_span(library: FakeLibrary, encoder: FakeEncoder) -> None:
    whole = "Cells divide in the light of day when it is warm"
    library.cite(whole, "a", cosine=0.5)
    library.cite("division", "a", cosine=0.9, kind="entity", sentence=whole)
    library.cite(whole + " enough", "a", cosine=0.4, document="preprint")
    library.cite("Something else", "a", cosine=0.1)
    (found,) = EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert [(shown.span, shown.sentence) for shown in found.evidence] == [
        ("division", whole),
        ("Something else", "Something else"),
    ]
    assert found.evidence[0].source.title == "document"


def test_no_more_than_five(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for number in range(9):
        library.cite(f"span{number} of{number} its{number} own{number}", "a", cosine=number / 10)
    (found,) = EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert [shown.span[4] for shown in found.evidence] == [*"87654"]
    scores = [shown.score for shown in found.evidence]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_evidence_scores_stay_between_0_and_1(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("all of it and far more", "a", cosine=1.0, lexical=900.0)
    library.cite("the contrary", "b", cosine=-1.0)
    best, worst = EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert best.evidence[0].score == 1
    assert worst.evidence[0].score == 0


def test_texts_that_are_known_are_not_asked_for(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a")
    EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert library.calls["texts"] == 0


def test_a_place_in_a_section_like_the_claims() -> None:
    rows = [
        SpanCitation(1, 1, 5, 1, "sentence", "method", 2),
        SpanCitation(1, 1, 4, 1, "sentence", "introduction", 9),
        SpanCitation(1, 1, 4, 1, "sentence", None, 7),
    ]
    assert citation_shown(rows, Claim("cells", section_type="method")) == rows[0]
    assert citation_shown(rows, Claim("cells", section_type="results")) == rows[2]
    assert citation_shown(rows[::-1], Claim("cells", section_type="results")) == rows[2]
