"""Findings as JSON; the keys are an interface."""

from __future__ import annotations

from typing import Any

from whycite.check.model import Checked, Finding, Proposal
from whycite.recommend import as_dict as recommendation_dict

__all__ = ["as_dict", "finding_dict"]


def as_dict(checked: Checked) -> dict[str, Any]:
    """What a check found, in plain types."""
    return {
        "path": checked.document.path,
        "format": checked.document.format,
        "title": checked.document.paper.title,
        "findings": [finding_dict(finding) for finding in checked.findings],
        "warnings": list(checked.warnings),
    }


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding in plain types."""
    return {
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "section": finding.section,
        "section_type": finding.section_type,
        "text": finding.text,
        "worthiness": finding.worthiness,
        "threshold": finding.threshold,
        "cites": list(finding.cites),
        "kind": finding.kind,
        "doubtful": finding.doubtful,
        "recommendations": [_proposal(proposal) for proposal in finding.recommendations],
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    key = {"cite_key": proposal.key, "known": proposal.known, "bibtex": proposal.bibtex}
    return recommendation_dict(proposal.recommendation) | key
