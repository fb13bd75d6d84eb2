"""What the user can do about a sentence: cite a paper, ignore it, verify a citation, open the cited paper."""

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
from whycite.check.reporting.messages import byline
from whycite.errors import UserError
from whycite.lsp.diagnostics import NEEDS_CITATION, SOURCE
from whycite.lsp.workbench import DraftCheck, text_map
from whycite.service.drafts import buffer_bytes
from whycite.verify.draftclaims import DraftCitation

__all__ = [
    "CITE",
    "HEAT_MAP",
    "OPEN",
    "VERIFY",
    "Editor",
    "citation_commands",
    "cite_edit",
    "entry_change",
    "finding_actions",
    "insertion_edit",
]

CITE, VERIFY, OPEN, HEAT_MAP = "whycite.cite", "whycite.verify", "whycite.openPaper", "whycite.heatMap"
_COMMENTS = {"latex": "% {}", "markdown": "<!-- {} -->", "typst": "// {}"}
_MAX_TITLE = 70  # characters of a paper's title in a menu


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
