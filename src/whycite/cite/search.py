"""What a library holds for a claim: spans, the papers they cite, and papers by their titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.cite.recommendations import Claim, is_allowed, same_title
from whycite.library.tables import identifier
from whycite.models import Encoder
from whycite.text.normalise import fold
from whycite.text.tokens import terms
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Library, PaperHit, PaperOutline, SourceDocument, SpanCitation, SpanHit

__all__ = ["CandidatePapers", "ClaimMatches", "ClaimQuery", "candidate_papers", "prepare_claim", "search_library"]

SPANS = 100  # by vector, and as many by full text
PAPERS = 50  # by title, likewise
PARAGRAPH = 0.2  # what the paragraph adds to the meaning of its claim
_LONGEST = 4_000  # characters of a claim that are looked at; the bundled encoder sees about 1,500

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class ClaimQuery:
    """A claim made ready for a search; what it means is found out when it is asked for."""

    claim: Claim
    text: str
    folded: str
    words: int  # that full text search can match: no function words, each once
    encoder: Encoder

    @property
    def vector(self) -> Vector:
        """What the claim means; its paragraph, where known, adds a little."""
        return self._vectors[0]

    @property
    def title_vector(self) -> Vector | None:
        """What the draft's title means, where it is known."""
        return self._vectors[1]

    @cached_property
    def _vectors(self) -> tuple[Vector, Vector | None]:
        claim = self.claim
        vectors = iter(self.encoder.encode([self.text, *filter(None, (claim.paragraph, claim.title))]))
        vector = next(vectors)
        if claim.paragraph:
            mixed = vector + np.float32(PARAGRAPH) * next(vectors)
            vector = mixed / np.sqrt((mixed * mixed).sum())
        return vector, next(vectors, None)


@dataclass(frozen=True, slots=True)
class ClaimMatches:
    """All that was found for a claim; papers, spans and documents by id."""

    spans: Mapping[int, SpanHit]
    titles: Mapping[int, PaperHit]
    citations: Mapping[int, Mapping[int, Sequence[SpanCitation]]]  # paper -> span -> where it cites the paper
    crowds: Mapping[int, int]  # span -> number of papers it cites
    topics: Mapping[int, float]  # document -> cosine of its title with the draft's, where that is known
    cocited: Mapping[int, float]  # paper -> how strongly it is cited beside the papers that the draft cites


@dataclass(frozen=True, slots=True)
class CandidatePapers:
    """What a library knows of papers that may be recommended, by id."""

    papers: Mapping[int, PaperOutline]
    support: Mapping[int, int]


def prepare_claim(claim: Claim, encoder: Encoder) -> ClaimQuery:
    """The claim as it is searched for."""
    text = _cut(claim.text)
    words = {term for term in terms(text) if term not in FUNCTION_WORDS}
    return ClaimQuery(claim, text, fold(text), len(words), encoder)


def search_library(library: Library, query: ClaimQuery) -> ClaimMatches:
    """Everything in the library that may speak for a paper."""
    hits, titles = library.search(query.text, lambda: query.vector, SPANS, PAPERS)
    spans = {hit.id: hit for hit in hits}
    rows = library.citations(sorted(spans))
    topics: dict[int, float] = {}
    if query.title_vector is not None:
        sources = library.sources(sorted({row.document for row in rows}))
        own_documents = {
            document for document, source in sources.items() if same_title(source.title, query.claim.title)
        }
        rows = [row for row in rows if row.document not in own_documents]
        topics = _topics(library, sources, query.title_vector)
    citations: dict[int, dict[int, list[SpanCitation]]] = {}
    cited: dict[int, set[int]] = {}
    for row in rows:
        citations.setdefault(row.paper, {}).setdefault(row.span, []).append(row)
        cited.setdefault(row.span, set()).add(row.paper)
    return ClaimMatches(
        spans=spans,
        titles={hit.id: hit for hit in titles},
        citations=citations,
        crowds={span: len(papers) for span, papers in cited.items()},
        topics=topics,
        cocited=library.cocited(query.claim.cited) if query.claim.cited else {},
    )


def candidate_papers(library: Library, query: ClaimQuery, papers: Sequence[int], number: int) -> CandidatePapers:
    """Of the papers, given best first, those that may be recommended: at least `number`, if there are as many."""
    outlines: dict[int, PaperOutline] = {}
    support: dict[int, int] = {}
    for start in range(0, len(papers), number):
        batch = papers[start : start + number]
        batch_outlines = library.outlines(batch, query.vector, titles=bool(query.claim.title))
        outlines |= {paper: outline for paper, outline in batch_outlines.items() if is_allowed(outline, query.claim)}
        support |= library.support(batch)
        if len(outlines) >= number:
            break
    return CandidatePapers(outlines, support)


def _topics(library: Library, sources: Mapping[int, SourceDocument], vector: Vector) -> dict[int, float]:
    papers = {document: identifier(source.key) for document, source in sources.items() if source.key}
    outlines = library.outlines(sorted({*papers.values()}), vector)
    return {document: outlines[paper].cosine for document, paper in papers.items() if paper in outlines}


def _cut(text: str) -> str:
    """The text on one line, no longer than it is looked at, without half characters."""
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        text = text[: text.rfind(" ", 0, _LONGEST + 1)] if " " in text[: _LONGEST + 1] else text[:_LONGEST]
    return text.encode("utf-8", "replace").decode()
