"""The default method: scores by hand, and what must hold whatever is found."""

from __future__ import annotations

import time
from math import exp, fsum, log, log1p
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim, OwnPassage, Recommendation
from whycite.cite.scoring import RankingWeights
from whycite.errors import UserError
from whycite.library.tables import identifier

COSINES = st.integers(0, 20).map(lambda number: number / 20)
# Text of the span, papers it cites, cosine, BM25, kind.
SPANS = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True),
        COSINES,
        st.integers(0, 30),
        st.sampled_from(["sentence", "context", "piece", "entity"]),
    ),
    max_size=15,
)


def filled(library: FakeLibrary, spans: list[tuple[int, list[str], float, int, str]]) -> FakeLibrary:
    for at, key in enumerate("abcdef"):
        library.add_paper(key, year=2000 + at, about=at / 10, hit=float(at) if at % 2 else None)
    for number, keys, cosine, lexical, kind in spans:
        library.cite(f"w{number} v{number}", *keys, cosine=cosine, lexical=float(lexical), kind=kind)
    return library


def keys(found: list[Recommendation]) -> list[str]:
    return [one.paper.key for one in found]


def test_scores_by_hand(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", year=2010, about=0.4, hit=2.0)
    library.cite("cells divide", "a", "b", cosine=0.8, lexical=6.0)
    library.cite("division of cells", "a", cosine=0.6, kind="piece")
    weights = RankingWeights(
        sentence_cosine=20.0, sentence_coverage=3.0, part=5.0, part_cosine=15.0, part_coverage=2.0, part_equal=-4.0,
        lexical=0.05, crowd=-0.2, title=-2.0, title_cosine=25.0, title_coverage=1.5,
        title_lexical=0.25, about=16.0, support=0.3, age=-0.15,
    )  # fmt: skip
    full = 2 * log1p(22025) / 2  # two words
    sentence = 20 * 0.8 + 3 * 6 / full + 0.05 * 6 - 0.2 * log(2)
    part = 15 * 0.6 + 5
    title = 25 * 0.4 + 1.5 * 2 / (2 * log1p(len(library.known)) / 2) + 0.25 * 2 - 2
    a, b = EvidenceSum(library, encoder, weights).recommend(Claim("Cells divide.", year=2020))
    assert (a.rank, a.paper.key, a.support) == (1, "a", 2)
    assert a.score == pytest.approx(
        log(exp(sentence) + exp(part) + exp(title)) + 0.3 * log(3) + 16 * 0.4 - 0.15 * log(11)
    )
    assert (b.rank, b.paper.key, b.support) == (2, "b", 1)
    assert b.score == pytest.approx(sentence + 0.3 * log(2) - 0.15 * log(21))
    assert b.evidence[0].score == pytest.approx(sentence / (20 + 3 + 0.05 * full))


@given(SPANS)
def test_shares_sum_to_the_score(encoder: FakeEncoder, spans: list[tuple[int, list[str], float, int, str]]) -> None:
    claim = Claim("w1 w2", section_type="method", cited=("a", "z"), title="On light")
    found = EvidenceSum(filled(FakeLibrary(), spans), encoder).recommend(claim)
    assert found
    assert [one.rank for one in found] == [*range(1, len(found) + 1)]
    for one in found:
        assert fsum(one.shares.values()) == pytest.approx(one.score, abs=1e-9)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


@given(SPANS, st.integers(0, 9))
def test_the_order_of_hits_is_of_no_account(
    encoder: FakeEncoder, spans: list[tuple[int, list[str], float, int, str]], seed: int
) -> None:
    claim = Claim("w1 w2", year=2004)
    straight = EvidenceSum(filled(FakeLibrary(), spans), encoder).recommend(claim)
    shuffled = EvidenceSum(filled(FakeLibrary(Random(seed)), spans), encoder).recommend(claim)
    assert straight == shuffled


@given(SPANS, st.sampled_from("abcdef"), COSINES, st.integers(0, 30), st.sampled_from(["sentence", "piece"]))
def test_more_evidence_never_lowers_a_paper(
    encoder: FakeEncoder,
    spans: list[tuple[int, list[str], float, int, str]],
    paper: str,
    cosine: float,
    lexical: int,
    kind: str,
) -> None:
    before = filled(FakeLibrary(), spans)
    after = filled(FakeLibrary(), spans)
    after.cite("a new span", paper, cosine=cosine, lexical=float(lexical), kind=kind)
    claim = Claim("w1 w2", year=2010)
    ranks = [keys(EvidenceSum(library, encoder).recommend(claim)) for library in (before, after)]
    assert paper in ranks[1]
    if paper in ranks[0]:
        assert ranks[1].index(paper) <= ranks[0].index(paper)


@given(SPANS, st.integers(1999, 2006))
def test_no_paper_is_newer_than_the_claim_may_cite(
    encoder: FakeEncoder, spans: list[tuple[int, list[str], float, int, str]], year: int
) -> None:
    method = EvidenceSum(filled(FakeLibrary(), spans), encoder)
    found = {one.paper.key for one in method.recommend(Claim("w1", year=year))}
    everything = {one.paper.key for one in method.recommend(Claim("w1"))}
    assert found == {key for key in everything if 2000 + "abcdef".index(key) <= year}


def test_the_year_limit_reaches_past_the_candidates(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for number in range(250):
        library.add_paper(f"new {number}", year=2020)
    library.add_paper("old", year=1990)
    library.cite("the best", *(f"new {number}" for number in range(250)), cosine=0.9)
    library.cite("something", "old", cosine=0.1)
    assert keys(EvidenceSum(library, encoder).recommend(Claim("cells", year=2000))) == ["old"]


def test_papers_that_are_equal_come_by_key(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", *"dbeac")
    assert keys(EvidenceSum(library, encoder).recommend(Claim("cells"), 4)) == [*"abcd"]


def test_a_paper_by_its_title_alone_has_no_evidence(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", about=0.9, hit=5.0)
    (found,) = EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert found.evidence == ()
    assert found.support == 0


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        (Claim("cells"), "a"),
        (Claim("cells", section_type="method"), "b"),
        (Claim("cells", cited=("b",)), "b"),
        (Claim("cells", cited=("unknown",)), "c"),
        (Claim("cells", title="Another topic"), "d"),
        (Claim("cells", title="On a"), "b"),
        (Claim("cells", section_type="unheard of"), "a"),
    ],
    ids=["nothing", "section", "cited", "cited beside", "topic", "itself", "another section"],
)
def test_context_tips_the_balance(library: FakeLibrary, encoder: FakeEncoder, claim: Claim, first: str) -> None:
    for key, section in zip("abcd", ["results", "method", None, None], strict=True):
        library.cite(f"cells {key}", key, document=f"by {key}", section=section)
    library.beside = {identifier("c"): 5.0} if claim.cited == ("unknown",) else {}
    library.about[identifier("doi:by d")] = 0.9 if claim.title == "Another topic" else 0.0
    weights = RankingWeights(same_section=0.1, same_topic=0.2, cocited=0.5, cited=1.0)
    assert keys(EvidenceSum(library, encoder, weights).recommend(claim))[0] == first


def test_the_draft_in_the_library_is_neither_evidence_nor_recommended(
    library: FakeLibrary, encoder: FakeEncoder
) -> None:
    library.add_paper("draft", title="Cells Divide", about=0.9, hit=9.0)
    library.cite("cells divide", "a", document="draft", cosine=1.0)
    library.cite("cells live", "b", cosine=0.1)
    library.retitled("draft", "Cells divide")
    assert {*keys(EvidenceSum(library, encoder).recommend(Claim("cells divide")))} == {"draft", "a", "b"}
    assert keys(EvidenceSum(library, encoder).recommend(Claim("cells divide", title="Cells divide"))) == ["b"]


def test_an_empty_library(library: FakeLibrary, encoder: FakeEncoder) -> None:
    assert EvidenceSum(library, encoder).recommend(Claim("cells", title="t", cited=("a",), paragraph="p")) == []


def test_few_questions_to_the_library(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for number in range(300):
        library.cite(f"span {number}", f"p{number}", f"q{number}", sentence=f"The span {number}", kind="entity")
    EvidenceSum(library, encoder).recommend(Claim("cells"))
    assert {*library.calls.values()} == {1}
    assert library.calls.keys() == {
        "search",
        "citations",
        "outlines",
        "support",
        "papers",
        "texts",
        "sources",
        "quotations",
        "citing_documents",
    }


def test_a_paper_is_found_by_what_it_says_itself(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", title="Something else")
    library.add_paper("b")
    library.say("a", "They were grown.", "Cells of yeast divide when grown.", lexical=20.0, section="Results", page=3)
    library.say("b", "Nothing of the kind.", lexical=1.0)
    weights = RankingWeights(own=2.0, own_lexical=0.1)
    first, second = EvidenceSum(library, encoder, weights).recommend(Claim("Yeast cells divide in the dark"))
    assert (first.paper.key, first.support, first.evidence) == ("a", 0, ())
    assert first.passages == (OwnPassage("Cells of yeast divide when grown.", 3 / 4, "Results", 3),)
    assert first.shares["own words"] > second.shares["own words"] > 0
    assert not first.title_matches
    assert second.passages == ()  # no sentence has enough words of the claim


def test_how_many_documents_cite_a_paper(library: FakeLibrary, encoder: FakeEncoder) -> None:
    for number, document in enumerate(("d1", "d1", "d2")):
        library.cite(f"cells divide {number}", "a", document=document)
    [paper] = EvidenceSum(library, encoder).recommend(Claim("cells divide"))
    assert (paper.support, paper.citing_documents) == (3, 2)


@pytest.mark.parametrize("n", [0, -1])
def test_no_recommendations(library: FakeLibrary, encoder: FakeEncoder, n: int) -> None:
    with pytest.raises(UserError, match="1 or more"):
        EvidenceSum(library, encoder).recommend(Claim("cells"), n)


def test_what_claims_have_in_common_is_encoded_once(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a")
    library.cite("cells divide", "a", cosine=0.5)
    unasked = FakeEncoder()
    method = EvidenceSum(library, unasked)
    for text in ("Cells divide.", "Cells grow."):
        method.recommend(Claim(text, title="On cells", paragraph="Cells divide. Cells grow."))
    assert unasked.calls == [["Cells divide.", "Cells divide. Cells grow.", "On cells"], ["Cells grow."]]


def test_as_many_as_asked_for(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells", *(f"paper {number}" for number in range(900)))
    for n in (1, 10, 500, 1000):
        assert len(EvidenceSum(library, encoder).recommend(Claim("light"), n)) == min(n, 900)


def test_vectors_of_another_encoder_do_not_compare(library: FakeLibrary, encoder: FakeEncoder) -> None:
    other = FakeEncoder()
    other.name = "fake@2"
    with pytest.raises(UserError, match=r"made with the encoder fake@1, not with fake@2"):
        EvidenceSum(library, other)


def test_a_long_claim_takes_no_long_time(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a")
    claim = Claim("cells divide and β-catenin — " * 4000)
    started = time.process_time()
    assert keys(EvidenceSum(library, encoder).recommend(claim)) == ["a"]
    assert time.process_time() - started < 30
