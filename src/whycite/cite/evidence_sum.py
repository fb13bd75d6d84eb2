"""The default method of `cite`: rank papers by the sum of their evidence.

A span counts for the papers it cites, the more the closer it is to the claim in meaning and words. The evidence of a
paper is added up; its title, support and age count, too. If the encoder's folder has a ranker, that reads the best
papers side by side with the claim. Only models and weights are trained, so that a library can grow without training.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whycite.cite.fit import LIBRARY, ClaimWords, FitSigns, best_chance, fit_chance, title_matches
from whycite.cite.recommendations import (
    Claim,
    EvidencePiece,
    OwnPassage,
    Recommendation,
    Recommendations,
    check_number,
    citation_shown,
    shown_evidence,
)
from whycite.cite.scoring import (
    DIGITS,
    EVIDENCE,
    PAPER,
    FittedWeights,
    RankingFeatures,
    RankingScores,
    RankingWeights,
    candidate_features,
    full_match,
    match_features,
    score,
    shares,
    stored_with,
)
from whycite.cite.search import (
    CandidatePapers,
    ClaimMatches,
    ClaimQuery,
    candidate_papers,
    prepare_claim,
    search_library,
)
from whycite.errors import UserError
from whycite.models import Encoder, pairs
from whycite.models.cache import SharedEncoder
from whycite.models.pairs import Ranker, paper_text
from whycite.text.tokens import terms
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Library, LibraryInfo

__all__ = ["READ_PAPERS", "EvidenceSum", "make", "with_ranker_scores"]


READ_PAPERS = 5  # by the ranker; reading ten adds .001 to MRR and doubles the time (benchmarks/RESULTS.md, Models)


def with_ranker_scores(
    library: Library,
    ranker: Ranker,
    query: ClaimQuery,
    matches: ClaimMatches,
    features: RankingFeatures,
    scores: RankingScores,
) -> RankingFeatures:
    """The features with the ranker's scores of the best papers; the others get the lowest of these.

    The highest is 0, so that scores with and without a ranker compare.
    """
    best = np.lexsort((features.papers, -scores.papers.round(DIGITS)))[:READ_PAPERS].tolist()
    span_texts = [_best_span_text(matches, features, scores, index) for index in best]
    if not any(span_texts):
        return features  # with titles and abstracts alone, the ranker does not help
    ids = features.papers.tolist()
    papers = library.papers([ids[index] for index in best])
    texts = [
        paper_text(papers[ids[index]].title, text or papers[ids[index]].abstract)
        for index, text in zip(best, span_texts, strict=True)
    ]
    values = ranker.score("paper", query.text, texts)
    values = values - values.max()
    table = features.paper.copy()
    table[:, PAPER.index("ranker")] = values.min()
    table[best, PAPER.index("ranker")] = values
    return replace(features, paper=table)


def _best_span_text(matches: ClaimMatches, features: RankingFeatures, scores: RankingScores, index: int) -> str:
    """The best evidence of a paper, a whole sentence if possible; "" if it has only its title."""
    rows = np.flatnonzero((features.paper_index == index) & (features.spans >= 0))
    if not len(rows):
        return ""
    part = features.evidence[rows, EVIDENCE.index("part")]
    order = np.lexsort((features.spans[rows], -scores.evidence[rows].round(DIGITS), part))
    return matches.spans[int(features.spans[rows[order[0]]])].text


_COSINES = ("sentence_cosine", "part_cosine", "title_cosine")  # of which each piece of evidence has one
# Papers whose title, support and age are looked up. With all of them, the first ten are the same for 97 of 100 claims,
# and MRR to three digits.
CANDIDATES = 100
_MIN_OWN_SHARE = 0.3  # of the claim's words that a sentence of the paper must have to be shown


class EvidenceSum:
    """The method `whycite` over a library; the encoder must be the one that made its vectors."""

    def __init__(
        self, library: Library, encoder: Encoder, weights: RankingWeights | None = None, ranker: Ranker | None = None
    ) -> None:
        if encoder.name != library.encoder:
            raise UserError(
                f"the library was made with the encoder {library.encoder}, not with {encoder.name}; "
                "use that one, or rebuild the vectors with: whycite library reindex --encoder NAME"
            )
        self.name = "whycite"
        self._library, self._encoder, self._ranker = library, SharedEncoder(encoder), ranker
        fitted = FittedWeights(weights) if weights else stored_with(encoder)
        self._weights, self.doubt = fitted.weights, fitted.doubt

    def recommend(self, claim: Claim, n: int = 10) -> Recommendations:
        """The best papers for a claim."""
        check_number(n)
        query = prepare_claim(claim, self._encoder)
        matches = search_library(self._library, query)
        features, candidates = self._features(matches, query, max(CANDIDATES, 3 * n))
        scores = score(features, self._weights)
        if self._ranker and self._weights.ranker:
            features = with_ranker_scores(self._library, self._ranker, query, matches, features, scores)
            scores = score(features, self._weights)
        all_signs = _fit_signs(matches, query, features, candidates)
        chances = [fit_chance(signs, LIBRARY) for signs in all_signs]
        rounded = scores.papers.round(DIGITS)
        ids = features.papers.tolist()
        # The n best and those tied with the last; ties are broken by key.
        good = np.flatnonzero(rounded >= np.sort(rounded)[-n:].min(initial=np.inf)).tolist()
        papers = self._library.papers([ids[index] for index in good])
        pieces = [self._pieces(matches, query, features, scores, index) for index in good]
        texts = {span: hit.text for span, hit in matches.spans.items()}
        evidence = dict(zip(good, shown_evidence(self._library, pieces, texts), strict=True))
        best = sorted(good, key=lambda index: (-rounded[index], papers[ids[index]].key))[:n]
        citing_documents = self._library.citing_documents([ids[index] for index in best])
        recommendations = (
            Recommendation(
                rank=rank,
                score=float(scores.papers[index]),
                support=candidates.support[ids[index]],
                paper=papers[ids[index]],
                evidence=evidence[index],
                shares=shares(features, self._weights, scores, index),
                fits=chances[index],
                citing_documents=citing_documents[ids[index]],
                passages=_own_words(matches, query, ids[index]),
                title_matches=title_matches(all_signs[index]),
            )
            for rank, index in enumerate(best, start=1)
        )
        # The chance of all candidates, not only of the n best, so that it does not depend on n.
        return Recommendations(recommendations, best_chance(chances))

    def fit_signs(self, claim: Claim) -> list[tuple[str, FitSigns]]:
        """The keys and signs of the candidates, best first, to fit the chances to."""
        query = prepare_claim(claim, self._encoder)
        matches = search_library(self._library, query)
        features, candidates = self._features(matches, query, CANDIDATES)
        papers = self._library.papers(features.papers.tolist())
        signs = _fit_signs(matches, query, features, candidates)
        order = np.lexsort((features.papers, -score(features, self._weights).papers.round(DIGITS))).tolist()
        return [(papers[int(features.papers[index])].key, signs[index]) for index in order]

    def features(self, claim: Claim) -> RankingFeatures:
        """The features of all candidate papers, to fit weights to."""
        query = prepare_claim(claim, self._encoder)
        matches = search_library(self._library, query)
        number = len(matches.citations) + len(matches.titles) + len(matches.passages)
        features, _ = self._features(matches, query, number)
        if self._ranker:
            features = with_ranker_scores(
                self._library, self._ranker, query, matches, features, score(features, self._weights)
            )
        return features

    def _features(
        self, matches: ClaimMatches, query: ClaimQuery, number: int
    ) -> tuple[RankingFeatures, CandidatePapers]:
        """The features of about `number` papers, the best by their evidence alone."""
        full_title = full_match(query.words, self._info.papers)
        full_passage = full_match(query.words, self._passage_count)
        features = match_features(matches, query, self._full(query), full_title, full_passage)
        order = np.lexsort((features.papers, -score(features, self._weights).papers.round(DIGITS)))
        candidates = candidate_papers(self._library, query, features.papers[order].tolist(), max(number, 1))
        return candidate_features(features, candidates, query.claim, self._year), candidates

    def _pieces(
        self, matches: ClaimMatches, query: ClaimQuery, features: RankingFeatures, scores: RankingScores, index: int
    ) -> list[EvidencePiece]:
        """The evidence of a paper, best first."""
        rows = np.flatnonzero((features.paper_index == index) & (features.spans >= 0))
        # The score of a whole sentence with the same words and meaning.
        ideal = (
            self._weights.sentence_cosine + self._weights.sentence_coverage + self._weights.lexical * self._full(query)
        )
        citations = matches.citations.get(int(features.papers[index]), {})
        return [
            EvidencePiece(
                matches.spans[span].text,
                float(np.clip(scores.evidence[row] / ideal, 0, 1)),
                citation_shown(citations[span], query.claim),
            )
            for row in rows[np.lexsort((features.spans[rows], -scores.evidence[rows].round(DIGITS)))].tolist()
            for span in [int(features.spans[row])]
        ]

    def _full(self, query: ClaimQuery) -> float:
        return full_match(query.words, self._info.spans)

    @property
    def _year(self) -> int:
        """The year relative to which ages are computed: that of the last change, so that answers are reproducible."""
        return int(self._info.changed[:4])

    @cached_property
    def _passage_count(self) -> int:
        return self._library.count_passages()

    @cached_property
    def _info(self) -> LibraryInfo:
        return self._library.info()


def _fit_signs(
    matches: ClaimMatches, query: ClaimQuery, features: RankingFeatures, candidates: CandidatePapers
) -> list[FitSigns]:
    """The signs of each paper, in the order of the features."""
    cosines = features.evidence[:, [EVIDENCE.index(name) for name in _COSINES]].sum(axis=1)
    meanings = features.paper[:, PAPER.index("about")].copy()
    np.maximum.at(meanings, features.paper_index, cosines)
    words = ClaimWords(query.text)
    signs = []
    for paper_id, meaning in zip(features.papers.tolist(), meanings.tolist(), strict=True):
        paper = candidates.papers[paper_id]
        texts = [matches.spans[span].text for span in matches.citations.get(paper_id, ())]
        if paper_id in matches.passages:
            texts += matches.passages[paper_id].sentences
        signs.append(words.signs(meaning, paper.title, paper.authors, (paper.abstract, *texts)))
    return signs


def _own_words(matches: ClaimMatches, query: ClaimQuery, paper: int) -> tuple[OwnPassage, ...]:
    """The sentence of the paper's best passage that shares most words with the claim, if it shares enough."""
    passage = matches.passages.get(paper)
    if passage is None:
        return ()
    claim_words = {*terms(query.text)} - FUNCTION_WORDS
    shares = [len(claim_words & {*terms(sentence)}) / max(len(claim_words), 1) for sentence in passage.sentences]
    best = max(range(len(shares)), key=shares.__getitem__)
    if shares[best] < _MIN_OWN_SHARE:
        return ()
    return (OwnPassage(passage.sentences[best], shares[best], passage.section, passage.page),)


def make(name: str, library: Library, encoder: Encoder) -> EvidenceSum:
    """Make the method, with the weights and the ranker in the encoder's folder."""
    return EvidenceSum(library, encoder, ranker=pairs.ranker_of(encoder))
