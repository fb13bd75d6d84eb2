"""A claim against a document: ranked passages and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from whycite import documents, structure
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.encoders import load as load_encoder
from whycite.errors import UserError
from whycite.evidence.words import content_words
from whycite.rerank.ranker import Ranker, stored_with
from whycite.verify.language import is_foreign, is_foreign_claim
from whycite.verify.model import Passage, Verification
from whycite.verify.passages import Prepared, Ranked
from whycite.verify.prose import own_sentences, with_asides
from whycite.verify.quotation import quotes
from whycite.verify.signs import signs
from whycite.verify.verdict import judge
from whycite.verify.weights import Weights, shipped

__all__ = ["Opened", "open_document", "sentences", "verify"]

_LOOKED_AT = 20  # passages in which a quotation of the claim is looked for


class Opened:
    """A document made ready for any number of claims."""

    def __init__(self, prepared: Prepared, indices: Sequence[int], headings: Sequence[str], path: str = "") -> None:
        self._prepared, self._path = prepared, path
        self._indices, self._headings = tuple(indices), tuple(headings)
        self._foreign = is_foreign(" ".join(prepared.sentences[:400]))

    def verify(self, claim: str, k: int | None = None) -> Verification:
        """The verdict on a claim and its passages, the best `k` or all."""
        claim = " ".join(claim.split())
        if not content_words(claim):
            return _unchecked(claim, "the claim has no words that say something")
        if not self._indices:
            return _unchecked(claim, f"{self._path or 'the document'} has no text that could be read")
        ranked = self._prepared.ranked(claim)
        if self._foreign or is_foreign_claim(claim):
            passages = self._passages(ranked, frozenset(), k)
            what = "the document is not in English" if self._foreign else "the claim does not seem to be in English"
            return Verification(claim, "could not check", 0.0, passages, what)
        quoting = self._quoting(claim, ranked)
        found = signs(claim, self._prepared, ranked, quoting)
        passages = self._passages(ranked, quoting, k)
        if found is None:
            return Verification(claim, "not found", 0.5, passages, "the document only quotes the claim")
        judged = judge(self._prepared, ranked, found, self._headings)
        return Verification(claim, judged.verdict, judged.sure, passages, judged.reason, judged.chances)

    def _quoting(self, claim: str, ranked: Ranked) -> frozenset[int]:
        best = np.argsort(-ranked.logits, kind="stable")[:_LOOKED_AT].tolist()
        return frozenset(at for at in best if quotes(claim, self._prepared.sentences[at]))

    def _passages(self, ranked: Ranked, quoting: frozenset[int], k: int | None) -> tuple[Passage, ...]:
        order = np.argsort(-ranked.logits, kind="stable").tolist()
        scores = 1 / (1 + np.exp(-np.clip(ranked.logits, -60, 60)))
        return tuple(
            Passage(
                rank,
                self._indices[at],
                float(scores[at]),
                self._prepared.sentences[at],
                self._headings[at],
                at in quoting,
                ranked.numbers[at].words,
            )
            for rank, at in enumerate(order[:k], 1)
        )


def verify(
    claim: str,
    document: Document | str | Path,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    k: int | None = None,
    weights: Weights | None = None,
) -> Verification:
    """Which sentences of a document back a claim, and whether they do; passages are the best `k`, or all.

    Without an encoder the bundled one is used, and without a ranker the one that lies with the encoder.
    """
    _check(claim, k)
    found = document if isinstance(document, Document) else documents.read(document)
    return open_document(found, ranker=ranker, encoder=encoder, weights=weights).verify(claim, k)


def sentences(
    claim: str,
    sentences: Sequence[str],
    sections: Sequence[str] | None = None,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    weights: Weights | None = None,
) -> Verification:
    """The same for sentences in a list, with a heading for each where known."""
    _check(claim, None)
    if isinstance(sentences, str):
        raise TypeError("sentences takes a sequence of sentences, not one text")
    if sections is not None and len(sections) != len(sentences):
        raise UserError(f"there are {len(sections)} headings for {len(sentences)} sentences: give one for each")
    headings = list(sections) if sections is not None else [""] * len(sentences)
    types = [_section_type(heading) for heading in headings]
    prepared = _prepared(sentences, types, ranker, encoder, weights, None)
    return Opened(prepared, range(len(sentences)), headings, "the list").verify(claim)


def open_document(
    document: Document,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    weights: Weights | None = None,
    progress: Callable[[int], None] | None = None,
) -> Opened:
    """A document made ready for any number of claims."""
    document = with_asides(document)
    indices, headings, types = own_sentences(document)
    texts = [document.sentences[at].text for at in indices]
    return Opened(_prepared(texts, types, ranker, encoder, weights, progress), indices, headings, document.path)


def _prepared(
    texts: Sequence[str],
    types: Sequence[str | None],
    ranker: Ranker | None,
    encoder: Encoder | None,
    weights: Weights | None,
    progress: Callable[[int], None] | None,
) -> Prepared:
    encoder = encoder or load_encoder()
    return Prepared(texts, types, encoder, ranker or stored_with(encoder), weights or shipped(), progress)


def _check(claim: str, k: int | None) -> None:
    if not claim.strip():
        raise UserError("the claim is empty: give a sentence")
    if k is not None and k < 1:
        raise UserError(f"k must be 1 or more, not {k}")


def _unchecked(claim: str, reason: str) -> Verification:
    return Verification(claim, "could not check", 0.0, (), reason)


@lru_cache(maxsize=1024)
def _section_type(heading: str) -> str | None:
    return structure.section_type(heading) if heading else None
