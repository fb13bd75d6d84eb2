"""SCOPE's chain for a draft: match references to papers, prefetch candidates, rerank them (3.3, 3.4, 4.2.6)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log
from pathlib import Path
from typing import Literal

import numpy as np

from whycite.check.findings import Proposal
from whycite.check.proposals import ProposerFactory, SentenceProposals, SourceRanking, merge_rankings
from whycite.cite.exports import CitationKeys
from whycite.cite.recommendations import Recommendation
from whycite.documents.identity import normalise_title, paper_key
from whycite.documents.model import Document, Reference
from whycite.errors import UserError
from whycite.lab.evaluate.topics import Watch
from whycite.lab.scope.candidates import (
    DEFAULT_RECOMMENDER,
    CandidatePaper,
    DraftPart,
    Lessons,
    Recommender,
    check_recommender,
    cited_sets,
    load_recommender,
)
from whycite.lab.scope.inputvariants import ClaimPlace, claim_input, ranker_variant
from whycite.lab.scope.prefetching import read_citing_corpus
from whycite.lab.scope.recommenders import Bm25
from whycite.lab.scope.reranking import Bm25Reranker, RankerReranker, Reranker, room_of, trained_variant
from whycite.library.records import Paper
from whycite.models.pairs import load_ranker
from whycite.text.tokens import terms

__all__ = [
    "CHAIN_DEPTH",
    "CHAIN_STAGES",
    "ChainProposer",
    "MatchedReference",
    "ReferenceMatcher",
    "ScopeChain",
    "load_chain",
    "open_chain",
]

CHAIN_STAGES = ("prefetcher", "reranker")
CHAIN_DEPTH = 100  # candidates to rerank; 2,000 in SCOPE
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
        self,
        papers: Mapping[str, CandidatePaper],
        prefetcher: Recommender,
        reranker: Reranker,
        k: int,
        unread: Sequence[str] = (),
    ) -> None:
        """A message for each file that could not be read is in `unread`."""
        self.name = f"{prefetcher.name} and {reranker.name}, {k:,} of {len(papers):,} papers"
        self.unread = tuple(unread)
        self._papers, self._prefetcher, self._reranker, self._k = papers, prefetcher, reranker, k
        self._matcher = ReferenceMatcher(papers)

    def paper(self, key: str) -> CandidatePaper:
        """A paper of the pool."""
        return self._papers[key]

    def match(self, document: Document) -> dict[str, MatchedReference]:
        """The papers of a draft's references by their ids."""
        matches = (self._matcher.match(reference) for reference in document.references)
        return {match.reference: match for match in matches if match is not None}

    def propose(
        self, document: Document, sentences: Sequence[int], matches: Mapping[str, MatchedReference], n: int
    ) -> tuple[dict[int, list[str]], dict[str, float]]:
        """The n best papers for sentences, as if they cited nothing, and the seconds of each stage."""
        places = _claim_places(document)
        seconds = dict.fromkeys(CHAIN_STAGES, 0.0)
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
        own_keys = set(document.sentences[index].cited_keys)
        cited_ids = {
            key
            for sentence in document.sentences
            if sentence.section == section
            for key in sentence.cited_keys
            if key not in own_keys and key in matches
        }
        cited_keys = {matches[id].paper for id in cited_ids} - {matches[id].paper for id in own_keys if id in matches}
        text = claim_input(ranker_variant("paragraph"), place, masked=False)
        return DraftPart(
            tuple(self._papers[key] for key in sorted(cited_keys)),
            document.paper.title,
            (place.section_type,),
            text,
            document.paper.year,
        )


def _claim_places(document: Document) -> dict[int, ClaimPlace]:
    """Every sentence without citations, in its paragraph if it is prose, by its index."""
    prose = [(index, sentence) for index, sentence in enumerate(document.sentences) if sentence.kind == "prose"]
    paper = document.paper
    places = {
        index: ClaimPlace((sentence.without_citations(),), 0, paper.title, paper.abstract)
        for index, sentence in enumerate(document.sentences)
        if sentence.kind != "prose"
    }
    for (section, _), group in groupby(prose, key=lambda pair: (pair[1].section, pair[1].paragraph)):
        members = list(group)
        texts = tuple(sentence.without_citations() for _, sentence in members)
        type = document.sections[section].type if section < len(document.sections) else None
        for position, (index, _) in enumerate(members):
            places[index] = ClaimPlace(texts, position, paper.title, paper.abstract, type or "")
    return places


