"""What is wrong in a draft, at the sentence, and what the user can do about it.

A citation is needed, or one is retracted, unknown or not backed; the user can cite a paper, ignore the sentence, verify
a citation or open the cited paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from whycite.check.findings import Finding, Proposal
from whycite.check.fix import plan
from whycite.check.fix.edits import DraftProject, FileChange, text_of
from whycite.check.fix.entries import find_bibliography
from whycite.check.reporting.messages import byline, message, need_phrase, reason
from whycite.check.settings import settings_for
from whycite.cite.recommendations import Recommendation, passage_place
from whycite.documents.model import Citation
from whycite.errors import UserError
from whycite.lsp.workbench import DraftCheck, PaperVerdict, PassagePlace, TextMap, Workbench, text_map
from whycite.service.drafts import buffer_bytes
from whycite.verify.draftclaims import DraftCitation, citations

__all__ = [
    "CITE",
    "HEAT_MAP",
    "MISSING_ENTRY",
    "NEEDS_CITATION",
    "OPEN",
    "SOURCE",
    "VERIFY",
    "Editor",
    "citation_commands",
    "cite_edit",
    "draft_diagnostics",
    "entry_change",
    "finding_actions",
    "insertion_edit",
    "passage_location",
    "quotes",
]

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
CITE, VERIFY, OPEN, HEAT_MAP = "whycite.cite", "whycite.verify", "whycite.openPaper", "whycite.heatMap"
_COMMENTS = {"latex": "% {}", "markdown": "<!-- {} -->", "typst": "// {}"}
_MAX_TITLE = 70  # characters of a paper's title in a menu


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


@dataclass(frozen=True, slots=True)
class Editor:
    """How the client counts columns and names files, and whether it takes versions with an edit."""

    encoding: str
    uri_of: Callable[[Path], str]
    version_of: Callable[[Path], int | None]
    versioned: bool


def finding_actions(
    check: DraftCheck, file: Path, finding: Finding, editor: Editor, diagnostics: Iterable[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """Cite one of the papers, or ignore the sentence or the rule; edits of the former are made when one is chosen."""
    related = [
        item for item in diagnostics if item.source == SOURCE and str(item.code).startswith(NEEDS_CITATION)
    ] or None
    for number, proposal in enumerate(finding.recommendations):
        yield types.CodeAction(
            _cite_title(proposal),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=related,
            is_preferred=(number == 0 and proposal.sure) or None,
            data={"file": str(file), "start": finding.start, "key": proposal.key},
        )
    directives = [("Ignore this line", "whycite: ignore")]
    if finding.rule:
        directives.append((f"Ignore the rule {finding.rule} on this line", f"whycite: ignore[{finding.rule}]"))
    comment = _COMMENTS.get(check.document.format)
    for title, directive in directives if comment else ():
        places = text_map(check.text(file), editor.encoding)
        end = places.line_end(finding.start)
        edit = types.TextEdit(places.range(end, end), f" {(comment or '').format(directive)}")
        yield types.CodeAction(
            title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=related,
            edit=_workspace_edit({file: [edit]}, editor),
        )


def citation_commands(citations: Iterable[DraftCitation], file: Path) -> Iterator[types.Command]:
    """Verify a citation against the full text, or open it."""
    for citation in citations:
        arguments: list[Any] = [{"file": str(file), "start": citation.start, "key": citation.reference.id}]
        yield types.Command(f"Verify {citation.reference.id}", VERIFY, arguments=arguments)
        yield types.Command(f"Open {citation.reference.id}", OPEN, arguments=arguments)


def cite_edit(
    check: DraftCheck, start: int, file: Path, key: str, editor: Editor, offered: Proposal | None = None
) -> types.WorkspaceEdit:
    """The change of text and bibliography that makes a sentence cite a paper; UserError if there is none.

    `offered` is a paper of that key that was found after the check.
    """
    choices = {
        index: proposal
        for index, finding in enumerate(check.checked.findings)
        if finding.file == str(file) and finding.start == start
        for proposal in (*finding.recommendations, *([offered] if offered else ()))
        if proposal.key == key
    }
    fix_plan = plan(check.checked, choices, unsaved=buffer_bytes(check.buffers))
    if fix_plan.refused or not fix_plan.changes:
        reason = fix_plan.refused[0].reason if fix_plan.refused else "it was not proposed for this sentence"
        raise UserError(f"{key} cannot be cited here: {reason}")
    return insertion_edit(fix_plan.changes, editor)


def entry_change(check: DraftCheck, proposal: Proposal, unsaved: Mapping[Path, bytes]) -> FileChange:
    """The change that adds the entry of a paper to the bibliography; UserError if there is no place for it."""
    project = DraftProject(check.document, unsaved=unsaved)
    place = find_bibliography(project, project.read())
    if isinstance(place, str):
        raise UserError(f"{proposal.key} was not added: {place}")
    insertion = place.insertion({proposal.key: place.entry(proposal)})
    return FileChange(project.path(place.name), project.label(place.name), place.data, (insertion,))


def insertion_edit(changes: Iterable[FileChange], editor: Editor) -> types.WorkspaceEdit:
    """Insertions into files as one edit."""
    edits: dict[Path, list[types.TextEdit]] = {}
    for change in changes:
        places = text_map(text_of(change.old_content), editor.encoding)
        edits[Path(change.label)] = [
            types.TextEdit(places.range(insertion.offset, insertion.offset), insertion.text)
            for insertion in change.insertions
        ]
    return _workspace_edit(edits, editor)


def _workspace_edit(edits: dict[Path, list[types.TextEdit]], editor: Editor) -> types.WorkspaceEdit:
    if not editor.versioned:
        return types.WorkspaceEdit(changes={editor.uri_of(file): items for file, items in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(editor.uri_of(file), editor.version_of(file)), items
            )
            for file, items in edits.items()
        ]
    )


def _cite_title(proposal: Proposal) -> str:
    paper = proposal.recommendation.paper
    title = " ".join(paper.title.split()) or "(no title)"
    shown = title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE].rsplit(' ', 1)[0]} …"
    new = "" if proposal.in_bibliography else " (adds it to the bibliography)"
    return f"Cite {proposal.key}: {', '.join(filter(None, (shown, byline(paper))))}{new}"
