"""The default method: papers by the sum of the evidence that speaks for them.

A span speaks for the papers it cites the more, the nearer it is to the claim in meaning and words; all spans of a
paper are added up, and its title, how often it is cited and its age count too. Where a ranker lies with the encoder, it
reads the best papers side by side with the claim. Models and weights are learnt, the library is not: one that grows
needs no training.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whycite.encoders import Encoder
from whycite.encoders.sharing import SharedEncoder
from whycite.errors import UserError
from whycite.recommend.features import TITLE, Features, full_match, of_found, with_facts
from whycite.recommend.model import Claim, Recommendation, check_number
from whycite.recommend.reading import read
from whycite.recommend.scoring import DIGITS, Scores, score, shares
from whycite.recommend.search import Facts, Found, Query, facts, prepare, search
from whycite.recommend.shown import Piece, place_shown, show
from whycite.recommend.weights import Fitted, Weights, stored_with
from whycite.rerank import ranker as rankers
from whycite.rerank.ranker import Ranker

if TYPE_CHECKING:
    from whycite.library import Info, Library

__all__ = ["EvidenceSum", "make"]

# Papers of which title, support and age are looked up: the first ten are the same as with all for 97 of 100 claims,
# and MRR is the same to three digits.
CANDIDATES = 100


class EvidenceSum:
    """The method `whycite` over a library whose vectors the encoder made."""

    def __init__(
        self, library: Library, encoder: Encoder, weights: Weights | None = None, ranker: Ranker | None = None
    ) -> None:
        if encoder.name != library.encoder:
            raise UserError(
                f"the library was made by {library.encoder}, and vectors of {encoder.name} do not compare with it: "
                "use the encoder that made the library, or move it with: whycite library reindex --encoder NAME"
            )
        self.name = "whycite"
        self._library, self._encoder, self._ranker = library, SharedEncoder(encoder), ranker
        fitted = Fitted(weights) if weights else stored_with(encoder)
        self._weights, self.doubt = fitted.weights, fitted.doubt

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]:
        """The best papers for a claim."""
        check_number(n)
        query = prepare(claim, self._encoder)
        found = search(self._library, query)
        features, known = self._features(found, query, max(CANDIDATES, 3 * n))
        scores = score(features, self._weights)
        if self._ranker and self._weights.ranker:
            features = read(self._library, self._ranker, query, found, features, scores)
            scores = score(features, self._weights)
        rounded = scores.papers.round(DIGITS)
        ids = features.papers.tolist()
        # The n best, and what is as good as the last of these: which of them come is decided by their keys.
        good = np.flatnonzero(rounded >= np.sort(rounded)[-n:].min(initial=np.inf)).tolist()
        papers = self._library.papers([ids[at] for at in good])
        pieces = [self._pieces(found, query, features, scores, at) for at in good]
        texts = {span: hit.text for span, hit in found.spans.items()}
        evidence = dict(zip(good, show(self._library, pieces, texts), strict=True))
        best = sorted(good, key=lambda at: (-rounded[at], papers[ids[at]].key))[:n]
        return [
            Recommendation(
                rank=rank,
                score=float(scores.papers[at]),
                support=known.support[ids[at]],
                paper=papers[ids[at]],
                evidence=evidence[at],
                shares=shares(features, self._weights, scores, at),
            )
            for rank, at in enumerate(best, start=1)
        ]

    def features(self, claim: Claim) -> Features:
        """The features of every paper that may back a claim: what weights are fitted to."""
        query = prepare(claim, self._encoder)
        found = search(self._library, query)
        features, _ = self._features(found, query, len(found.citations) + len(found.titles))
        if self._ranker:
            features = read(self._library, self._ranker, query, found, features, score(features, self._weights))
        return features

    def _features(self, found: Found, query: Query, number: int) -> tuple[Features, Facts]:
        """The features of about `number` papers, the best by what is known of all."""
        features = of_found(found, query, self._full(query), full_match(query.words, self._info.papers))
        order = np.lexsort((features.papers, -score(features, self._weights).papers.round(DIGITS)))
        known = facts(self._library, query, features.papers[order].tolist(), max(number, 1))
        return with_facts(features, known, query.claim, self._year), known

    def _pieces(self, found: Found, query: Query, features: Features, scores: Scores, at: int) -> list[Piece]:
        """What speaks for a paper, best first."""
        rows = np.flatnonzero((features.of == at) & (features.spans != TITLE))
        # A whole sentence that says the same in the same words.
        ideal = (
            self._weights.sentence_cosine + self._weights.sentence_coverage + self._weights.lexical * self._full(query)
        )
        citations = found.citations.get(int(features.papers[at]), {})
        return [
            Piece(
                found.spans[span].text,
                float(np.clip(scores.evidence[row] / ideal, 0, 1)),
                place_shown(citations[span], query.claim),
            )
            for row in rows[np.lexsort((features.spans[rows], -scores.evidence[rows].round(DIGITS)))].tolist()
            for span in [int(features.spans[row])]
        ]

    def _full(self, query: Query) -> float:
        return full_match(query.words, self._info.spans)

    @property
    def _year(self) -> int:
        """The year from which ages count: not the clock's, so that a library answers the same whenever it is asked."""
        return int(self._info.changed[:4])

    @cached_property
    def _info(self) -> Info:
        return self._library.info()


def make(name: str, library: Library, encoder: Encoder) -> EvidenceSum:
    """The method, for the registry; weights and ranker are those that lie with the encoder."""
    return EvidenceSum(library, encoder, ranker=rankers.stored_with(encoder))
