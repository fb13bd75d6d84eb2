"""Footnotes that do nothing but cite: what they cite is cited for the sentence that carries their mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whycite.documents.model import Document, Sentence
from whycite.evidence.words import has_content_words

__all__ = ["claiming_sentences"]

_MIN_CLAIM_WORDS = 3  # content words that make a footnote a claim of its own; "See Doe for a review" is none


def claiming_sentences(document: Document) -> Sequence[Sentence]:
    """The document's sentences, the citations of bare footnotes ("See Doe, 2010.") in the sentences they are for."""
    carried = {(s.file, c.start) for s in document.sentences for c in s.note_citations}
    if not carried:
        return document.sentences
    bare = {
        (sentence.file, citation.start)
        for sentence in document.sentences
        if sentence.kind == "footnote" and not has_content_words(sentence.without_citations(), enough=_MIN_CLAIM_WORDS)
        for citation in sentence.citations
    }
    return [_move_citations(sentence, carried & bare) for sentence in document.sentences]


def _move_citations(sentence: Sentence, moved: set[tuple[str, int]]) -> Sentence:
    """A sentence with the moved citations of its footnotes; a footnote without those that moved."""
    incoming = [citation for citation in sentence.note_citations if (sentence.file, citation.start) in moved]
    if not incoming and sentence.kind != "footnote":
        return sentence
    staying = [citation for citation in sentence.citations if (sentence.file, citation.start) not in moved]
    citations = sorted([*staying, *incoming], key=lambda citation: citation.text_start)
    return replace(sentence, citations=tuple(citations))
