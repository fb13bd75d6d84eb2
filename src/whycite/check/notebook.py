"""Findings as a notebook shows them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whycite.check.model import Checked, Finding

__all__ = ["as_html", "finding_html"]


def as_html(checked: Checked) -> str:
    """The sentences that need a citation, each with what it could cite; nothing in them is taken for HTML."""
    needing = [finding for finding in checked.findings if finding.kind == "needs-citation"]
    title = escape(checked.document.paper.title or checked.document.path)
    return f"<p><b>{title}</b>: {len(needing)} of {len(checked.findings)} sentences need a citation</p>" + "".join(
        map(finding_html, needing)
    )


def finding_html(finding: Finding) -> str:
    """A sentence, shaded by its worthiness, and the papers proposed for it."""
    from whycite.check.reporting.words import POOR

    papers = "".join(
        f"<li><code>{escape(each.key)}</code> {escape(each.recommendation.paper.title)}</li>"
        for each in finding.recommendations
    )
    shade = f"background: rgba(214, 96, 26, {0.45 * finding.worthiness:.2f})"
    return (
        f'<p><span style="{shade}">{escape(finding.text)}</span><br>'
        f"<small>{escape(finding.file)}:{finding.line}, {escape(finding.kind)}, {finding.worthiness:.0%}</small></p>"
        + (f"<p><small>{POOR}</small></p>" if finding.doubtful else "")
        + (f"<ol>{papers}</ol>" if papers else "")
    )
