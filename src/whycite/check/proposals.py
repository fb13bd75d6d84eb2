"""Propose papers for sentences: rank the draft's bibliography and a library, and merge the two.

Each source gives its papers odds, which are added up (a linear opinion pool), so that a sure first paper of one source
comes before a poor first paper of the other; merging by rank could not tell them apart. A source whose best paper is
poor counts half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import entry_points
from itertools import islice
from math import exp
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.check.bibliography import (
    DOUBT,
    FEATURES,
    MAX_ENTRIES,
    WEIGHTS,
    BibliographyEntries,
    EntryFeatures,
    entry_order,
    entry_scores,
)
from whycite.check.findings import Proposal
from whycite.check.memory import CachedLibrary, once_per_bibliography
from whycite.cite.exports import CitationKeys, bibtex_entry, key_style
from whycite.cite.fit import (
    BIBLIOGRAPHY,
    author_matcher,
    best_chance,
    family_names,
    fit_chance,
    may_insert,
    title_matches,
)
from whycite.cite.recommendations import Claim, Evidence, Recommendation, same_title
from whycite.documents.identity import normalise_title, paper_key
from whycite.documents.model import Document, Reference
from whycite.errors import UserError
from whycite.evidence.groups import quote
from whycite.evidence.words import has_content_words
from whycite.library.records import Paper, SourceDocument
from whycite.models import Encoder

__all__ = [
    "EVEN_ODDS_MARGIN",
    "DraftProposer",
    "EntryFinder",
    "Proposals",
    "Proposer",
    "ProposerFactory",
    "SentenceProposals",
    "SourceRanking",
    "library_odds",
    "may_cite",
    "merge_rankings",
    "open_chain",
    "own_recommendations",
    "propose",
    "searched_references",
]


MAX_CANDIDATES = 20  # entries considered for a sentence
_LIBRARY_PAPERS = 20  # papers requested from the library; enough to include those that are in both sources
_MAX_SENTENCES = 5  # of the draft, shown as evidence for an entry
_MAX_SPANS = 5  # shown as evidence for a paper
_MIN_TITLE_WORDS = 4  # a shorter title needs a year to identify a paper

_DOUBT_FACTOR = 0.5  # of the odds of a source whose best paper is poor
_DIGITS = 9  # chances are compared rounded, so that the order does not depend on rounding errors
# A library's paper whose score is EVEN_ODDS_MARGIN above the doubtful ones is as likely as the best entry of the
# bibliography; _SCALE turns scores into log odds. Fitted to citing sentences of articles from three fields, half of
# them with the cited papers taken out of the bibliography; `python benchmarks/merging.py LIBRARY DATA 40` measures
# them and other values of EVEN_ODDS_MARGIN.
EVEN_ODDS_MARGIN = 5.0
_SCALE = 0.6


@dataclass(frozen=True, slots=True)
class SourceRanking:
    """The recommendations of one source, best first, each with the draft's key if it has one."""

    recommendations: Sequence[tuple[str | None, Recommendation]]
    odds: Sequence[float]  # logarithms; 0 for the best entry of a bibliography
    doubtful: bool = False  # whether even the best one is poor
    fits: float | None = None  # the chance that a paper of the source fits


@dataclass(frozen=True, slots=True)
class SentenceProposals:
    """The papers proposed for a sentence, best first, and the chance that a paper at hand fits."""

    papers: tuple[Proposal, ...]
    fits: float | None


class DraftProposer(Protocol):
    """Proposes papers for the sentences of one draft, some at a time."""

    @property
    def seconds(self) -> Mapping[str, float]: ...

    def propose(
        self, sentences: Sequence[int], on_answer: Callable[[], None] = ...
    ) -> dict[int, SentenceProposals]: ...


ProposerFactory = Callable[[Document, int, Collection[str]], DraftProposer]
"""Makes the proposer of a draft from the number of papers per sentence, and the entries that must not be proposed."""

