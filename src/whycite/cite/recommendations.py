"""Claims, methods by name, and the papers they recommend with evidence, as objects, JSON and HTML for notebooks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from html import escape
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NotRequired, Protocol

from typing_extensions import TypedDict

from whycite.cite.fit import nothing_fits
from whycite.cite.reception import Reception, ReceptionJson, SourceJson, reception_json, receptions, source_json
from whycite.documents.identity import normalise_title
from whycite.documents.jsondocument import publication_fields
from whycite.documents.model import Notice, NoticeKind
from whycite.documents.references.notices import PaperStatus, describe_status
from whycite.errors import UserError
from whycite.text.tokens import terms

if TYPE_CHECKING:
    from whycite.library import Library, Paper, PaperOutline, SourceDocument, SpanCitation
    from whycite.models import Encoder

__all__ = [
    "DEFAULT_METHOD",
    "NOTHING_FITS",
    "AnswerJson",
    "Claim",
    "Evidence",
    "EvidencePiece",
    "Method",
    "MethodFactory",
    "NoticeJson",
    "OwnPassage",
    "PaperJson",
    "Recommendation",
    "RecommendationJson",
    "Recommendations",
    "answer_fits",
    "answer_json",
    "as_html",
    "check_number",
    "citation_shown",
    "distinct",
    "is_allowed",
    "load_method",
    "match_reason",
    "methods",
    "notice_json",
    "paper_json",
    "passage_place",
    "recommendation_json",
    "same_title",
    "shown_evidence",
    "with_receptions",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or phrase that needs backing, with its context in the draft, if known."""

    text: str
    title: str = ""  # of the draft, which is neither recommended nor used as evidence
    section_type: str | None = None
    paragraph: str = ""
    cited: tuple[str, ...] = ()  # keys of papers that the draft cites elsewhere
    year: int | None = None  # no newer paper is recommended
    include_retracted: bool = False  # whether retracted papers are recommended, too

    def __post_init__(self) -> None:
        if not any(map(str.isalnum, self.text)):
            raise UserError("the claim has no words; give a sentence or a phrase")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span that cites the paper, its sentence, and the document it comes from."""

    span: str
    score: float  # 0 to 1, how well it fits the claim
    sentence: str  # as it was written, with its citations
    source: SourceDocument


@dataclass(frozen=True, slots=True)
class OwnPassage:
    """A sentence in which the paper itself says something like the claim."""

    text: str
    score: float  # 0 to 1, the share of the claim's words that it has
    section: str
    page: int | None  # known only in PDFs


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A paper for a claim; without evidence and passages, only its title or abstract is near."""

    rank: int
    score: float  # comparable only within one answer
    support: int  # how many places cite the paper
    paper: Paper
    evidence: tuple[Evidence, ...]  # best first
    shares: Mapping[str, float]  # the parts of the score, which add up to it
    fits: float | None = None  # the chance that it fits the claim, whatever other papers there are
    citing_documents: int | None = None  # how many documents cite it; None if the method does not tell
    passages: tuple[OwnPassage, ...] = ()  # in the paper's own words
    title_matches: bool = True  # whether the claim has words of its title
    reception: Reception | None = None  # how the library cites it, if that was asked for

    def _repr_html_(self) -> str:
        return as_html([self])


class Method(Protocol):
    """Recommends papers for a claim."""

    @property
    def name(self) -> str: ...

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]: ...


def check_number(n: int) -> None:
    """Refuse a number of recommendations below 1."""
    if n < 1:
        raise UserError(f"the number of recommendations must be 1 or more, not {n}")


def is_allowed(paper: Paper | PaperOutline, claim: Claim) -> bool:
    """Whether a paper may be recommended: it stands, is not newer than the draft, and not the draft itself."""
    if paper.status == "notice" or (paper.status == "retracted" and not claim.include_retracted):
        return False
    if claim.year is not None and paper.year is not None and paper.year > claim.year:
        return False
    return not same_title(paper.title, claim.title)


