"""What the tools answer: short, with quotations word for word, and cut to a number of tokens by whole items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NotRequired, TypeVar

from typing_extensions import TypedDict

from whycite.check.findings import CitationProblem, Finding
from whycite.cite.recommendations import Evidence, Recommendation
from whycite.documents.model import Document, Sentence
from whycite.documents.references.notices import PaperStatus
from whycite.references.report import COMMON_RULES, SEVERITIES, CheckedReference, Severity
from whycite.references.report import Verdict as ReferenceVerdict
from whycite.service.papers import SourceMatch
from whycite.verify.verification import Passage, Role, Stance, Verdict

__all__ = [
    "CheckReply",
    "CiteReply",
    "InsertReply",
    "ReadReply",
    "ReferencesReply",
    "SourceReply",
    "VerifyReply",
    "cited_paper",
    "compact",
    "count_tokens",
    "cut_items",
    "mentioned_problems",
    "missing_citation",
    "passage_quote",
    "recommended_paper",
    "reference_problems",
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
    source_key: str  # to read it by
    year: int | None
    status: NotRequired[PaperStatus]  # of that document: retracted, say


class OwnWords(TypedDict):
    """A sentence in which the paper itself says something like the claim, word for word, and where it is."""

    text: str
    section: str
    page: NotRequired[int]
    file: NotRequired[str]


class RecommendedPaper(PaperSummary):
    """A paper that the claim could cite, what others cite it for, and what it says itself."""

    fits: float | None  # the chance that it fits the claim
    support: int  # how many places of the library cite it
    evidence: list[CitationQuote]
    own_words: list[OwnWords]


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


class CitedPaperProblem(TypedDict):
    """What is wrong with a paper that the draft cites: it was retracted, say."""

    file: str
    line: int
    cite_key: str
    rule: str
    message: str


class CheckReply(TypedDict):
    """The sentences of a draft that need a citation, and the papers that it should not cite."""

    message: str
    path: str
    sentences: int  # that were checked
    problems: list[CitedPaperProblem]
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


class ReferenceProblemNote(TypedDict):
    """What is wrong with a reference."""

    rule: str
    severity: Severity
    message: str
    correction: NotRequired[str]


class ProblematicReference(TypedDict):
    """A reference that should be looked at."""

    cite_key: str
    title: str
    verdict: ReferenceVerdict
    file: str
    line: int | None
    problems: list[ReferenceProblemNote]


class ReferencesReply(TypedDict):
    """The references of a draft or a bibliography that have problems, worst first."""

    message: str
    path: str
    verdicts: dict[ReferenceVerdict, int]
    references: list[ProblematicReference]
    omitted: int  # references left out after the last one shown; ask again with a higher `start`
    warnings: list[str]


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


def count_tokens(items: Sequence[Any]) -> int:
    """About how many tokens items take."""
    return round(len(compact(items)) / _CHARACTERS_PER_TOKEN)


def _citation_quote(evidence: Evidence) -> CitationQuote:
    source = evidence.source
    quote: CitationQuote = {
        "sentence": evidence.sentence or evidence.span,
        "source": source.title,
        "source_key": source.key,
        "year": source.year,
    }
    if source.status:
        quote["status"] = source.status
    return quote


def recommended_paper(recommendation: Recommendation, file: str, tokens: int) -> RecommendedPaper:
    """A paper with as much of its evidence as fits into a number of tokens; `file` has its full text, if known."""
    paper = recommendation.paper
    evidence = [_citation_quote(quote) for quote in recommendation.evidence[:_MAX_EVIDENCE]]
    own_words: list[OwnWords] = []
    for passage in recommendation.passages[:_MAX_EVIDENCE]:
        words: OwnWords = {"text": passage.text, "section": passage.section}
        if passage.page is not None:
            words["page"] = passage.page
        if file:
            words["file"] = file
        own_words.append(words)
    share = tokens // 2 if evidence and own_words else tokens
    return {
        **_summary(paper.key, paper.title, paper.authors, paper.year, paper.doi),
        "fits": _rounded(recommendation.fits),
        "support": recommendation.support,
        "evidence": cut_items(evidence, share)[0],
        "own_words": cut_items(own_words, share)[0],
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


def mentioned_problems(findings: Sequence[Finding]) -> list[CitedPaperProblem]:
    """The papers with problems that a draft cites, each where it is cited first."""
    first_mentions: dict[tuple[str, str], tuple[Finding, CitationProblem]] = {}
    for finding in findings:
        for problem in finding.problems:
            first_mentions.setdefault((problem.key, problem.rule), (finding, problem))
    return [
        {
            "file": finding.file,
            "line": finding.line,
            "cite_key": problem.key,
            "rule": problem.rule,
            "message": problem.message,
        }
        for finding, problem in first_mentions.values()
    ]


def reference_problems(references: Sequence[CheckedReference]) -> list[ProblematicReference]:
    """The references that have problems, worst first, without what is true of many."""
    items: list[tuple[int, ProblematicReference]] = []
    for reference in references:
        problems = [problem for problem in reference.problems if problem.rule not in COMMON_RULES]
        notes: list[ReferenceProblemNote] = []
        for problem in problems:
            note: ReferenceProblemNote = {
                "rule": problem.rule,
                "severity": problem.severity,
                "message": problem.message,
            }
            if problem.correction:
                note["correction"] = problem.correction
            notes.append(note)
        if notes:
            entry = reference.entry
            item: ProblematicReference = {
                "cite_key": entry.key,
                "title": entry.reference.title,
                "verdict": reference.verdict,
                "file": entry.file,
                "line": entry.line,
                "problems": notes,
            }
            items.append((min(SEVERITIES.index(note["severity"]) for note in notes), item))
    return [item for _, item in sorted(items, key=lambda pair: pair[0])]


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
