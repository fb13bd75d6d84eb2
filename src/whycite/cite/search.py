"""Search a library for a claim: spans, the papers they cite, and papers by title."""

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
from whycite.text.tokens import fold, terms
from whycite.text.wordlists import FUNCTION_WORDS

if TYPE_CHECKING:
    from whycite.library import Library, PaperHit, PaperOutline, PassageHit, SourceDocument, SpanCitation, SpanHit

__all__ = ["CandidatePapers", "ClaimMatches", "ClaimQuery", "candidate_papers", "prepare_claim", "search_library"]

SPANS = 100  # searched by vector, and as many by full text
PAPERS = 50  # searched by title and abstract, by vector and by full text
PASSAGES = 20  # paragraphs in which papers say something themselves, searched by full text
PARAGRAPH_WEIGHT = 0.2  # of the paragraph's vector beside the claim's
_MAX_LENGTH = 4_000  # characters of a claim that are used; the bundled encoder reads about 1,500

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class ClaimQuery:
    """A claim prepared for a search; its vectors are computed on first use."""

    claim: Claim
    text: str
    folded: str
    words: int  # different content words, which full text search can match
    encoder: Encoder

    @property
    def vector(self) -> Vector:
        """The vector of the claim, with a little of its paragraph's."""
        return self._vectors[0]

    @property
    def title_vector(self) -> Vector | None:
        """The vector of the draft's title, if known."""
        return self._vectors[1]

    @cached_property
    def _vectors(self) -> tuple[Vector, Vector | None]:
        claim = self.claim
        vectors = iter(self.encoder.encode([self.text, *filter(None, (claim.paragraph, claim.title))]))
        vector = next(vectors)
        if claim.paragraph:
            mixed = vector + np.float32(PARAGRAPH_WEIGHT) * next(vectors)
            vector = mixed / np.sqrt((mixed * mixed).sum())
        return vector, next(vectors, None)


@dataclass(frozen=True, slots=True)
class ClaimMatches:
    """The results of a search; papers, spans and documents are ids."""

    spans: Mapping[int, SpanHit]
    titles: Mapping[int, PaperHit]
    passages: Mapping[int, PassageHit]  # by paper, the best of each
    citations: Mapping[int, Mapping[int, Sequence[SpanCitation]]]  # paper -> span -> where it cites the paper
    crowds: Mapping[int, int]  # span -> number of papers it cites
    topics: Mapping[int, float]  # document -> cosine of its title with the draft's, if known
    cocited: Mapping[int, float]  # paper -> how often it is cited with papers that the draft cites


@dataclass(frozen=True, slots=True)
class CandidatePapers:
    """Papers that may be recommended, by id, with their metadata and support."""

    papers: Mapping[int, PaperOutline]
    support: Mapping[int, int]


def prepare_claim(claim: Claim, encoder: Encoder) -> ClaimQuery:
    """Prepare a claim for a search."""
    text = _cut(claim.text)
    words = {term for term in terms(text) if term not in FUNCTION_WORDS}
    return ClaimQuery(claim, text, fold(text), len(words), encoder)


def search_library(library: Library, query: ClaimQuery) -> ClaimMatches:
    """Everything in the library that may support a paper for the claim."""
    hits, titles, passages = library.search(query.text, lambda: query.vector, SPANS, PAPERS, PASSAGES)
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
        passages={hit.paper: hit for hit in passages},
        citations=citations,
        crowds={span: len(papers) for span, papers in cited.items()},
        topics=topics,
        cocited=library.cocited(query.claim.cited) if query.claim.cited else {},
    )


def candidate_papers(library: Library, query: ClaimQuery, papers: Sequence[int], number: int) -> CandidatePapers:
    """The papers that may be recommended, of those given best first: at least `number`, if there are that many."""
    outlines: dict[int, PaperOutline] = {}
    support: dict[int, int] = {}
    for start in range(0, len(papers), number):
        batch = papers[start : start + number]
        batch_outlines = library.outlines(batch, query.vector, texts=True)
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
    """The text on one line, shortened to what is used, without half surrogate pairs."""
    text = " ".join(text.split())
    if len(text) > _MAX_LENGTH:
        text = text[: text.rfind(" ", 0, _MAX_LENGTH + 1)] if " " in text[: _MAX_LENGTH + 1] else text[:_MAX_LENGTH]
    return text.encode("utf-8", "replace").decode()
