"""The evidence that is shown for papers: the best spans, and what says the same only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.recommend.model import Claim, Evidence
from whycite.text.tokens import terms

if TYPE_CHECKING:
    from whycite.library import Citation, Library

__all__ = ["Piece", "distinct", "place_shown", "show"]

MOST = 5  # spans shown for a paper
_LOOKED_AT = 3 * MOST
_ALIKE = 0.8  # of the words that either of two sentences has, so many are in both: they say the same


@dataclass(frozen=True, slots=True)
class Piece:
    """A span that may be shown, with one place where it cites the paper."""

    span: str
    score: float
    citation: Citation


def place_shown(citations: Sequence[Citation], claim: Claim) -> Citation:
    """Where a span is shown that cites a paper in several places: in a section like the claim's if there is one."""
    return min(citations, key=lambda one: (one.section_type != claim.section_type, one.document, one.place, one.kind))


def show(library: Library, papers: Sequence[Sequence[Piece]], known: Mapping[int, str]) -> list[tuple[Evidence, ...]]:
    """The evidence shown for each of several papers, whose pieces are given best first; `known`: texts of spans."""
    looked = [pieces[:_LOOKED_AT] for pieces in papers]
    citations = [piece.citation for pieces in looked for piece in pieces]
    sources = library.sources(sorted({citation.document for citation in citations}))
    unknown = sorted({citation.sentence for citation in citations} - known.keys())
    texts = {**known, **library.texts(unknown)} if unknown else known
    kept = [distinct(pieces, lambda piece: texts[piece.citation.sentence])[:MOST] for pieces in looked]
    return [
        tuple(
            Evidence(piece.span, piece.score, texts[piece.citation.sentence], sources[piece.citation.document])
            for piece in pieces
        )
        for pieces in kept
    ]


def distinct(pieces: Sequence[Piece], sentence: Callable[[Piece], str]) -> list[Piece]:
    """The pieces without those that stand in the same sentence as one before, or in one almost the same."""
    kept: list[Piece] = []
    seen: list[frozenset[str]] = []
    for piece in pieces:
        words = frozenset(terms(sentence(piece)))
        if not any(_alike(words, other) for other in seen):
            kept.append(piece)
            seen.append(words)
    return kept


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
