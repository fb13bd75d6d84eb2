"""The default method: papers by the sum of the evidence that speaks for them.

A span speaks for the papers it cites the more, the nearer it is to the claim in meaning and words; all spans of a
paper are added up, and its title, how often it is cited and its age count too. Weights are learnt, the text is not:
a library that grows needs no training.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.recommend.features import TITLE, Features, full_match, of_found, with_facts
from whycite.recommend.model import Claim, Recommendation, check_number
from whycite.recommend.scoring import Scores, score, shares
from whycite.recommend.search import Facts, Found, Query, facts, prepare, search
from whycite.recommend.shown import Piece, place_shown, show
from whycite.recommend.weights import Weights

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["EvidenceSum", "make"]

# Papers of which title, support and age are looked up: the first ten are the same as with all for 97 of 100 claims,
# and MRR is the same to three digits.
CANDIDATES = 100
_DIGITS = 9  # scores that agree so far are equal: what differs is rounding, which no order may hang on


class EvidenceSum:
    """The method `whycite` over a library whose vectors the encoder made."""

    def __init__(self, library: Library, encoder: Encoder, weights: Weights | None = None) -> None:
        if encoder.name != library.encoder:
            raise UserError(
                f"the library was made by {library.encoder}, and vectors of {encoder.name} do not compare with it: "
                "use the encoder that made the library"
            )
        self.name = "whycite"
        self._library, self._encoder = library, encoder
        self._weights = weights or Weights()

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]:
        """The best papers for a claim."""
        check_number(n)
        query = prepare(claim, self._encoder)
        found = search(self._library, query)
        features, known = self._features(found, query, max(CANDIDATES, 3 * n))
        ids = features.papers.tolist()
        scores = score(features, self._weights)
        rounded = scores.papers.round(_DIGITS).tolist()
        best = sorted(range(len(ids)), key=lambda at: (-rounded[at], known.papers[ids[at]].key))[:n]
        pieces = [self._pieces(found, query, features, scores, at) for at in best]
        evidence = show(self._library, pieces, {span: hit.text for span, hit in found.spans.items()})
        return [
            Recommendation(
                rank=rank,
                score=float(scores.papers[at]),
                support=known.support.get(ids[at], 0),
                paper=known.papers[ids[at]],
                evidence=shown,
                shares=shares(features, self._weights, scores, at),
            )
            for rank, (at, shown) in enumerate(zip(best, evidence, strict=True), start=1)
        ]

    def features(self, claim: Claim) -> Features:
        """The features of every paper that may back a claim: what weights are fitted to."""
        query = prepare(claim, self._encoder)
        found = search(self._library, query)
        return self._features(found, query, len(found.citations) + len(found.titles))[0]

    def _features(self, found: Found, query: Query, number: int) -> tuple[Features, Facts]:
        """The features of about `number` papers, the best by what is known of all."""
        features = of_found(found, query, self._full(query))
        order = np.lexsort((features.papers, -score(features, self._weights).papers.round(_DIGITS)))
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
            for row in rows[np.lexsort((features.spans[rows], -scores.evidence[rows].round(_DIGITS)))].tolist()
            for span in [int(features.spans[row])]
        ]

    def _full(self, query: Query) -> float:
        return full_match(query.words, self._spans)

    @cached_property
    def _year(self) -> int:
        """The year from which ages count: not the clock's, so that a library answers the same whenever it is asked."""
        return int(self._library.info().changed[:4])

    @cached_property
    def _spans(self) -> int:
        return self._library.info().spans


def make(name: str, library: Library, encoder: Encoder) -> EvidenceSum:
    """The method, for the registry."""
    return EvidenceSum(library, encoder)