def same_title(title: str, other_title: str) -> bool:
    """Whether two titles are the same; an empty one equals nothing."""
    return bool(title and other_title) and normalise_title(title) == _normalised(other_title)


@lru_cache(maxsize=16)
def _normalised(title: str) -> str:
    """Cached: the title of a draft is compared with those of hundreds of papers."""
    return normalise_title(title)


NOTHING_FITS = "No paper in your library is a clear match for this claim. The closest ones:"
_SPANS_IN_HTML = 2


class Recommendations(list["Recommendation"]):
    """Papers for a claim, best first: a list that notebooks show with the evidence."""

    def __init__(self, recommendations: Iterable[Recommendation] = (), fits: float | None = None) -> None:
        super().__init__(recommendations)
        self.fits = fits
        """The chance that a paper of the library fits the claim, shown or not; None if the method does not tell."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>No papers match this claim.</p>"
        return (f"<p><small>{NOTHING_FITS}</small></p>" if nothing_fits(self.fits) else "") + as_html(self)


def with_receptions(library: Library, answer: Sequence[Recommendation]) -> Recommendations:
    """An answer with what the library cites each paper for, and who agrees or disagrees with it."""
    ids = [library.paper_id(recommendation.paper.key) for recommendation in answer]
    papers = {id: recommendation.paper for id, recommendation in zip(ids, answer, strict=True)}
    reception_by_id = receptions(library, papers)
    completed = [
        replace(recommendation, reception=reception_by_id[id]) for id, recommendation in zip(ids, answer, strict=True)
    ]
    return Recommendations(completed, answer_fits(answer))


def answer_fits(recommendations: Sequence[Recommendation]) -> float | None:
    """The chance that a paper of the library fits; None if the method does not tell."""
    return recommendations.fits if isinstance(recommendations, Recommendations) else None


def match_reason(recommendation: Recommendation) -> str:
    """Why a paper is shown that nothing in the library cites for this."""
    if recommendation.passages:
        return "matches by its own text"
    if recommendation.title_matches:
        return "matches by title"
    return f"matches by the meaning of its {'abstract' if recommendation.paper.abstract else 'title'}"


def as_html(recommendations: Iterable[Recommendation]) -> str:
    """Papers with their best evidence, escaped."""
    return f"<ol>{''.join(map(_paper_html, recommendations))}</ol>"


def _paper_html(recommendation: Recommendation) -> str:
    paper = recommendation.paper
    names = "; ".join(paper.authors[:3]) + (" and others" if len(paper.authors) > 3 else "")
    details = ", ".join(filter(None, (names, str(paper.year or ""), paper.venue)))
    spans = "".join(map(_span_html, recommendation.evidence[:_SPANS_IN_HTML]))
    warning = escape(describe_status(paper.status, paper.notices))
    spans += "".join(map(_passage_html, recommendation.passages))
    return (
        f'<li value="{recommendation.rank}"><b>{escape(paper.title or paper.key)}</b><br>'
        + (f'<b style="color: #b00020">{warning}</b><br>' if warning else "")
        + f"<small>{escape(details)}; support {recommendation.support}; {escape(paper.key)}</small>{spans}</li>"
    )


def _span_html(evidence: Evidence) -> str:
    source = ", ".join(filter(None, (evidence.source.title, evidence.source.facts)))
    return f"<blockquote>{escape(evidence.sentence or evidence.span)}<br><small>{escape(source)}</small></blockquote>"


def passage_place(passage: OwnPassage) -> str:
    """ "in its own words (Results, page 3)"; unknown parts are left out."""
    place = ", ".join(filter(None, (passage.section, f"page {passage.page}" if passage.page else "")))
    return f"in its own words ({place})" if place else "in its own words"


def _passage_html(passage: OwnPassage) -> str:
    return f"<blockquote>{escape(passage.text)}<br><small>{escape(passage_place(passage))}</small></blockquote>"


class PaperJson(TypedDict):
    """A paper in the library."""

    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str
    arxiv: NotRequired[str]
    pmid: NotRequired[str]
    isbn: NotRequired[str]
    citation_key: NotRequired[str]  # by which the user cites it, if a reference manager says so
    publication: NotRequired[dict[str, Any]]  # what is known of type, volume, issue, pages, publisher and so on
    status: NotRequired[PaperStatus]  # retracted, concern, corrected; missing if the paper stands
    notices: NotRequired[list[NoticeJson]]  # what was published about it
    warning: NotRequired[str]  # its status in words


class NoticeJson(TypedDict):
    """A retraction, an expression of concern, a correction or a reinstatement."""

    kind: NoticeKind
    doi: str
    date: str
    reason: str
    source: str


class EvidenceJson(TypedDict):
    """A span that cites the paper, and the sentence it is part of as it was written, with its citations."""

    span: str
    score: float
    sentence: str
    source: SourceJson


class OwnPassageJson(TypedDict):
    """A sentence in which the paper itself says something like the claim."""

    text: str
    score: float
    section: str
    page: int | None


class RecommendationJson(TypedDict):
    """A paper and the evidence for citing it."""

    rank: int
    score: float
    fits: float | None  # the chance that the paper fits the claim; null if the method does not tell
    support: int
    citing_documents: int | None  # documents that cite the paper; null if the method does not tell
    title_matches: bool
    paper: PaperJson
    evidence: list[EvidenceJson]
    passages: list[OwnPassageJson]
    citing: NotRequired[ReceptionJson]  # how the library cites the paper, if that was asked for
    explain: NotRequired[dict[str, float]]  # the parts of the score
    bibtex: NotRequired[str]


class AnswerJson(TypedDict):
    """The papers for a claim, and the chance that a paper of the library fits."""

    fits: float | None
    recommendations: list[RecommendationJson]


def recommendation_json(recommendation: Recommendation, explain: bool = False) -> RecommendationJson:
    """A recommendation as JSON; `explain` adds the parts of its score."""
    result: RecommendationJson = {
        "rank": recommendation.rank,
        "score": recommendation.score,
        "fits": recommendation.fits,
        "support": recommendation.support,
        "citing_documents": recommendation.citing_documents,
        "title_matches": recommendation.title_matches,
        "paper": paper_json(recommendation.paper),
        "evidence": [_evidence_json(evidence) for evidence in recommendation.evidence],
        "passages": [_passage_json(passage) for passage in recommendation.passages],
    }
    if recommendation.reception is not None:
        result["citing"] = reception_json(recommendation.reception)
    if explain:
        result["explain"] = dict(recommendation.shares)
    return result


def answer_json(recommendations: Sequence[Recommendation], explain: bool = False) -> AnswerJson:
    """An answer as JSON; `explain` adds the parts of the scores."""
    return {
        "fits": answer_fits(recommendations),
        "recommendations": [recommendation_json(recommendation, explain) for recommendation in recommendations],
    }


def paper_json(paper: Paper) -> PaperJson:
    """A paper as JSON."""
    result: PaperJson = {
        "key": paper.key,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
    }
    if paper.arxiv:
        result["arxiv"] = paper.arxiv
    if paper.pmid:
        result["pmid"] = paper.pmid
    if paper.isbn:
        result["isbn"] = paper.isbn
    if paper.citation_key:
        result["citation_key"] = paper.citation_key
    if publication := publication_fields(paper.publication):
        result["publication"] = publication
    if paper.status:
        result["status"] = paper.status
        result["warning"] = describe_status(paper.status, paper.notices)
    if paper.notices:
        result["notices"] = [notice_json(notice) for notice in paper.notices]
    return result


def notice_json(notice: Notice) -> NoticeJson:
    """A notice as JSON."""
    return {
        "kind": notice.kind,
        "doi": notice.doi,
        "date": notice.date,
        "reason": notice.reason,
        "source": notice.source,
    }


def _evidence_json(evidence: Evidence) -> EvidenceJson:
    return {
        "span": evidence.span,
        "score": evidence.score,
        "sentence": evidence.sentence,
        "source": source_json(evidence.source),
    }


def _passage_json(passage: OwnPassage) -> OwnPassageJson:
    return {"text": passage.text, "score": passage.score, "section": passage.section, "page": passage.page}


MAX_SHOWN = 5  # spans shown for a paper
_MAX_EXAMINED = 3 * MAX_SHOWN  # spans looked at for them, some of which say the same
_SAME_SHARE = 0.8  # share of common words from which two sentences say the same


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A span that may be shown, and a place where it cites the paper."""

    span: str
    score: float
    citation: SpanCitation


