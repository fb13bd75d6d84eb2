"""Claims and the papers recommended for them, also as JSON and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, NotRequired, Protocol

from typing_extensions import TypedDict

from whycite.documents.identity import normalise_title
from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.library import Paper, PaperOutline, SourceDocument

__all__ = [
    "Claim",
    "Evidence",
    "Method",
    "PaperJson",
    "Recommendation",
    "RecommendationJson",
    "Recommendations",
    "as_html",
    "check_number",
    "is_allowed",
    "paper_json",
    "recommendation_json",
    "same_title",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or phrase that wants backing; what is known of the draft around it helps, and may be left out."""

    text: str
    title: str = ""  # of the draft; a paper with this title is not recommended, and what it says is no evidence
    section_type: str | None = None
    paragraph: str = ""
    cited: tuple[str, ...] = ()  # keys of the papers that the draft cites already
    year: int | None = None  # no newer paper is recommended

    def __post_init__(self) -> None:
        if not any(map(str.isalnum, self.text)):
            raise UserError("the claim holds no word: give a sentence or a phrase to find papers for")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span that cites the paper, the sentence it stands in and the document that says so."""

    span: str
    score: float  # 0 to 1, the higher the better it fits the claim
    sentence: str
    source: SourceDocument


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A paper for a claim; without evidence it is its title alone that fits."""

    rank: int
    score: float  # the higher the better; comparable within one answer only
    support: int  # places that cite the paper
    paper: Paper
    evidence: tuple[Evidence, ...]  # best first
    shares: Mapping[str, float]  # what makes up the score; they sum to it

    def _repr_html_(self) -> str:
        return as_html([self])


class Method(Protocol):
    """Recommends papers for a claim."""

    @property
    def name(self) -> str: ...

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]: ...


def check_number(n: int) -> None:
    """Refuse to give fewer than one recommendation."""
    if n < 1:
        raise UserError(f"the number of recommendations must be 1 or more, not {n}")


def is_allowed(paper: Paper | PaperOutline, claim: Claim) -> bool:
    """Whether a paper may be recommended: not newer than the claim may cite, and not the draft itself."""
    if claim.year is not None and paper.year is not None and paper.year > claim.year:
        return False
    return not same_title(paper.title, claim.title)


def same_title(title: str, other_title: str) -> bool:
    """Whether two titles are the same; none is like nothing."""
    return bool(title and other_title) and normalise_title(title) == _normalised(other_title)


@lru_cache(maxsize=16)
def _normalised(title: str) -> str:
    """Kept, since the title of a draft is compared with those of hundreds of papers."""
    return normalise_title(title)


_SPANS = 2  # of evidence shown


class Recommendations(list["Recommendation"]):
    """What a claim should cite, best first: a list that a notebook shows as papers with their evidence."""

    def _repr_html_(self) -> str:
        return as_html(self) if self else "<p>No paper in the library fits.</p>"


def as_html(recommendations: Iterable[Recommendation]) -> str:
    """Papers, each with the best of its evidence; nothing in them is taken for HTML."""
    return f"<ol>{''.join(map(_paper_html, recommendations))}</ol>"


def _paper_html(recommendation: Recommendation) -> str:
    paper = recommendation.paper
    names = "; ".join(paper.authors[:3]) + (" and others" if len(paper.authors) > 3 else "")
    details = ", ".join(filter(None, (names, str(paper.year or ""), paper.venue)))
    spans = "".join(map(_span_html, recommendation.evidence[:_SPANS]))
    return (
        f'<li value="{recommendation.rank}"><b>{escape(paper.title or paper.key)}</b><br>'
        f"<small>{escape(details)}; support {recommendation.support}; {escape(paper.key)}</small>{spans}</li>"
    )


def _span_html(evidence: Evidence) -> str:
    source = ", ".join(filter(None, (evidence.source.title, str(evidence.source.year or ""))))
    return f"<blockquote>{escape(evidence.sentence or evidence.span)}<br><small>{escape(source)}</small></blockquote>"


class PaperJson(TypedDict):
    """A paper in the library."""

    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str


class SourceJson(TypedDict):
    """The document a span comes from."""

    key: str
    title: str
    year: int | None


class EvidenceJson(TypedDict):
    """A span that cites the paper, and the sentence it is part of."""

    span: str
    score: float
    sentence: str
    source: SourceJson


class RecommendationJson(TypedDict):
    """A paper and the evidence for citing it."""

    rank: int
    score: float
    support: int
    paper: PaperJson
    evidence: list[EvidenceJson]
    explain: NotRequired[dict[str, float]]  # what the score is made of
    bibtex: NotRequired[str]


def recommendation_json(recommendation: Recommendation, explain: bool = False) -> RecommendationJson:
    """A recommendation as JSON; `explain` adds what its score is made of."""
    result: RecommendationJson = {
        "rank": recommendation.rank,
        "score": recommendation.score,
        "support": recommendation.support,
        "paper": paper_json(recommendation.paper),
        "evidence": [_evidence_json(evidence) for evidence in recommendation.evidence],
    }
    if explain:
        result["explain"] = dict(recommendation.shares)
    return result


def paper_json(paper: Paper) -> PaperJson:
    """A paper as JSON."""
    return {
        "key": paper.key,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
    }


def _evidence_json(evidence: Evidence) -> EvidenceJson:
    source = evidence.source
    return {
        "span": evidence.span,
        "score": evidence.score,
        "sentence": evidence.sentence,
        "source": {"key": source.key, "title": source.title, "year": source.year},
    }