def load_chain(
    papers: Sequence[Path],
    prefetch: str = DEFAULT_RECOMMENDER,
    ranker: Path | None = None,
    variant: str | None = None,
    k: int = CHAIN_DEPTH,
    watch: Watch = lambda stage, count, total: None,
) -> ScopeChain:
    """SCOPE's chain over what papers cite; without a ranker, BM25 over sentence and paragraph orders the candidates."""
    check_recommender(prefetch)  # before papers are read, which may take minutes
    chosen = ranker_variant(variant) if variant else (trained_variant(ranker) if ranker else None)
    chosen = chosen or ranker_variant("paragraph")
    trained = RankerReranker(load_ranker(ranker), chosen, room_of(ranker), ranker.name) if ranker else None
    corpus, unread = read_citing_corpus(papers, None, watch)
    if not corpus.papers:
        raise UserError(f"{papers[0]}: no paper cites another one, so there is no pool to search")
    watch(f"training {prefetch}", 0, None)
    prefetcher = load_recommender(prefetch, Lessons(cited_sets(corpus.documents, "section"), corpus.papers))
    reranker: Reranker = trained or Bm25Reranker(corpus.papers.values(), chosen, masked=False)
    return ScopeChain(corpus.papers, prefetcher, reranker, k, unread)


class ChainProposer:
    """Proposes papers for the sentences of one draft by SCOPE's chain, for `whycite check`."""

    def __init__(self, chain: ScopeChain, document: Document, n: int, unfit: Collection[str] = ()) -> None:
        """Entries of the bibliography that are `unfit`, such as retracted ones, are not proposed."""
        self._chain, self._document, self._n = chain, document, n
        self._matches = chain.match(document)
        # A guess finds a paper for the chain to learn from, but is not sure enough to be cited by the entry's key.
        self._entries = {match.paper: match.reference for match in self._matches.values() if match.by != "guess"}
        self._unfit = {paper for paper, entry in self._entries.items() if entry in unfit}
        self._keys = CitationKeys(
            document.references, [key for sentence in document.sentences for key in sentence.cited_keys]
        )
        self.seconds = dict.fromkeys(CHAIN_STAGES, 0.0)
        """The time each stage took so far."""

    def propose(
        self, sentences: Sequence[int], on_answer: Callable[[], None] = lambda: None
    ) -> dict[int, SentenceProposals]:
        """The best papers for each of the sentences, which are given by index; none that a sentence cites already."""
        excluded = {index: self._unfit | self._cited_papers(index) for index in sentences}
        number = self._n + max(map(len, excluded.values()), default=0)
        ranked, seconds = self._chain.propose(self._document, sentences, self._matches, number)
        for stage, value in seconds.items():
            self.seconds[stage] += value
        proposals = {}
        for index in sentences:
            papers = [paper for paper in ranked[index] if paper not in excluded[index]][: self._n]
            proposals[index] = SentenceProposals(self._ranked(self._document.sentences[index].text, papers), None)
            on_answer()
        return proposals

    def _cited_papers(self, index: int) -> set[str]:
        keys = self._document.sentences[index].cited_keys
        return {self._matches[key].paper for key in keys if key in self._matches}

    def _ranked(self, claim: str, papers: Sequence[str]) -> tuple[Proposal, ...]:
        # Scores of rerankers are no odds, so only the order counts: a paper's share falls with its rank.
        words, odds = set(terms(claim)), [-log(rank) for rank in range(1, len(papers) + 1)]
        candidates = [
            (self._entries.get(paper), _recommendation(rank, self._chain.paper(paper), words))
            for rank, paper in enumerate(papers, start=1)
        ]
        return merge_rankings(SourceRanking((), ()), SourceRanking(candidates, odds), self._n, self._keys)


def _recommendation(rank: int, candidate: CandidatePaper, words: set[str]) -> Recommendation:
    scheme, _, identifier = candidate.key.partition(":")
    ids = {scheme: identifier} if scheme in ("doi", "arxiv", "pmid") else {}
    paper = Paper(
        candidate.key,
        candidate.title,
        candidate.authors,
        candidate.year,
        "",
        ids.get("doi", ""),
        candidate.abstract,
        arxiv=ids.get("arxiv", ""),
        pmid=ids.get("pmid", ""),
    )
    title_matches = not words.isdisjoint(terms(paper.title))
    return Recommendation(rank, 1 / rank, 0, paper, (), {"order": 1 / rank}, title_matches=title_matches)


def open_chain(
    papers: Sequence[Path], prefetch: str | None, ranker: Path | None, variant: str | None, watch: Watch
) -> ProposerFactory:
    """SCOPE's chain for `whycite check --pool`."""
    chain = load_chain(papers, prefetch or DEFAULT_RECOMMENDER, ranker, variant, watch=watch)
    return lambda document, n, unfit: ChainProposer(chain, document, n, unfit)
