"""SCOPE's own chain for a draft: match its references to papers, prefetch candidates, rerank them (3.3, 3.4, 4.2.6)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from whycite.documents.identity import normalise_title, paper_key
from whycite.documents.model import Document, Reference
from whycite.lab.scope.candidates import CandidatePaper, DraftPart, Recommender
from whycite.lab.scope.inputvariants import ClaimPlace, claim_input, ranker_variant
from whycite.lab.scope.recommenders import Bm25
from whycite.lab.scope.reranking import Reranker
from whycite.text.tokens import terms

__all__ = ["MatchedReference", "ReferenceMatcher", "ScopeChain"]

Certainty = Literal["identifier", "title", "guess"]


@dataclass(frozen=True, slots=True)
class MatchedReference:
    """A reference of a draft, the paper it was matched to, and by what; a guess is the nearest title."""

    reference: str
    paper: str
    by: Certainty


class ReferenceMatcher:
    """Matches references to the papers of a pool: by identifier, by title, or by the nearest title as a guess."""

    def __init__(self, papers: Mapping[str, CandidatePaper]) -> None:
        self._papers = papers
        self._titles = {normalise_title(paper.title): key for key, paper in papers.items() if paper.title}
        self._keys = list(papers)
        self._index = Bm25((terms(paper.title) for paper in papers.values()), k1=1.5, b=0.75)

    def match(self, reference: Reference) -> MatchedReference | None:
        """The paper of a reference; None if it has no title, or no title shares a word with it."""
        if (key := paper_key(reference)) is not None and key in self._papers:
            return MatchedReference(reference.id, key, "identifier")
        title = reference.title or reference.text
        if not title:
            return None
        if (same_title := self._titles.get(normalise_title(title))) is not None:
            return MatchedReference(reference.id, same_title, "title")
        scores = self._index.scores(terms(title))
        if not len(scores) or scores.max() <= 0:
            return None
        return MatchedReference(reference.id, self._keys[int(np.argmax(scores))], "guess")


class ScopeChain:
    """A prefetcher and a reranker over the papers of a pool."""

    def __init__(
        self, papers: Mapping[str, CandidatePaper], prefetcher: Recommender, reranker: Reranker, k: int
    ) -> None:
        self.name = f"{prefetcher.name} and {reranker.name}, {k:,} of {len(papers):,} papers"
        self._papers, self._prefetcher, self._reranker, self._k = papers, prefetcher, reranker, k
        self._matcher = ReferenceMatcher(papers)

    def match(self, document: Document) -> dict[str, MatchedReference]:
        """The papers of a draft's references by their ids."""
        matches = (self._matcher.match(reference) for reference in document.references)
        return {match.reference: match for match in matches if match is not None}

    def propose(
        self, document: Document, sentences: Sequence[int], matches: Mapping[str, MatchedReference], n: int
    ) -> tuple[dict[int, list[str]], dict[str, float]]:
        """The n best papers for sentences, as if they cited nothing, and the seconds of each stage."""
        places = _claim_places(document)
        seconds = {"prefetcher": 0.0, "reranker": 0.0}
        proposals: dict[int, list[str]] = {}
        for index in sentences:
            start = time.perf_counter()
            part = self._draft_part(document, index, places[index], matches)
            keys = sorted(key for key, _ in self._prefetcher.recommend(part, self._k))
            prefetched = time.perf_counter()
            papers = [self._papers[key] for key in keys]
            scores = self._reranker.score(places[index], papers) if papers else np.zeros(0)
            order = np.argsort(-np.asarray(scores), kind="stable")[:n].tolist()
            proposals[index] = [keys[place] for place in order]
            seconds["prefetcher"] += prefetched - start
            seconds["reranker"] += time.perf_counter() - prefetched
        return proposals, seconds

    def _draft_part(
        self, document: Document, index: int, place: ClaimPlace, matches: Mapping[str, MatchedReference]
    ) -> DraftPart:
        """The section of a sentence, with what its other sentences cite."""
        section = document.sentences[index].section
        own = set(document.sentences[index].cited_keys)
        cited_ids = {
            key
            for other in document.sentences
            if other.section == section
            for key in other.cited_keys
            if key not in own and key in matches
        }
        cited_keys = {matches[id].paper for id in cited_ids} - {matches[id].paper for id in own if id in matches}
        text = claim_input(ranker_variant("paragraph"), place, masked=False)
        return DraftPart(
            tuple(self._papers[key] for key in sorted(cited_keys)),
            document.paper.title,
            (place.section_type,),
            text,
            document.paper.year,
        )


def _claim_places(document: Document) -> dict[int, ClaimPlace]:
    """Every prose sentence in its paragraph, without citations, by its index."""
    prose = [(index, sentence) for index, sentence in enumerate(document.sentences) if sentence.kind == "prose"]
    places: dict[int, ClaimPlace] = {}
    for (section, _), group in groupby(prose, key=lambda pair: (pair[1].section, pair[1].paragraph)):
        members = list(group)
        texts = tuple(sentence.without_citations() for _, sentence in members)
        type = document.sections[section].type if section < len(document.sections) else None
        for position, (index, _) in enumerate(members):
            places[index] = ClaimPlace(texts, position, document.paper.title, document.paper.abstract, type or "")
    return places
