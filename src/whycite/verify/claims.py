"""Verify a claim against a document: rank its sentences as passages, then judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from whycite import documents, structure
from whycite.documents.model import Coverage, Document, Reference, Sentence
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.models import Encoder, load_encoder
from whycite.models.rankers import Ranker, ranker_of
from whycite.text.language import is_foreign_sentence, is_foreign_text
from whycite.verify.features import PassageWeights, shipped_weights
from whycite.verify.passages import PreparedDocument, RankedSentences
from whycite.verify.prose import own_sentences, quotes, with_asides
from whycite.verify.roles import cited_source, is_hypothesis, role_of
from whycite.verify.verdict import ReasonedVerdict, Signs, claim_shares, collect_signs, judge, without_own_finding
from whycite.verify.verification import Passage, Relation, Role, Verification, unchecked

__all__ = ["OpenDocument", "open_document", "verify_claim", "verify_sentences"]

_QUOTATION_CANDIDATES = 20  # best passages searched for a quotation of the claim
_LANGUAGE_SAMPLE = 400  # sentences by which the language of a document is recognised
_QUOTED_CONFIDENCE = 0.5  # that a document says nothing about a claim it quotes: an even chance
_MIN_READ_SHARE = 0.9  # of the text of a document; of one that was read less, the rest may say so
_MAX_SOURCES = 2  # named in a reason; of more, the first and their number
_LOGIT_LIMIT = 60  # beyond it a score is 0 or 1 anyway, and exp would overflow


class OpenDocument:
    """A document ready for any number of claims."""

    def __init__(
        self,
        prepared: PreparedDocument,
        indices: Sequence[int],
        headings: Sequence[str],
        path: str = "",
        pages: Sequence[int | None] | None = None,
        coverage: Coverage | None = None,
        sources: Sequence[str] | None = None,
    ) -> None:
        self._prepared, self._path = prepared, path
        self._indices, self._headings = tuple(indices), tuple(headings)
        self._pages = tuple(pages) if pages is not None else (None,) * len(self._indices)
        self._coverage = coverage or Coverage()
        self._sources = tuple(sources) if sources is not None else tuple(map(cited_source, prepared.sentences))
        self._foreign = is_foreign_text(" ".join(prepared.sentences[:_LANGUAGE_SAMPLE]))

    def verify(self, claim: str, k: int | None = None) -> Verification:
        """The verdict on a claim and its passages, the best `k` or all."""
        claim = " ".join(claim.split())
        if not has_content_words(claim):
            return unchecked(claim, "the claim has no content words")
        if not self._indices:
            gaps = f": {self._coverage.gaps}" if self._coverage.gaps else ""
            return unchecked(claim, f"{self._path or 'the document'} contains no readable text{gaps}")
        ranked = self._prepared.rank(claim)
        if self._foreign or is_foreign_sentence(claim):
            passages = self._passages(ranked, frozenset(), k)
            reason = "the document is not in English" if self._foreign else "the claim does not seem to be in English"
            return unchecked(claim, reason, passages)
        quoting = self._quoting(claim, ranked)
        verdict_signs = collect_signs(claim, self._prepared, ranked, quoting)
        if verdict_signs is None:
            passages = self._passages(ranked, quoting, k)
            return Verification(claim, "not found", _QUOTED_CONFIDENCE, passages, "the document only quotes the claim")
        judged = judge(self._prepared, ranked, verdict_signs, self._headings)
        if not is_hypothesis(claim):
            judged = self._weigh_roles(judged, verdict_signs, ranked)
        passages = self._passages(ranked, quoting, k, judged)
        if judged.verdict == "not found" and self._coverage.share < _MIN_READ_SHARE:
            percent = f"{100 * self._coverage.share:.0f} %"
            reason = f"only {percent} of the text could be read; {self._coverage.gaps}"
            return unchecked(claim, reason, passages)
        return Verification(claim, judged.verdict, judged.sure, passages, judged.reason, judged.chances)

    def _quoting(self, claim: str, ranked: RankedSentences) -> frozenset[int]:
        best = np.argsort(-ranked.logits, kind="stable")[:_QUOTATION_CANDIDATES].tolist()
        return frozenset(index for index in best if quotes(claim, self._prepared.sentences[index]))

    def _weigh_roles(self, judged: ReasonedVerdict, signs: Signs, ranked: RankedSentences) -> ReasonedVerdict:
        roles = [self._role(index) for index in signs.top]
        sources = [self._sources[index] for index in signs.top]
        return without_own_finding(judged, signs.top, claim_shares(ranked, signs.top), roles, sources)

    def _role(self, index: int) -> Role:
        prepared = self._prepared
        return role_of(prepared.sentences[index], prepared.types[index], bool(self._sources[index]))

    def _passages(
        self, ranked: RankedSentences, quoting: frozenset[int], k: int | None, judged: ReasonedVerdict | None = None
    ) -> tuple[Passage, ...]:
        order = np.argsort(-ranked.logits, kind="stable").tolist()
        decisive = judged.decisive if judged else None
        relation: Relation = "contradicts" if judged and judged.verdict == "contradicted" else "supports"
        scores = 1 / (1 + np.exp(-np.clip(ranked.logits, -_LOGIT_LIMIT, _LOGIT_LIMIT)))
        return tuple(
            Passage(
                rank,
                self._indices[index],
                float(scores[index]),
                self._prepared.sentences[index],
                self._headings[index],
                index in quoting,
                ranked.numbers[index].words,
                relation if index == decisive else "neither",
                self._role(index),
                index == decisive,
                self._pages[index],
            )
            for rank, index in enumerate(order[:k], 1)
        )


def verify_claim(
    claim: str,
    document: Document | str | Path,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    k: int | None = None,
    weights: PassageWeights | None = None,
) -> Verification:
    """Whether a document backs a claim, and which of its sentences do: the best `k`, or all.

    The default encoder is the bundled one, the default ranker the one in the encoder's folder.
    """
    _check(claim, k)
    paper = document if isinstance(document, Document) else documents.read(document)
    return open_document(paper, ranker=ranker, encoder=encoder, weights=weights).verify(claim, k)


def verify_sentences(
    claim: str,
    sentences: Sequence[str],
    sections: Sequence[str] | None = None,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    weights: PassageWeights | None = None,
) -> Verification:
    """Whether sentences back a claim; `sections` are their headings, if known."""
    _check(claim, None)
    if isinstance(sentences, str):
        raise TypeError("sentences takes a sequence of sentences, not one text")
    if sections is not None and len(sections) != len(sentences):
        raise UserError(f"{len(sections)} headings for {len(sentences)} sentences: give one heading per sentence")
    headings = list(sections) if sections is not None else [""] * len(sentences)
    types = [_section_type(heading) for heading in headings]
    prepared = _prepare(sentences, types, ranker, encoder, weights, None)
    return OpenDocument(prepared, range(len(sentences)), headings, "the list").verify(claim)


def open_document(
    document: Document,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    weights: PassageWeights | None = None,
    progress: Callable[[int], None] | None = None,
) -> OpenDocument:
    """Prepare a document for any number of claims."""
    document = with_asides(document)
    indices, headings, types = own_sentences(document)
    texts = [document.sentences[index].text for index in indices]
    pages = [document.sentences[index].page for index in indices]
    prepared = _prepare(texts, types, ranker, encoder, weights, progress)
    sources = [_sources(document.sentences[index], document) for index in indices]
    return OpenDocument(prepared, indices, headings, document.path, pages, document.coverage, sources)


def _sources(sentence: Sentence, document: Document) -> str:
    """Whom a sentence cites, such as "Winer 2019 and Berg 2011"; "" if nobody."""
    keys = dict.fromkeys(key for citation in sentence.citations for key in citation.keys)
    references = [document.by_id[key] for key in keys if key in document.by_id]
    labels = list(dict.fromkeys(filter(None, map(_label, references))))
    if not labels:
        return cited_source(sentence.text) or ("another paper" if sentence.citations else "")
    return " and ".join(labels) if len(labels) <= _MAX_SOURCES else f"{labels[0]} and {len(labels) - 1} others"


def _label(reference: Reference) -> str:
    """A reference in short: its first author's name and its year."""
    name = reference.authors[0].partition(",")[0] if reference.authors else ""
    return f"{name} {reference.year or ''}".strip() if name else ""


def _prepare(
    texts: Sequence[str],
    types: Sequence[str | None],
    ranker: Ranker | None,
    encoder: Encoder | None,
    weights: PassageWeights | None,
    progress: Callable[[int], None] | None,
) -> PreparedDocument:
    encoder = encoder or load_encoder()
    return PreparedDocument(texts, types, encoder, ranker or ranker_of(encoder), weights or shipped_weights(), progress)


def _check(claim: str, k: int | None) -> None:
    if not claim.strip():
        raise UserError("the claim is empty; give a sentence")
    if k is not None and k < 1:
        raise UserError(f"k must be 1 or more, not {k}")


@lru_cache(maxsize=1024)
def _section_type(heading: str) -> str | None:
    return structure.section_type(heading) if heading else None