_GROUP, _CHAIN = "whycite.proposers", "scope"


def open_chain(
    papers: Sequence[Path],
    prefetch: str | None,
    ranker: Path | None,
    variant: str | None,
    watch: Callable[[str, int, int | None], None],
) -> ProposerFactory:
    """SCOPE's chain over what papers cite: a prefetcher by name, and a reranker from a folder; None for the default."""
    for entry in entry_points(group=_GROUP, name=_CHAIN):
        factory: ProposerFactory = entry.load()(papers, prefetch, ranker, variant, watch)
        return factory
    raise UserError("this installation of whycite is without its laboratory, which --pool needs; install it again")


@dataclass(slots=True)
class Proposals:
    """Proposals by the index of their sentence, and the seconds each source took."""

    by_sentence: dict[int, tuple[Proposal, ...]]
    seconds: dict[str, float] = field(default_factory=dict)


def propose(
    document: Document,
    sentences: Sequence[int],
    encoder: Encoder,
    cached_library: CachedLibrary | None = None,
    n: int = 3,
    on_answer: Callable[[], None] = lambda: None,
    *,
    bibliography: bool = True,
    masked: bool = False,
) -> Proposals:
    """The n best papers for each of the sentences, which are given by index.

    Without `bibliography` only the library is searched. `masked` sentences are treated as if they cited nothing.
    """
    proposer = Proposer(document, encoder, cached_library, n, bibliography=bibliography, masked=masked)
    by_sentence = {index: proposals.papers for index, proposals in proposer.propose(sentences, on_answer).items()}
    return Proposals(by_sentence, proposer.seconds)


class Proposer:
    """Proposes papers for the sentences of a draft, some at a time.

    In the order of the text, the proposals are the same however many sentences come at a time.
    """

    def __init__(
        self,
        document: Document,
        encoder: Encoder,
        cached_library: CachedLibrary | None = None,
        n: int = 3,
        *,
        bibliography: bool = True,
        masked: bool = False,
        clauses: Mapping[int, str] = MappingProxyType({}),
        unfit: Collection[str] = (),
    ) -> None:
        """`clauses` are what papers are searched for instead of the whole sentence, by its index.

        Entries that are `unfit`, such as retracted ones, are not proposed.
        """
        self._library, self._n, self._unfit = cached_library, n, frozenset(unfit)
        self._bibliography, self._masked = bibliography, masked
        self._entries = BibliographyEntries(document, encoder, clauses)
        self._keys = CitationKeys(document.references, _cited_keys(document), _key_style)
        self.seconds = {"bibliography": 0.0, "library": 0.0}
        """The time each source took so far."""

    def propose(
        self, sentences: Sequence[int], on_answer: Callable[[], None] = lambda: None
    ) -> dict[int, SentenceProposals]:
        """The best papers for each of the sentences, which are given by index; none for those without words."""
        start = time.perf_counter()
        indices = [index for index in sentences if has_content_words(self._entries.claims[index])]
        nothing = [SourceRanking((), ())] * len(indices)
        entry_rankings = (
            own_recommendations(self._entries, indices, self._masked, self._unfit) if self._bibliography else nothing
        )
        bibliography_end = time.perf_counter()
        self.seconds["bibliography"] += bibliography_end - start
        library_rankings = self._rank_library(self._library, indices, on_answer) if self._library else nothing
        proposals = {
            index: SentenceProposals(
                merge_rankings(entry_ranking, library_ranking, self._n, self._keys),
                best_chance((entry_ranking.fits, library_ranking.fits)),
            )
            for index, entry_ranking, library_ranking in zip(indices, entry_rankings, library_rankings, strict=True)
        }
        self.seconds["library"] += time.perf_counter() - bibliography_end
        return proposals

    def _rank_library(
        self, library: CachedLibrary, sentences: Sequence[int], on_answer: Callable[[], None]
    ) -> list[SourceRanking]:
        if not sentences:
            return []
        document, claim_texts = self._entries.document, self._entries.claims
        papers, finder = self._stored_papers
        claims = [_claim(self._entries, index, papers) for index in sentences]
        answers = library.recommend(claims, max(_LIBRARY_PAPERS, self._n), on_answer)
        rankings = []
        for index, answer in zip(sentences, answers, strict=True):
            cited = set() if self._masked else set(document.sentences[index].cited_keys)
            candidates = [
                (key, recommendation)
                for recommendation in answer.papers
                if (key := finder.key(recommendation)) not in cited and key not in self._unfit
            ]
            odds = library_odds(claim_texts[index], [recommendation for _, recommendation in candidates], answer.doubt)
            # The chance of an answer counts papers that the sentence cites already.
            complete = len(candidates) == len(answer.papers)
            fits = answer.fits if complete else best_chance(recommendation.fits for _, recommendation in candidates)
            rankings.append(SourceRanking(candidates, odds, answer.doubtful, fits))
        return rankings

    @cached_property
    def _stored_papers(self) -> tuple[dict[str, str], EntryFinder]:
        """The library's keys of entries by their ids, and what finds the entry of a paper."""
        document = self._entries.document
        references = searched_references(document)
        keys = self._library.find(references) if self._library else [None] * len(references)
        papers = {reference.id: key for reference, key in zip(references, keys, strict=True) if key}
        return papers, EntryFinder(document.references, papers)


