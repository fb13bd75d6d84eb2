"""What is known at the cursor: papers to cite with their evidence, what the sentence cites, the entry behind a key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired

from lsprotocol import types
from typing_extensions import TypedDict

from whycite.check.findings import Finding, Proposal
from whycite.check.fix.edits import DraftProject, text_of
from whycite.check.reporting.messages import NO_CLEAR_FIT, byline, need_phrase, reason
from whycite.cite.recommendations import match_reason
from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.library.records import Paper
from whycite.lsp.diagnostics import quotes
from whycite.lsp.workbench import DraftCheck, Workbench, text_map
from whycite.service.drafts import buffer_bytes
from whycite.verify.draftclaims import DraftCitation, citations
from whycite.verify.verification import Verdict, certainty

__all__ = [
    "EVIDENCE",
    "EvidenceReply",
    "definition_place",
    "describe_reference",
    "finding_at",
    "papers_for",
    "reference_line",
    "sentence_evidence",
    "verified_citations",
]

EVIDENCE = "whycite/evidence"
_MAX_QUOTES = 3  # per paper
_MAX_PAPERS = 5
_MAX_ABSTRACT = 600  # characters
_MAX_SENTENCES = 3
_ENTRY_SUFFIXES = tuple(
    f".{name}"
    for name in ("bib", "bibtex", "biblatex", "bbl", "json", "csljson", "yml", "yaml", "ris", "tex", "md", "qmd")
)  # bibliographies first


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
    fits: float | None  # the chance that it fits, whatever other papers there are: no part of the order
    match: str  # why it is here, if nothing is quoted that cites it
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
    proposals = bench.propose(check, claim, sentence, _MAX_PAPERS)
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
        "match": "" if recommendation.evidence else match_reason(recommendation),
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


def reference_line(reference: Reference) -> str:
    """ "Doe et al. (2010), Journal of Things"."""
    return byline(Paper("", reference.title, reference.authors, reference.year, reference.venue, reference.doi))


def describe_reference(bench: Workbench, check: DraftCheck, key: str, claim_place: int) -> str | None:
    """Title, authors, how draft and library cite it, abstract and verdict as Markdown; None for an unknown key.

    `claim_place` is the offset of the citation whose verdict is shown.
    """
    reference = check.document.by_id.get(key)
    if reference is None:
        return None
    title = " ".join((reference.title or reference.text or key).split())
    doi = f"[doi:{reference.doi}](https://doi.org/{reference.doi})" if reference.doi else ""
    parts = [f"**{_escaped(title)}**", "  \n".join(filter(None, (_escaped(reference_line(reference)), doi)))]
    citing = [sentence for sentence in check.document.sentences if key in sentence.cited_keys]
    times = "once" if len(citing) == 1 else f"{len(citing)} times"
    quotes = "".join(f"\n- {_escaped(sentence.text)}" for sentence in citing[:_MAX_SENTENCES])
    parts.append(f"Cited {times} in this draft:\n{quotes}" if citing else "Not cited in this draft.")
    if citations := bench.engine(check.main).library_citations(reference, _MAX_SENTENCES):
        times = "once" if citations.places == 1 else f"{citations.places} times"
        quotes = "".join(
            f"\n- {_escaped(text)} ({_escaped(source.title)}{f', {source.facts}' if source.facts else ''})"
            for text, source in citations.sentences
        )
        by = "one article" if citations.documents == 1 else f"{citations.documents} articles"
        parts.append(f"Cited {times} by {by} of your library:\n{quotes}")
    if reference.abstract:
        abstract = " ".join(reference.abstract.split())
        cut = abstract if len(abstract) <= _MAX_ABSTRACT else f"{abstract[:_MAX_ABSTRACT].rsplit(' ', 1)[0]} …"
        parts.append(_escaped(cut))
    for citation in verified_citations(bench, check, key, claim_place):
        if verdict := bench.verdict_on(citation):
            verification = verdict.verification
            sure = f", {certainty(verification)}" if verification.confidence else ""
            passages = verification.deciding_first()[:1]
            quote = "".join(f"\n\n> {_escaped(passage.text)}" for passage in passages)
            parts.append(f"**{verification.verdict}**{sure}: {_escaped(verification.reason)}{quote}")
    return "\n\n".join(part for part in parts if part)


def verified_citations(bench: Workbench, check: DraftCheck, key: str, start: int) -> list[DraftCitation]:
    """The citation of a key at an offset, if it was verified."""
    return [
        citation
        for citation in (citations(check.document) if bench.verdicts else ())
        if citation.start == start and citation.reference.id == key and bench.verdict_on(citation)
    ]


def definition_place(check: DraftCheck, key: str) -> tuple[Path, str, int] | None:
    """The file that has the entry of a key, its text, and the offset of the entry."""
    try:
        project = DraftProject(check.document, unsaved=buffer_bytes(check.buffers))
        project.read()
    except UserError:  # in an archive, or gone
        return None
    name = re.escape(key)
    entry = re.compile(
        rf"@\s*\w+\s*[{{(]\s*({name})\s*,|\\bibitem\s*(?:\[[^\]]*\])?\s*\{{\s*({name})\s*\}}"
        rf"|^\s*-?\s*\"?id\"?\s*:\s*\"?({name})\"?\s*,?\s*$|^ID\s+-\s+({name})\s*$|^({name}):\s*$",
        re.MULTILINE,
    )
    for file in sorted(project.contents, key=_rank):
        text = text_of(project.contents[file])
        if file.lower().endswith(_ENTRY_SUFFIXES) and (match := entry.search(text)):
            return Path(project.label(file)), text, match.start(match.lastindex or 0)
    return None


def _rank(name: str) -> int:
    """Files that are bibliographies come first."""
    return next(
        (rank for rank, suffix in enumerate(_ENTRY_SUFFIXES) if name.lower().endswith(suffix)), len(_ENTRY_SUFFIXES)
    )


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)
