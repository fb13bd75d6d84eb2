"""What a side bar shows of the sentence at the cursor: papers to cite with their evidence, and what it cites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired

from lsprotocol import types
from typing_extensions import TypedDict

from whycite.check.findings import Finding, Proposal
from whycite.check.reporting.messages import NO_CLEAR_FIT, byline, need_phrase, reason
from whycite.lsp.diagnostics import quotes
from whycite.lsp.positions import text_map
from whycite.lsp.references import reference_line
from whycite.lsp.workbench import DraftCheck, Workbench
from whycite.service.drafts import propose_papers
from whycite.verify.verification import Verdict

__all__ = ["EVIDENCE", "EvidenceReply", "finding_at", "papers_for", "sentence_evidence"]

EVIDENCE = "whycite/evidence"
_MAX_QUOTES = 3  # per paper
_MAX_PAPERS = 5


class QuoteItem(TypedDict):
    """A sentence, word for word, and where it is from."""

    text: str
    source: str


class PaperItem(TypedDict):
    """A paper that the sentence could cite; `target` is the argument of the command that inserts it."""

    key: str
    title: str
    byline: str
    known: bool  # whether the bibliography has it
    fits: float | None
    quotes: list[QuoteItem]
    target: dict[str, Any]


class CitationItem(TypedDict):
    """A paper that the sentence cites; `target` is the argument of the commands that verify it."""

    key: str
    title: str
    byline: str
    verdict: NotRequired[Verdict]
    reason: NotRequired[str]
    target: dict[str, Any]


class EvidenceReply(TypedDict):
    """The sentence at the cursor, the papers that it could cite, and those that it cites."""

    text: str
    range: types.Range
    message: str
    papers: list[PaperItem]
    citations: list[CitationItem]


def finding_at(check: DraftCheck, file: Path, offset: int) -> Finding | None:
    """The finding about the sentence at an offset; between two sentences, the one that ends there."""
    return next(
        (
            finding
            for finding in check.checked.findings
            if finding.file == str(file) and finding.start <= offset <= finding.end
        ),
        None,
    )


def papers_for(bench: Workbench, check: DraftCheck, finding: Finding) -> Sequence[Proposal]:
    """The papers that a check found for a sentence; for one that needs no citation, they are searched now."""
    if finding.kind == "needs-citation":
        return finding.recommendations
    sentence = check.sentence_at(Path(finding.file), finding.start)
    claim = sentence.without_citations() if sentence else finding.text
    proposals = propose_papers(check.document, claim, sentence, bench.library, _MAX_PAPERS)
    return [proposal for proposal in proposals if proposal.key not in finding.cites]


def sentence_evidence(
    bench: Workbench, check: DraftCheck, finding: Finding, proposals: Sequence[Proposal], encoding: str
) -> EvidenceReply:
    """What is known about a sentence."""
    file = Path(finding.file)
    return {
        "text": finding.text,
        "range": text_map(check.text(file), encoding).range(finding.start, finding.end),
        "message": _message(finding, proposals),
        "papers": [_paper(proposal, file, finding.start) for proposal in proposals],
        "citations": _citations(bench, check, finding),
    }


def _message(finding: Finding, proposals: Sequence[Proposal]) -> str:
    if finding.kind == "needs-citation":
        need = f"This sentence {need_phrase(finding)} ({reason(finding)})."
        return f"{need} {NO_CLEAR_FIT}" if finding.doubtful else need if proposals else f"{need} No matching papers."
    return "This sentence cites already." if finding.cites else "This sentence needs no citation."


def _paper(proposal: Proposal, file: Path, start: int) -> PaperItem:
    recommendation = proposal.recommendation
    return {
        "key": proposal.key,
        "title": recommendation.paper.title,
        "byline": byline(recommendation.paper),
        "known": proposal.in_bibliography,
        "fits": recommendation.fits,
        "quotes": [{"text": text, "source": source} for text, source in quotes(recommendation)[:_MAX_QUOTES]],
        "target": {"file": str(file), "start": start, "key": proposal.key},
    }


def _citations(bench: Workbench, check: DraftCheck, finding: Finding) -> list[CitationItem]:
    items: list[CitationItem] = []
    for citation in bench.citations_at(check, Path(finding.file), finding.start, finding.end):
        reference = citation.reference
        item: CitationItem = {
            "key": reference.id,
            "title": reference.title or reference.text,
            "byline": reference_line(reference),
            "target": {"file": citation.file, "start": citation.start, "key": reference.id},
        }
        if verdict := bench.verdict_on(citation):
            item["verdict"] = verdict.verification.verdict
            item["reason"] = verdict.verification.reason
        items.append(item)
    return items
