"""The evidence that is shown for papers: the best spans, and what says the same only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.cite.recommendations import Claim, Evidence
from whycite.text.tokens import terms

if TYPE_CHECKING:
    from whycite.library import Library, SpanCitation

__all__ = ["EvidencePiece", "citation_shown", "distinct", "shown_evidence"]

MAX_SHOWN = 5  # spans shown for a paper
_MAX_EXAMINED = 3 * MAX_SHOWN
_ALIKE = 0.8  # of the words that either of two sentences has, so many are in both: they say the same


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A span that may be shown, with one place where it cites the paper."""

    span: str
    score: float
    citation: SpanCitation


def citation_shown(citations: Sequence[SpanCitation], claim: Claim) -> SpanCitation:
    """Where a span is shown that cites a paper in several places: in a section like the claim's if there is one."""
    return min(
        citations,
        key=lambda citation: (
            citation.section_type != claim.section_type,
            citation.document,
            citation.place,
            citation.kind,
        ),
    )


def shown_evidence(
    library: Library, papers: Sequence[Sequence[EvidencePiece]], span_texts: Mapping[int, str]
) -> list[tuple[Evidence, ...]]:
    """The evidence shown for each of several papers, whose pieces are given best first; `known`: texts of spans."""
    examined = [pieces[:_MAX_EXAMINED] for pieces in papers]
    citations = [piece.citation for pieces in examined for piece in pieces]
    sources = library.sources(sorted({citation.document for citation in citations}))
    unknown = sorted({citation.sentence for citation in citations} - span_texts.keys())
    texts = {**span_texts, **library.texts(unknown)} if unknown else span_texts
    distinct_pieces = [
        distinct(pieces, lambda piece: texts[piece.citation.sentence])[:MAX_SHOWN] for pieces in examined
    ]
    return [
        tuple(
            Evidence(piece.span, piece.score, texts[piece.citation.sentence], sources[piece.citation.document])
            for piece in pieces
        )
        for pieces in distinct_pieces
    ]


def distinct(pieces: Sequence[EvidencePiece], sentence: Callable[[EvidencePiece], str]) -> list[EvidencePiece]:
    """The pieces without those that stand in the same sentence as one before, or in one almost the same."""
    unique_pieces: list[EvidencePiece] = []
    seen: list[frozenset[str]] = []
    for piece in pieces:
        words = frozenset(terms(sentence(piece)))
        if not any(_same_words(words, seen_words) for seen_words in seen):
            unique_pieces.append(piece)
            seen.append(words)
    return unique_pieces


def _same_words(words: frozenset[str], seen_words: frozenset[str]) -> bool:
    return len(words & seen_words) >= _ALIKE * len(words | seen_words)