def own_recommendations(
    entries: BibliographyEntries, sentences: Sequence[int], masked: bool = False, unfit: Collection[str] = ()
) -> list[SourceRanking]:
    """The entries of the bibliography for sentences, best first, without unfit ones and those newer than the draft.

    Entries that a sentence cites are left out, unless it is `masked`, as if it cited nothing.
    """
    return [
        _recommend_entries(entries, index, candidates, masked, unfit)
        for index, candidates in zip(sentences, entries.features_of(sentences), strict=True)
    ]


def _says_what_it_is(entry: Reference) -> bool:
    """Whether an entry has more than a key, as one that is being typed."""
    return bool(entry.title or entry.text or entry.authors)


def _recommend_entries(
    entries: BibliographyEntries, index: int, candidates: EntryFeatures, masked: bool, unfit: Collection[str]
) -> SourceRanking:
    rows = _citable_rows(entries, index, candidates, masked, unfit)
    values = entry_scores(candidates)
    meanings, authors = (candidates.features[:, FEATURES.index(name)] for name in ("meaning", "author"))
    doubtful = not rows or bool(meanings[rows[0]] < DOUBT and not authors[rows[0]])
    all_signs = entries.fit_signs(index, candidates, rows)
    chances = [fit_chance(signs, BIBLIOGRAPHY) for signs in all_signs]
    recommendations: list[tuple[str | None, Recommendation]] = []
    for rank, (row, fits, signs) in enumerate(zip(rows, chances, all_signs, strict=True), 1):
        place, value = int(candidates.positions[row]), float(values[row])
        entry, citing_rows = entries.references[place], entries.citing_rows(place, index)
        recommendation = Recommendation(
            rank,
            value,
            len(citing_rows),
            _entry_paper(entry),
            _entry_evidence(entries, citing_rows, candidates.cosines),
            {"fit": value},
            fits,
            title_matches=title_matches(signs),
        )
        recommendations.append((entry.id, recommendation))
    # In a conditional logit, differences of scores are log odds.
    return SourceRanking(
        tuple(recommendations),
        tuple(recommendation.score - recommendations[0][1].score for _, recommendation in recommendations),
        doubtful,
        best_chance(chances),
    )


def _citable_rows(
    entries: BibliographyEntries, index: int, candidates: EntryFeatures, masked: bool, unfit: Collection[str]
) -> list[int]:
    """The rows of the best entries that a sentence may cite and does not cite yet."""
    document = entries.document
    cited = set() if masked else set(document.sentences[index].cited_keys)
    citable_rows = (
        row
        for row in entry_order(candidates).tolist()
        for entry in [entries.references[int(candidates.positions[row])]]
        if entry.id not in cited and entry.id not in unfit and _says_what_it_is(entry) and may_cite(entry, document)
    )
    return list(islice(citable_rows, MAX_CANDIDATES))


