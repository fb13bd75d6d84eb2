"""The findings of a check, as objects, as JSON and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from whycite.cite.fit import nothing_fits
from whycite.cite.recommendations import Recommendation, RecommendationJson, recommendation_json
from whycite.documents.model import Document

__all__ = [
    "CITATION_RULES",
    "CheckedDraft",
    "CheckedDraftJson",
    "CitationProblem",
    "Finding",
    "FindingJson",
    "FindingKind",
    "Proposal",
    "ProposalJson",
    "as_html",
    "checked_draft_json",
    "finding_html",
    "finding_json",
    "proposal_json",
]

# Rules about the papers that a sentence cites, by the status that breaks them; `meaning` completes "The sentence …".
CITATION_RULES = {
    "retracted": "cites a retracted paper",
    "concern": "cites a paper with an expression of concern",
    "corrected": "cites a paper that was corrected",
}


@dataclass(frozen=True, slots=True)
class CitationProblem:
    """What is wrong with a paper that a sentence cites."""

    rule: str  # one of CITATION_RULES
    key: str  # the draft's key of the paper
    message: str


FindingKind = Literal["needs-citation", "cited", "ok"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A paper that a sentence could cite, and the key to cite it by."""

    recommendation: Recommendation
    key: str  # the draft's key, or a new one in the same style
    in_bibliography: bool  # whether the draft's bibliography has it
    bibtex: str = ""  # the entry to add if it does not
    sure: bool = True  # whether `--fix` inserts it unasked: it fits, and leads the other candidates


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the draft and what the check says about it.

    Lines and columns count from 1, in code points; the end is after the last character.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int  # offsets in the decoded file
    end: int
    section: str
    section_type: str | None
    text: str
    worthiness: float
    cites: tuple[str, ...]  # the draft's keys
    kind: FindingKind
    threshold: float  # the worthiness from which this sentence needs a citation
    recommendations: tuple[Proposal, ...] = ()
    fits: float | None = None  # the chance that a paper at hand fits; None if none was looked for, or found
    rule: str = ""  # the id of the rule that decided; empty if the model did
    clause: str = ""  # the part after the last citation, if only that needs one
    problems: tuple[CitationProblem, ...] = ()  # with the papers that it cites

    @property
    def claim(self) -> str:
        """What a paper has to back: the clause, if only that needs a citation, or the whole sentence."""
        return self.clause or self.text

    @property
    def doubtful(self) -> bool:
        """Whether no paper clearly fits."""
        return bool(self.recommendations) and nothing_fits(self.fits)

    def _repr_html_(self) -> str:
        return finding_html(self)


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A draft with a finding for each of its sentences, in order."""

    document: Document
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds by stage

    def _repr_html_(self) -> str:
        return as_html(self)


def as_html(checked: CheckedDraft) -> str:
    """The sentences that need a citation, each with papers to cite, escaped."""
    needing = [finding for finding in checked.findings if finding.kind == "needs-citation" or finding.problems]
    title = escape(checked.document.paper.title or checked.document.path)
    number = sum(finding.kind == "needs-citation" for finding in needing)
    return f"<p><b>{title}</b>: {number} of {len(checked.findings)} sentences need a citation</p>" + "".join(
        map(finding_html, needing)
    )


def finding_html(finding: Finding) -> str:
    """A sentence, shaded by its worthiness, with the proposed papers."""
    from whycite.check.reporting.messages import NO_CLEAR_FIT

    decided_by = f", {escape(finding.rule)}" if finding.rule else ""
    papers = "".join(
        f"<li><code>{escape(proposal.key)}</code> {escape(proposal.recommendation.paper.title)}</li>"
        for proposal in finding.recommendations
    )
    shade = f"background: rgba(214, 96, 26, {0.45 * finding.worthiness:.2f})"
    return (
        f'<p><span style="{shade}">{escape(finding.text)}</span><br>'
        f"<small>{escape(finding.file)}:{finding.line}, {escape(finding.kind)}, "
        f"{finding.worthiness:.0%}{decided_by}</small></p>"
        + "".join(
            f'<p><b style="color: #b00020">{escape(problem.key)}: {escape(problem.message)}</b></p>'
            for problem in finding.problems
        )
        + (f"<p><small>{NO_CLEAR_FIT}</small></p>" if finding.doubtful else "")
        + (f"<ol>{papers}</ol>" if papers else "")
    )


class ProposalJson(RecommendationJson):
    """A paper that a sentence could cite, and the key to cite it by."""

    cite_key: str
    known: bool  # whether the draft's bibliography has it


class CitationProblemJson(TypedDict):
    """What is wrong with a paper that a sentence cites: it was retracted, say."""

    rule: str
    key: str
    message: str


class FindingJson(TypedDict):
    """A sentence of a draft, whether it needs a citation, and what it could cite."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    section: str
    section_type: str | None
    text: str
    worthiness: float
    threshold: float
    cites: list[str]
    kind: FindingKind
    fits: float | None
    doubtful: bool
    recommendations: list[ProposalJson]
    rule: NotRequired[str]
    clause: NotRequired[str]
    problems: NotRequired[list[CitationProblemJson]]


class CheckedDraftJson(TypedDict):
    """The findings of a draft."""

    path: str
    format: str
    title: str
    findings: list[FindingJson]
    warnings: list[str]


def checked_draft_json(checked: CheckedDraft) -> CheckedDraftJson:
    """A checked draft as JSON."""
    return {
        "path": checked.document.path,
        "format": checked.document.format,
        "title": checked.document.paper.title,
        "findings": [finding_json(finding) for finding in checked.findings],
        "warnings": list(checked.warnings),
    }


def finding_json(finding: Finding) -> FindingJson:
    """A finding as JSON."""
    record: FindingJson = {
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
        "fits": finding.fits,
        "doubtful": finding.doubtful,
        "recommendations": [proposal_json(proposal) for proposal in finding.recommendations],
    }
    if finding.rule:
        record["rule"] = finding.rule
    if finding.clause:
        record["clause"] = finding.clause
    if finding.problems:
        record["problems"] = [
            {"rule": problem.rule, "key": problem.key, "message": problem.message} for problem in finding.problems
        ]
    return record


def proposal_json(proposal: Proposal) -> ProposalJson:
    """A paper that a sentence could cite as JSON."""
    return {
        **recommendation_json(proposal.recommendation),
        "cite_key": proposal.key,
        "known": proposal.in_bibliography,
        "bibtex": proposal.bibtex,
    }
