"""What reports say of a finding, and how they call its file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.cite.recommendations import Evidence
from whycite.documents.identity import paper_key

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
    "relative_path",
]

NO_CLEAR_FIT = "No paper at hand clearly fits it; the nearest:"
_LIKELY = 0.5  # worthiness from which on it is more likely than not
_MAX_PAPERS = 3  # papers a message names


def is_reported(finding: Finding) -> bool:
    """Whether a finding asks for something: for a citation, or for a look at what else could be cited."""
    return finding.kind == "needs-citation" or (finding.kind == "cited" and bool(finding.recommendations))


def need_phrase(finding: Finding) -> str:
    """What is said of a sentence that has no citation."""
    return "needs a citation" if finding.worthiness >= _LIKELY else "may need a citation"


def draft_places(checked: CheckedDraft) -> Callable[[Evidence], str]:
    """Tells where evidence stands in the draft itself ("in this draft, main.tex:6"); nothing of what is elsewhere."""
    document = checked.document
    draft_source = paper_key(document.paper), document.paper.title or document.path
    lines = {(finding.file, finding.start): finding.line for finding in checked.findings}
    places = {
        sentence.without_citations(): f", {sentence.file}:{lines[sentence.file, sentence.start]}"
        for sentence in document.sentences
        if sentence.citations and (sentence.file, sentence.start) in lines
    }

    def place(evidence: Evidence) -> str:
        if (evidence.source.key, evidence.source.title) != draft_source:
            return ""
        return "in this draft" + places.get(evidence.sentence, "")

    return place


def message(finding: Finding) -> str:
    """What is found, and the best papers, one a line."""
    sure = f"worthiness {finding.worthiness:.2f}"
    if finding.kind == "cited":
        lines = [f"This sentence cites already ({', '.join(finding.cites)}; {sure}). It could also cite:"]
    elif finding.doubtful:
        lines = [f"This sentence {need_phrase(finding)} ({sure}). {NO_CLEAR_FIT}"]
    elif finding.recommendations:
        lines = [f"This sentence {need_phrase(finding)} ({sure}). It could cite:"]
    else:
        lines = [f"This sentence {need_phrase(finding)} ({sure}). No paper at hand fits it."]
    lines += [
        f"{number}. {_proposal_line(proposal)}"
        for number, proposal in enumerate(finding.recommendations[:_MAX_PAPERS], 1)
    ]
    return printable("\n".join(lines))


def byline(paper: Paper) -> str:
    """ "Doe et al. (2010), Journal of Things"; what is not known is left out."""
    families = [author.split(",")[0] for author in paper.authors]
    who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
    return ", ".join(part for part in (f"{who} ({paper.year})" if paper.year else who, paper.venue) if part)


def printable(text: str) -> str:
    """Text without control codes and halves of characters; its lines stay."""
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)


def relative_path(file: str) -> Path | None:
    """The path of a file from the folder that the program runs in; none for a file elsewhere."""
    path = Path(os.path.relpath(file)) if _same_drive(file) else Path(file)
    return None if path.is_absolute() or path.parts[:1] == ("..",) else path


def _same_drive(file: str) -> bool:
    return Path(file).absolute().drive == Path.cwd().drive


def _proposal_line(proposal: Proposal) -> str:
    paper = proposal.recommendation.paper
    about = byline(paper)
    where = "in your bibliography" if proposal.in_bibliography else "not yet in your bibliography"
    return f"{' '.join(paper.title.split()) or '(no title)'}{f', {about}' if about else ''} [{proposal.key}, {where}]"