def citation_shown(citations: Sequence[SpanCitation], claim: Claim) -> SpanCitation:
    """The place to show for a span that cites a paper in several: one in a section like the claim's, if any."""
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
    """The evidence to show for each paper, whose pieces are given best first; `span_texts` saves looking them up."""
    examined = [pieces[:_MAX_EXAMINED] for pieces in papers]
    citations = [piece.citation for pieces in examined for piece in pieces]
    unknown = sorted({citation.sentence for citation in citations} - span_texts.keys())
    texts = {**span_texts, **library.texts(unknown)} if unknown else span_texts
    distinct_pieces = [
        distinct(pieces, lambda piece: texts[piece.citation.sentence])[:MAX_SHOWN] for pieces in examined
    ]
    citations = [piece.citation for pieces in distinct_pieces for piece in pieces]
    quotations = library.quotations(citations)
    sources = library.sources(sorted({citation.document for citation in citations}))
    return [
        tuple(
            Evidence(
                piece.span,
                piece.score,
                quotations.get((piece.citation.document, piece.citation.place), texts[piece.citation.sentence]),
                sources[piece.citation.document],
            )
            for piece in pieces
        )
        for pieces in distinct_pieces
    ]


def distinct(pieces: Sequence[EvidencePiece], sentence: Callable[[EvidencePiece], str]) -> list[EvidencePiece]:
    """The pieces without those from the same sentence as an earlier one, or from almost the same."""
    unique_pieces: list[EvidencePiece] = []
    seen: list[frozenset[str]] = []
    for piece in pieces:
        words = frozenset(terms(sentence(piece)))
        if not any(_same_words(words, seen_words) for seen_words in seen):
            unique_pieces.append(piece)
            seen.append(words)
    return unique_pieces


