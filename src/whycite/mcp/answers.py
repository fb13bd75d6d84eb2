"""What the tools answer: short, with quotations word for word, and cut to a number of tokens by whole items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NotRequired, TypeVar

from typing_extensions import TypedDict

from whycite.check.findings import Finding
from whycite.cite.recommendations import Recommendation
from whycite.documents.model import Document, Sentence
from whycite.service.papers import SourceMatch
from whycite.verify.verification import Passage, Role, Stance, Verdict

__all__ = [
    "CheckReply",
    "CiteReply",
    "InsertReply",
    "ReadReply",
    "SourceReply",
    "VerifyReply",
    "cited_paper",
    "cut_items",
    "missing_citation",
    "passage_quote",
    "recommended_paper",
    "sentence_quote",
    "source_quote",
]

_CHARACTERS_PER_TOKEN = 3.0  # of JSON with English prose, rather too few than too many
_HEADER_TOKENS = 250  # for what is around the items of an answer
_MAX_EVIDENCE = 2  # sentences per paper
_MAX_AUTHORS = 3

_Item = TypeVar("_Item")


class PaperSummary(TypedDict):
    """A paper in short."""

    key: str
    title: str
    authors: list[str]
    year: int | None
    doi: str


class CitationQuote(TypedDict):
    """A sentence, word for word, that cites the paper, and the document it is from."""

    sentence: str
    source: str
    year: int | None


class RecommendedPaper(PaperSummary):
    """A paper that the claim could cite, and what others cite it for."""

    fits: float | None  # the chance that it fits the claim
    support: int  # how many places of the library cite it
    evidence: list[CitationQuote]


class CiteReply(TypedDict):
    """Papers for a claim, best first."""

    message: str
    fits: float | None  # the chance that any paper of the library fits
    recommendations: list[RecommendedPaper]
    omitted: int  # papers left out to keep the answer short


class ProposedPaper(TypedDict):
    """A paper that a sentence could cite, and the key to cite it by."""

    cite_key: str
    title: str
    year: int | None
    known: bool  # whether the draft's bibliography has it
    fits: float | None


class MissingCitation(TypedDict):
    """A sentence of a draft that needs a citation; lines and columns count from 1."""

    file: str
    line: int
    column: int
    section: str
    text: str
    worthiness: float
    rule: NotRequired[str]
    recommendations: list[ProposedPaper]


class CheckReply(TypedDict):
    """The sentences of a draft that need a citation."""

    message: str
    path: str
    sentences: int  # that were checked
    findings: list[MissingCitation]
    omitted: int  # findings left out after the last one shown; ask again with a higher `start`
    warnings: list[str]


class PassageQuote(TypedDict):
    """A sentence of the paper, word for word, and where it is."""

    text: str
    section: str
    page: NotRequired[int]
    stance: Stance
    role: Role
    decides: NotRequired[bool]


class VerifyReply(TypedDict):
    """Whether a paper backs a claim, and the passages that tell."""

    verdict: Verdict
    confidence: float
    reason: str
    file: str
    title: str
    passages: list[PassageQuote]


class SourceQuote(TypedDict):
    """Where a quotation is: a text of a paper, word for word."""

    exact: bool
    similarity: float
    text: str
    file: str
    section: str
    page: NotRequired[int]
    paper: PaperSummary


class SourceReply(TypedDict):
    """The papers of the library that say a sentence."""

    message: str
    matches: list[SourceQuote]


class SectionSummary(TypedDict):
    """A section of a document."""

    number: int
    heading: str
    type: str | None
    sentences: int


class SentenceQuote(TypedDict):
    """A sentence of a document, word for word."""

    text: str
    page: NotRequired[int]
    cites: NotRequired[list[str]]


class ReadReply(TypedDict):
    """A document: its sections, or the sentences of one of them."""

    message: str
    file: str
    title: str
    year: int | None
    sections: list[SectionSummary]
    sentences: list[SentenceQuote]
    omitted: int  # sentences left out after the last one shown; ask again with a higher `start`
    warnings: list[str]


class InsertReply(TypedDict):
    """The citation that was inserted, and the files that changed."""

    message: str
    files: list[str]
    diff: str


def cut_items(items: Sequence[_Item], tokens: int) -> tuple[list[_Item], int]:
    """The first items that fit into a number of tokens, at least one, and how many were left out."""
    room = (tokens - _HEADER_TOKENS) * _CHARACTERS_PER_TOKEN
    shown: list[_Item] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0 and shown:
            break
        shown.append(item)
    return shown, len(items) - len(shown)


def recommended_paper(recommendation: Recommendation, tokens: int) -> RecommendedPaper:
    """A paper with as much of its evidence as fits into a number of tokens."""
    paper = recommendation.paper
    evidence: list[CitationQuote] = [
        {"sentence": quote.sentence or quote.span, "source": quote.source.title, "year": quote.source.year}
        for quote in recommendation.evidence[:_MAX_EVIDENCE]
    ]
    return {
        **_summary(paper.key, paper.title, paper.authors, paper.year, paper.doi),
        "fits": _rounded(recommendation.fits),
        "support": recommendation.support,
        "evidence": cut_items(evidence, tokens)[0],
    }


def missing_citation(finding: Finding, n: int) -> MissingCitation:
    """A finding with its best `n` papers."""
    item: MissingCitation = {
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "section": finding.section,
        "text": finding.text,
        "worthiness": round(finding.worthiness, 2),
        "recommendations": [
            {
                "cite_key": proposal.key,
                "title": proposal.recommendation.paper.title,
                "year": proposal.recommendation.paper.year,
                "known": proposal.in_bibliography,
                "fits": _rounded(proposal.recommendation.fits),
            }
            for proposal in finding.recommendations[:n]
        ],
    }
    if finding.rule:
        item["rule"] = finding.rule
    return item


def passage_quote(passage: Passage) -> PassageQuote:
    """A passage without its scores."""
    quote: PassageQuote = {
        "text": passage.text,
        "section": passage.section,
        "stance": passage.stance,
        "role": passage.role,
    }
    if passage.page is not None:
        quote["page"] = passage.page
    if passage.decides:
        quote["decides"] = True
    return quote


def source_quote(match: SourceMatch) -> SourceQuote:
    """Where a quotation was found."""
    document, first = match.document, match.sentences[0]
    quote: SourceQuote = {
        "exact": match.similarity == 1,
        "similarity": round(match.similarity, 2),
        "text": " ".join(sentence.text for sentence in match.sentences),
        "file": document.path,
        "section": _heading(document, first),
        "paper": cited_paper(document, match.key),
    }
    if first.page is not None:
        quote["page"] = first.page
    return quote


def sentence_quote(sentence: Sentence) -> SentenceQuote:
    """A sentence of a document."""
    quote: SentenceQuote = {"text": sentence.text}
    if sentence.page is not None:
        quote["page"] = sentence.page
    if sentence.cited_keys:
        quote["cites"] = list(sentence.cited_keys)
    return quote


def cited_paper(document: Document, key: str) -> PaperSummary:
    """The paper that a document is."""
    paper = document.paper
    return _summary(key, paper.title, paper.authors, paper.year, paper.doi)


def _summary(key: str, title: str, authors: Sequence[str], year: int | None, doi: str) -> PaperSummary:
    names = [*authors[:_MAX_AUTHORS], *(["et al."] if len(authors) > _MAX_AUTHORS else [])]
    return {"key": key, "title": title, "authors": names, "year": year, "doi": doi}


def _heading(document: Document, sentence: Sentence) -> str:
    return document.sections[sentence.section].heading if sentence.section < len(document.sections) else ""


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else round(chance, 2)


def compact(answer: Any) -> str:
    """An answer as JSON without spaces that only people need."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
