"""Verify a claim against a document: rank its sentences as passages, then judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from whycite import documents, structure
from whycite.documents.model import Coverage, Document, Reference, Sentence
from whycite.errors import UserError
from whycite.evidence.words import has_content_words
from whycite.models import Encoder, load_encoder
from whycite.models.pairs import EntailmentModel, load_entailment
from whycite.text.language import is_foreign_sentence, is_foreign_text
from whycite.verify.features import PassageWeights, shipped_weights
from whycite.verify.passages import PreparedDocument, RankedSentences, own_sentences, with_asides
from whycite.verify.roles import cited_source, is_hypothesis, quotes, role_of
from whycite.verify.verdict import ReasonedVerdict, SentenceView, collect_signs, judge, stance_of
from whycite.verify.verification import Passage, Role, Stance, Verification, unchecked

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
        # That a paper names something as a hypothesis is what such a claim says.
        roles: list[Role] = ["own"] * len(self._roles) if is_hypothesis(claim) else self._roles
        signs = collect_signs(claim, self._prepared, ranked, roles, quoting)
        if signs is None:
            passages = self._passages(ranked, quoting, k)
            return Verification(claim, "not found", _QUOTED_CONFIDENCE, passages, "the document only quotes the claim")
        stances = map(stance_of, ranked.judgements)
        sentences = [*map(SentenceView, roles, self._sources, self._headings, stances)]
        judged = judge(signs, self._prepared.kind, self._prepared.weights, sentences)
        passages = self._passages(ranked, quoting, k, judged)
        if judged.verdict == "not found" and self._coverage.share < _MIN_READ_SHARE:
            percent = f"{100 * self._coverage.share:.0f} %"
            reason = f"only {percent} of the text could be read; {self._coverage.gaps}"
            return unchecked(claim, reason, passages)
        return Verification(claim, judged.verdict, judged.sure, passages, judged.reason, judged.chances)

    def _quoting(self, claim: str, ranked: RankedSentences) -> frozenset[int]:
        best = np.argsort(-ranked.logits, kind="stable")[:_QUOTATION_CANDIDATES].tolist()
        return frozenset(index for index in best if quotes(claim, self._prepared.sentences[index]))

    @cached_property
    def _roles(self) -> list[Role]:
        prepared = self._prepared
        return [
            role_of(sentence, section_type, bool(source))
            for sentence, section_type, source in zip(prepared.sentences, prepared.types, self._sources, strict=True)
        ]

    def _passages(
        self, ranked: RankedSentences, quoting: frozenset[int], k: int | None, judged: ReasonedVerdict | None = None
    ) -> tuple[Passage, ...]:
        order = np.argsort(-ranked.logits, kind="stable").tolist()
        decisive = judged.decisive if judged else ()
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
                _passage_stance(stance_of(ranked.judgements[index]), judged, index in decisive),
                self._roles[index],
                index in decisive,
                self._pages[index],
            )
            for rank, index in enumerate(order[:k], 1)
        )


def _passage_stance(stance: Stance, judged: ReasonedVerdict | None, decides: bool) -> Stance:
    """The stance of a passage; the one that a verdict rests on has that of the verdict."""
    if judged is None or not decides:
        return stance
    if judged.verdict == "not found":  # one passage says so, and one says otherwise
        return "contradicts" if stance == "contradicts" else "supports"
    return "contradicts" if judged.verdict == "contradicted" else "supports"


def verify_claim(
    claim: str,
    document: Document | str | Path,
    *,
    entailment: EntailmentModel | None = None,
    encoder: Encoder | None = None,
    k: int | None = None,
    weights: PassageWeights | None = None,
) -> Verification:
    """Whether a document backs a claim, and which of its sentences do: the best `k`, or all.

    Encoder and entailment model default to the bundled ones.
    """
    _check(claim, k)
    paper = document if isinstance(document, Document) else documents.read(document)
    return open_document(paper, entailment=entailment, encoder=encoder, weights=weights).verify(claim, k)


def verify_sentences(
    claim: str,
    sentences: Sequence[str],
    sections: Sequence[str] | None = None,
    *,
    entailment: EntailmentModel | None = None,
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
    prepared = _prepare(sentences, types, entailment, encoder, weights, None)
    return OpenDocument(prepared, range(len(sentences)), headings, "the list").verify(claim)


def open_document(
    document: Document,
    *,
    entailment: EntailmentModel | None = None,
    encoder: Encoder | None = None,
    weights: PassageWeights | None = None,
    progress: Callable[[int], None] | None = None,
) -> OpenDocument:
    """Prepare a document for any number of claims."""
    document = with_asides(document)
    indices, headings, types = own_sentences(document)
    texts = [document.sentences[index].text for index in indices]
    pages = [document.sentences[index].page for index in indices]
    prepared = _prepare(texts, types, entailment, encoder, weights, progress)
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
    entailment: EntailmentModel | None,
    encoder: Encoder | None,
    weights: PassageWeights | None,
    progress: Callable[[int], None] | None,
) -> PreparedDocument:
    models = encoder or load_encoder(), entailment or load_entailment()
    return PreparedDocument(texts, types, *models, weights or shipped_weights(), progress)


def _check(claim: str, k: int | None) -> None:
    if not claim.strip():
        raise UserError("the claim is empty; give a sentence")
    if k is not None and k < 1:
        raise UserError(f"k must be 1 or more, not {k}")


@lru_cache(maxsize=1024)
def _section_type(heading: str) -> str | None:
    return structure.section_type(heading) if heading else None
