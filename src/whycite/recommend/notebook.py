"""Recommendations as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whycite.recommend.model import Evidence, Recommendation

__all__ = ["Recommendations", "as_html"]

_SPANS = 2  # of evidence shown


class Recommendations(list["Recommendation"]):
    """What a claim should cite, best first: a list that a notebook shows as papers with their evidence."""

    def _repr_html_(self) -> str:
        return as_html(self) if self else "<p>No paper in the library fits.</p>"


def as_html(found: Iterable[Recommendation]) -> str:
    """Papers, each with the best of its evidence; nothing in them is taken for HTML."""
    return f"<ol>{''.join(map(_paper, found))}</ol>"


def _paper(found: Recommendation) -> str:
    paper = found.paper
    names = "; ".join(paper.authors[:3]) + (" and others" if len(paper.authors) > 3 else "")
    facts = ", ".join(filter(None, (names, str(paper.year or ""), paper.venue)))
    spans = "".join(map(_span, found.evidence[:_SPANS]))
    return (
        f'<li value="{found.rank}"><b>{escape(paper.title or paper.key)}</b><br>'
        f"<small>{escape(facts)}; support {found.support}; {escape(paper.key)}</small>{spans}</li>"
    )


def _span(evidence: Evidence) -> str:
    source = ", ".join(filter(None, (evidence.source.title, str(evidence.source.year or ""))))
    return f"<blockquote>{escape(evidence.sentence or evidence.span)}<br><small>{escape(source)}</small></blockquote>"
