"""A verification as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whycite.verify.model import Passage, Verification

__all__ = ["as_html", "passages_html"]

_SHOWN = 5  # passages


def as_html(found: Verification) -> str:
    """The verdict and the best passages; nothing in them is taken for HTML."""
    sure = f", {found.confidence:.0%} sure" if found.confidence else ""
    return (
        f"<p>“{escape(found.claim)}”<br><b>{escape(found.verdict)}</b>{sure}: {escape(found.reason)}</p>"
        f"{passages_html(found.passages[:_SHOWN])}"
    )


def passages_html(passages: Iterable[Passage]) -> str:
    """Passages as a table."""
    rows = "".join(
        f"<tr><td>{each.rank}</td><td>{each.score:.2f}</td>"
        f'<td style="text-align: left">{escape(each.text)}<br><small>{escape(each.section)}</small></td></tr>'
        for each in passages
    )
    return f"<table><tr><th>rank</th><th>score</th><th>sentence</th></tr>{rows}</table>" if rows else ""