def _entry_evidence(
    entries: BibliographyEntries, citing_rows: Sequence[int], cosines: NDArray[np.float64]
) -> tuple[Evidence, ...]:
    """The sentences of the draft that cite an entry for something similar, nearest first."""
    document = entries.document
    source = SourceDocument(paper_key(document.paper) or "", document.paper.title or document.path, document.paper.year)
    nearest = sorted(citing_rows, key=lambda row: (-cosines[row].round(6), row))[:_MAX_SENTENCES]
    return tuple(
        Evidence(
            entries.texts[entries.citing[row]],
            float(np.clip(cosines[row], 0, 1)),
            quote(document.sentences[entries.citing[row]], document.by_id),
            source,
        )
        for row in nearest
    )


def _entry_paper(entry: Reference) -> Paper:
    return Paper(
        paper_key(entry) or f"entry:{entry.id}",
        entry.title or entry.text,
        entry.authors,
        entry.year,
        entry.venue,
        entry.doi,
        entry.abstract,
        entry.arxiv,
        entry.pmid,
        entry.isbn,
        entry.publication,
    )


def may_cite(entry: Reference, document: Document) -> bool:
    """Whether a draft may cite an entry: it is not newer, and not the draft itself."""
    year = document.paper.year
    if year is not None and entry.year is not None and entry.year > year:
        return False
    return not same_title(entry.title, document.paper.title)


def library_odds(sentence: str, recommendations: Sequence[Recommendation], doubt: float | None) -> list[float]:
    """The log odds of a library's papers, on the scale of the bibliography's; named authors count as there."""
    if not recommendations:
        return []
    even = recommendations[0].score if doubt is None else doubt + EVEN_ODDS_MARGIN
    author_match = author_matcher(sentence)
    return [
        _SCALE * (recommendation.score - even)
        + WEIGHTS["author"] * author_match(family_names(recommendation.paper.authors))
        for recommendation in recommendations
    ]


def _claim(entries: BibliographyEntries, index: int, papers: dict[str, str]) -> Claim:
    """What is searched for, with its context; papers that its section cites elsewhere count as co-cited (SCOPE 3.3)."""
    document, sentence = entries.document, entries.document.sentences[index]
    cited = {
        papers[key]
        for place in entries.citing
        for citing_sentence in [document.sentences[place]]
        if citing_sentence.section == sentence.section and place != index
        for key in citing_sentence.cited_keys
        if key in papers
    }
    text, paragraph = entries.claims[index], entries.paragraph(index)
    return Claim(
        text,
        title=document.paper.title,
        section_type=document.sections[sentence.section].type,
        paragraph=paragraph if paragraph != text else "",
        cited=tuple(sorted(cited)),
        year=document.paper.year,
    )


_key_style = once_per_bibliography(key_style)


def searched_references(document: Document) -> tuple[Reference, ...]:
    """The entries that are looked up in a library: all, or of a very long bibliography those that are cited."""
    return document.references if len(document.references) <= MAX_ENTRIES else _cited_references(document)


def _cited_references(document: Document) -> tuple[Reference, ...]:
    cited = _cited_keys(document)
    return tuple(reference for reference in document.references if reference.id in cited)


def _cited_keys(document: Document) -> set[str]:
    return {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}


