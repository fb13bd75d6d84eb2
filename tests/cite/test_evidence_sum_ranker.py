"""The best papers read side by side with the claim."""

from __future__ import annotations

import pytest

from tests.fakes import FakeEncoder, FakeLibrary, FakeRanker
from whycite.cite import evidence_sum
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import RankingWeights


def _fond_of(**papers: float) -> FakeRanker:
    """Likes papers by name."""
    return FakeRanker(lambda kind, claim, text: papers.get(text.split("\n")[0].removeprefix("On "), -1.0))


def test_the_ranker_can_turn_the_order(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", cosine=0.6)
    library.cite("cells grow", "b", cosine=0.5)
    claim = Claim("cells do something")
    weights = RankingWeights(ranker=2.0)
    before = EvidenceSum(library, encoder, weights).recommend(claim)
    ranker = _fond_of(a=-3.0, b=3.0)
    after = EvidenceSum(library, encoder, weights, ranker).recommend(claim)
    assert [one.paper.key for one in before] == ["a", "b"]
    assert [one.paper.key for one in after] == ["b", "a"]
    assert [one.shares["ranker"] for one in after] == pytest.approx([0.0, -12.0])
    assert sum(after[1].shares.values()) == pytest.approx(after[1].score)
    assert after[0].score == pytest.approx(before[1].score)
    assert after[1].score == pytest.approx(before[0].score - 12.0)
    assert ranker.asked == [("paper", claim.text, ["On a\ncells divide", "On b\ncells grow"])]


def test_the_sentence_that_speaks_most_is_read(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("mitosis", "a", cosine=0.9, kind="entity")
    library.cite("cells divide by mitosis", "a", cosine=0.5)
    library.cite("cells divide", "a", cosine=0.4)
    ranker = _fond_of()
    EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("how cells divide"))
    assert ranker.asked[0][2] == ["On a\ncells divide by mitosis"]


def test_only_the_best_are_read(library: FakeLibrary, encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_sum, "READ_PAPERS", 2)
    for at, key in enumerate("abcd"):
        library.cite(f"cells {key}", key, cosine=0.8 - at / 10)
    ranker = _fond_of(a=1.0, b=2.0)
    found = EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("cells"))
    assert [len(texts) for _, _, texts in ranker.asked] == [2]
    assert {one.paper.key: one.shares["ranker"] for one in found} == {"a": -1.0, "b": 0.0, "c": -1.0, "d": -1.0}


def test_nothing_found_nothing_read(library: FakeLibrary, encoder: FakeEncoder) -> None:
    ranker = _fond_of()
    assert EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("cells")) == []
    assert ranker.asked == []


def test_titles_alone_are_not_read(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", hit=3.0)
    library.add_paper("b", hit=2.0)
    ranker = _fond_of(a=-3.0, b=3.0)
    found = EvidenceSum(library, encoder, RankingWeights(ranker=2.0), ranker).recommend(Claim("cells"))
    assert [(one.paper.key, one.shares["ranker"]) for one in found] == [("a", 0.0), ("b", 0.0)]
    assert ranker.asked == []