def _same_words(words: frozenset[str], seen_words: frozenset[str]) -> bool:
    return len(words & seen_words) >= _SAME_SHARE * len(words | seen_words)


_LOG = logging.getLogger("whycite")
DEFAULT_METHOD = "whycite"
_GROUP = "whycite.methods"

MethodFactory = Callable[[str, "Library", "Encoder"], Method]
"""What an entry point names: a function that makes the method of that name from a library and an encoder."""


@cache
def methods() -> Mapping[str, MethodFactory]:
    """Every installed method by name."""
    factories: dict[str, MethodFactory] = {}
    for entry in entry_points(group=_GROUP):
        try:
            factories[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - one broken plug-in must not disable the other methods
            _LOG.warning("cannot load the method '%s' (%s): %s", entry.name, entry.value, error)
    return factories


def load_method(name: str, library: Library, encoder: Encoder | None = None) -> Method:
    """The method of that name over a library; the default encoder is the one that made the library's vectors."""
    if name not in methods():
        raise UserError(f"no method '{name}'; choose one of: {', '.join(sorted(methods()))}")
    return methods()[name](name, library, encoder or _encoder_of(library))


def _encoder_of(library: Library) -> Encoder:
    from whycite.library.encoding import encoder_of

    return encoder_of(library.encoder, library.path)
