"""The best papers read side by side with the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from whycite.cite import evidence_sum
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import RankingWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tests.fakes import FakeEncoder, FakeLibrary


class FakeRanker:
    """Likes papers by name; what it was asked is kept."""

    name = "fake"

    def __init__(self, **liked: float) -> None:
        self.liked = liked
        self.asked: list[tuple[str, str, list[str]]] = []

    def score(self, kind: str, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((kind, claim, list(texts)))
        return np.array([self.liked.get(text.split("\n")[0].removeprefix("On "), -1.0) for text in texts], np.float32)


def test_the_ranker_can_turn_the_order(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", cosine=0.6)
    library.cite("cells grow", "b", cosine=0.5)
    claim = Claim("cells do something")
    weights = RankingWeights(ranker=2.0)
    before = EvidenceSum(library, encoder, weights).recommend(claim)
    ranker = FakeRanker(a=-3.0, b=3.0)
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
    ranker = FakeRanker()
    EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("how cells divide"))
    assert ranker.asked[0][2] == ["On a\ncells divide by mitosis"]


def test_only_the_best_are_read(library: FakeLibrary, encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_sum, "READ_PAPERS", 2)
    for at, key in enumerate("abcd"):
        library.cite(f"cells {key}", key, cosine=0.8 - at / 10)
    ranker = FakeRanker(a=1.0, b=2.0)
    found = EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("cells"))
    assert [len(texts) for _, _, texts in ranker.asked] == [2]
    assert {one.paper.key: one.shares["ranker"] for one in found} == {"a": -1.0, "b": 0.0, "c": -1.0, "d": -1.0}


def test_nothing_found_nothing_read(library: FakeLibrary, encoder: FakeEncoder) -> None:
    ranker = FakeRanker()
    assert EvidenceSum(library, encoder, RankingWeights(ranker=1.0), ranker).recommend(Claim("cells")) == []
    assert ranker.asked == []


def test_titles_alone_are_not_read(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.add_paper("a", hit=3.0)
    library.add_paper("b", hit=2.0)
    ranker = FakeRanker(a=-3.0, b=3.0)
    found = EvidenceSum(library, encoder, RankingWeights(ranker=2.0), ranker).recommend(Claim("cells"))
    assert [(one.paper.key, one.shares["ranker"]) for one in found] == [("a", 0.0), ("b", 0.0)]
    assert ranker.asked == []
