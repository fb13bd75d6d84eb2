"""A recommendation as JSON; the keys are an interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whycite.recommend.model import Evidence, Recommendation

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = ["as_dict"]


def as_dict(recommendation: Recommendation, explain: bool = False) -> dict[str, Any]:
    """The recommendation in plain types; `explain` adds what its score is made of."""
    found: dict[str, Any] = {
        "rank": recommendation.rank,
        "score": recommendation.score,
        "support": recommendation.support,
        "paper": _paper(recommendation.paper),
        "evidence": [_evidence(evidence) for evidence in recommendation.evidence],
    }
    if explain:
        found["explain"] = dict(recommendation.shares)
    return found


def _paper(paper: Paper) -> dict[str, Any]:
    return {
        "key": paper.key,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    source = evidence.source
    return {
        "span": evidence.span,
        "score": evidence.score,
        "sentence": evidence.sentence,
        "source": {"key": source.key, "title": source.title, "year": source.year},
    }
