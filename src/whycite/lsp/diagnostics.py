"""What is wrong in a draft, at the sentence: a citation is needed, or one is retracted, unknown or not backed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol import types

from whycite.check.findings import Finding
from whycite.check.reporting.messages import message, need_phrase, reason
from whycite.check.settings import settings_for
from whycite.cite.recommendations import Recommendation, passage_place
from whycite.documents.model import Citation
from whycite.lsp.workbench import DraftCheck, PaperVerdict, PassagePlace, TextMap, Workbench, text_map
from whycite.verify.draftclaims import citations

__all__ = ["MISSING_ENTRY", "NEEDS_CITATION", "SOURCE", "draft_diagnostics", "passage_location", "quotes"]

SOURCE = "whycite"
NEEDS_CITATION, MISSING_ENTRY = "needs-citation", "missing-entry"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_DEFAULT_SEVERITY = "information"  # a draft full of warnings is no pleasure to write in
_REPORTED_VERDICTS = ("contradicted", "not found", "secondary")
_MAX_EVIDENCE = 3  # quotations beside a finding


def draft_diagnostics(
    bench: Workbench, check: DraftCheck, encoding: str, uri_of: Callable[[Path], str]
) -> dict[Path, list[types.Diagnostic]]:
    """The diagnostics of a draft by file; nothing about a sentence that is being typed."""
    severity = _SEVERITIES[settings_for(check.main).severity or _DEFAULT_SEVERITY]
    diagnostics: dict[Path, list[types.Diagnostic]] = {file: [] for file in check.files()}

    def place(file: str) -> TextMap:
        return text_map(check.text(Path(file)), encoding)

    for finding in check.checked.findings:
        if finding.kind == "needs-citation" and not bench.is_being_typed(finding):
            diagnostics[Path(finding.file)].append(
                _needed(finding, check.searched, place(finding.file), severity, uri_of)
            )
    broken = {
        (finding.file, problem.key): problem for finding in check.checked.findings for problem in finding.problems
    }
    for file, citation, key in _cited_keys(check):
        problem = broken.get((file, key))
        if problem is not None or key not in check.document.by_id:
            code = problem.rule if problem else MISSING_ENTRY
            text = problem.message if problem else f"The bibliography has no entry “{key}”."
            places = place(file)
            span = places.range(*_key_span(places.text, citation, key))
            diagnostics[Path(file)].append(
                types.Diagnostic(span, text, types.DiagnosticSeverity.Warning, code=code, source=SOURCE)
            )
    for draft_citation in citations(check.document) if bench.verdicts else ():
        verdict = bench.verdict_on(draft_citation)
        if verdict and verdict.verification.verdict in _REPORTED_VERDICTS:
            span = place(draft_citation.file).range(draft_citation.start, draft_citation.end)
            diagnostics[Path(draft_citation.file)].append(
                _unbacked(verdict, draft_citation.reference.id, span, encoding, uri_of)
            )
    return {file: _unique(items) for file, items in diagnostics.items()}


def _needed(
    finding: Finding,
    searched: bool,
    places: TextMap,
    severity: types.DiagnosticSeverity,
    uri_of: Callable[[Path], str],
) -> types.Diagnostic:
    span = places.range(finding.start, finding.end)
    location = types.Location(uri_of(Path(finding.file)), span)
    evidence = [
        types.DiagnosticRelatedInformation(location, f"[{proposal.key}] {where}: {text}")
        for proposal in finding.recommendations
        for text, where in quotes(proposal.recommendation)[:1]
    ]
    code = f"{NEEDS_CITATION}/{finding.rule}" if finding.rule else NEEDS_CITATION
    return types.Diagnostic(
        span,
        message(finding) if searched else f"This sentence {need_phrase(finding)} ({reason(finding)}).",
        severity,
        code=code,
        source=SOURCE,
        related_information=evidence[:_MAX_EVIDENCE] or None,
    )


def quotes(recommendation: Recommendation) -> list[tuple[str, str]]:
    """The evidence for citing a paper, word for word, and where each sentence is from."""
    cited = [
        (evidence.sentence or evidence.span, f"cited in “{evidence.source.title}”")
        for evidence in recommendation.evidence
    ]
    return [*cited, *((passage.text, passage_place(passage)) for passage in recommendation.passages)]


def _cited_keys(check: DraftCheck) -> Iterator[tuple[str, Citation, str]]:
    for sentence in check.document.sentences:
        for citation in sentence.citations:
            for key in citation.keys:
                yield sentence.file, citation, key


def _key_span(text: str, citation: Citation, key: str) -> tuple[int, int]:
    """Where a key is in its citation; the whole citation if it is not there as such."""
    start = text.find(key, citation.start, citation.end)
    return (start, start + len(key)) if start >= 0 else (citation.start, citation.end)


def _unbacked(
    verdict: PaperVerdict, key: str, span: types.Range, encoding: str, uri_of: Callable[[Path], str]
) -> types.Diagnostic:
    verification = verdict.verification
    evidence = []
    for passage in verification.deciding_first()[:_MAX_EVIDENCE]:
        if (place := verdict.place(passage)) is not None:
            where = f"{passage.section or place.file.name}{f', p. {passage.page}' if passage.page else ''}"
            evidence.append(
                types.DiagnosticRelatedInformation(
                    passage_location(place, encoding, uri_of), f"{where}: {passage.text}"
                )
            )
    return types.Diagnostic(
        span,
        f"{key}: {verification.verdict}, {verification.confidence:.0%} sure; {verification.reason}.",
        types.DiagnosticSeverity.Warning,
        code=verification.verdict.replace(" ", "-"),
        source=SOURCE,
        related_information=evidence or None,
    )


def passage_location(place: PassagePlace, encoding: str, uri_of: Callable[[Path], str]) -> types.Location:
    """A passage of a cited paper as a place that an editor can go to."""
    return types.Location(uri_of(place.file), text_map(place.text, encoding).range(place.start, place.end))


def _unique(diagnostics: list[types.Diagnostic]) -> list[types.Diagnostic]:
    """In the order of the text; a file that a draft reads twice has each only once."""
    unique = {
        (item.range.start.line, item.range.start.character, item.code, item.message): item for item in diagnostics
    }
    return sorted(unique.values(), key=lambda item: (item.range.start.line, item.range.start.character))