class EntryFinder:
    """Finds the entry of the draft's bibliography for a paper of the library."""

    def __init__(self, references: Sequence[Reference], papers: Mapping[str, str]) -> None:
        """`papers` maps ids of entries to the library's keys, where known."""
        own_keys, self._by_title = _entry_tables(references)
        self._by_key = {**own_keys, **{key: id for id, key in papers.items()}}

    def key(self, recommendation: Recommendation) -> str | None:
        """The key of the entry, if the bibliography has the paper."""
        paper = recommendation.paper
        if paper.key in self._by_key:
            return self._by_key[paper.key]
        title = normalise_title(paper.title)
        entry = self._by_title.get(title) if title else None
        if entry is None:
            return None
        has_years = paper.year is not None and entry.year is not None
        is_near = has_years and abs((paper.year or 0) - (entry.year or 0)) <= 1
        return entry.id if is_near or len(title.split()) >= _MIN_TITLE_WORDS else None


@once_per_bibliography
def _entry_tables(references: Sequence[Reference]) -> tuple[dict[str, str], dict[str, Reference]]:
    """The ids of entries by the keys of their papers, and entries by their titles; the first of several counts."""
    ids: dict[str, str] = {}
    by_title: dict[str, Reference] = {}
    for reference in references:
        if key := paper_key(reference):
            ids.setdefault(key, reference.id)
        if title := normalise_title(reference.title):
            by_title.setdefault(title, reference)
    return ids, by_title


def merge_rankings(
    bibliography: SourceRanking, library: SourceRanking, n: int, keys: CitationKeys
) -> tuple[Proposal, ...]:
    """The n best papers of both sources, each with its chance among all of them."""
    rankings = {"bibliography": bibliography, "library": library}
    odds: dict[str, dict[str, float]] = {}
    papers: dict[str, tuple[str | None, Recommendation]] = {}
    highest = max((*bibliography.odds, *library.odds), default=0.0)
    for source, ranking in rankings.items():
        for (key, recommendation), logarithm in zip(ranking.recommendations, ranking.odds, strict=True):
            name = f"key:{key}" if key is not None else f"paper:{recommendation.paper.key}"
            source_odds = odds.setdefault(name, {})
            if source in source_odds:  # two entries of the bibliography, or of the library, for one paper
                continue
            source_odds[source] = (_DOUBT_FACTOR if ranking.doubtful else 1.0) * exp(logarithm - highest)
            papers[name] = (
                key,
                _combine_evidence(papers[name][1], recommendation) if name in papers else recommendation,
            )
    total = sum(sum(source_odds.values()) for source_odds in odds.values())
    chances = {
        name: {source: value / total for source, value in source_odds.items()} for name, source_odds in odds.items()
    }
    best = sorted(chances, key=lambda name: (-round(sum(chances[name].values()), _DIGITS), name))[:n]
    fits = {name: recommendation.fits for name, (_, recommendation) in papers.items()}
    proposals = []
    for rank, name in enumerate(best, start=1):
        rival = best_chance(chance for rival_name, chance in fits.items() if rival_name != name)
        sure = may_insert(fits[name], rival, sum(chances[name].values()))
        proposals.append(_proposal(rank, *papers[name], chances[name], sure, keys))
    return tuple(proposals)


def _proposal(
    rank: int,
    key: str | None,
    candidate: Recommendation,
    shares: Mapping[str, float],
    sure: bool,
    keys: CitationKeys,
) -> Proposal:
    recommendation = replace(candidate, rank=rank, score=sum(shares.values()), shares=dict(shares))
    if key is not None:
        return Proposal(recommendation, key, in_bibliography=True, sure=sure)
    new = keys.key_for(candidate.paper)
    return Proposal(recommendation, new, in_bibliography=False, bibtex=bibtex_entry(new, candidate.paper), sure=sure)


def _combine_evidence(bibliography: Recommendation, library: Recommendation) -> Recommendation:
    """One recommendation for a paper that both the draft and the library have."""
    evidence = sorted((*bibliography.evidence, *library.evidence), key=lambda span: -span.score)[:_MAX_SPANS]
    return replace(
        bibliography,
        support=bibliography.support + library.support,
        evidence=tuple(evidence),
        fits=best_chance((bibliography.fits, library.fits)),
    )
