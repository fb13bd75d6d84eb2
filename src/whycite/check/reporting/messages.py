"""The texts of reports, and paths relative to the current folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.check.findings import CITATION_RULES, CheckedDraft, Finding, Proposal
from whycite.check.rules import rule_meaning
from whycite.cite.recommendations import Evidence
from whycite.documents.identity import paper_key
from whycite.evidence.groups import quote
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from whycite.library import Paper

__all__ = [
    "NO_CLEAR_FIT",
    "byline",
    "draft_places",
    "is_reported",
    "message",
    "need_phrase",
    "printable",
    "problem_message",
    "problem_phrase",
    "reason",
    "relative_path",
]

NO_CLEAR_FIT = "No paper is a clear match. The closest ones:"
_LIKELY = 0.5  # worthiness above which a citation is more likely needed than not
_MAX_PAPERS = 3  # papers per message


def is_reported(finding: Finding) -> bool:
    """Whether a finding needs a citation, has recommendations for a sentence with citations, or cites in vain."""
    return finding.kind == "needs-citation" or bool(finding.recommendations) or bool(finding.problems)


def need_phrase(finding: Finding) -> str:
    """How to describe a sentence without a citation."""
    return "needs a citation" if finding.worthiness >= _LIKELY else "may need a citation"


def problem_phrase(finding: Finding) -> str:
    """How to describe a sentence whose citation is a problem: "cites a retracted paper"."""
    return CITATION_RULES[finding.problems[0].rule]


def reason(finding: Finding) -> str:
    """What decided about a sentence: a rule and its meaning, or the worthiness."""
    if finding.rule:
        return f"{finding.rule}: {rule_meaning(finding.rule)}"
    return f"worthiness {finding.worthiness:.2f}"


def draft_places(checked: CheckedDraft) -> Callable[[Evidence], str]:
    """A function that locates evidence within the draft ("in this draft, main.tex:6"); empty for other evidence."""
    document = checked.document
    draft_source = paper_key(document.paper), document.paper.title or document.path
    lines = {(finding.file, finding.start): finding.line for finding in checked.findings}
    places = {
        quote(sentence, document.by_id): f", {shorten_paths(sentence.file)}:{lines[sentence.file, sentence.start]}"
        for sentence in document.sentences
        if sentence.cites and (sentence.file, sentence.start) in lines
    }

    def place(evidence: Evidence) -> str:
        if (evidence.source.key, evidence.source.title) != draft_source:
            return ""
        return "in this draft" + places.get(evidence.sentence, "")

    return place


def message(finding: Finding) -> str:
    """The finding, followed by the best papers, one per line."""
    if finding.kind != "needs-citation" and not finding.recommendations:
        return problem_message(finding)
    why = reason(finding)
    subject = f"The clause “{finding.clause}”" if finding.clause else "This sentence"
    if finding.kind == "cited":
        lines = [f"This sentence already cites {', '.join(finding.cites)} ({why}). It could also cite:"]
    elif finding.doubtful:
        lines = [f"{subject} {need_phrase(finding)} ({why}). {NO_CLEAR_FIT}"]
    elif finding.recommendations:
        lines = [f"{subject} {need_phrase(finding)} ({why}). It could cite:"]
    else:
        lines = [f"{subject} {need_phrase(finding)} ({why}). No matching papers."]
    lines += [
        f"{number}. {_proposal_line(proposal)}"
        for number, proposal in enumerate(finding.recommendations[:_MAX_PAPERS], 1)
    ]
    return printable("\n".join(lines))


def problem_message(finding: Finding) -> str:
    """What is wrong with the papers that a sentence cites, one per line."""
    lines = [f"This sentence {problem_phrase(finding)}:"]
    return printable("\n".join([*lines, *(f"{problem.key}: {problem.message}" for problem in finding.problems)]))


def byline(paper: Paper) -> str:
    """ "Doe et al. (2010), Journal of Things"; unknown parts are left out."""
    families = [author.split(",")[0] for author in paper.authors]
    who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
    who_and_when = " ".join(filter(None, (who, f"({paper.year})" if paper.year else "")))
    return ", ".join(filter(None, (who_and_when, paper.venue)))


def printable(text: str) -> str:
    """Text without control codes and lone surrogates; line breaks are kept."""
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)


def relative_path(file: str) -> Path | None:
    """The path of a file relative to the current folder; None for a file outside it."""
    path = Path(os.path.relpath(file)) if _same_drive(file) else Path(file)
    return None if path.is_absolute() or path.parts[:1] == ("..",) else path


def _same_drive(file: str) -> bool:
    return Path(file).absolute().drive == Path.cwd().drive


def _proposal_line(proposal: Proposal) -> str:
    paper = proposal.recommendation.paper
    about = byline(paper)
    where = "in your bibliography" if proposal.in_bibliography else "not yet in your bibliography"
    return f"{' '.join(paper.title.split()) or '(no title)'}{f', {about}' if about else ''} [{proposal.key}, {where}]"
