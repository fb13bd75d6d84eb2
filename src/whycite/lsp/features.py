"""The server: registers what editors can ask for, and answers questions about the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from whycite.check.findings import Proposal
from whycite.errors import UserError
from whycite.lsp.checking import CheckingServer, LspSettings
from whycite.lsp.completion import ADD_ENTRY, citation_context, completion_items
from whycite.lsp.diagnostics import (
    CITE,
    HEAT_MAP,
    OPEN,
    VERIFY,
    Editor,
    citation_commands,
    cite_edit,
    entry_change,
    finding_actions,
    insertion_edit,
    passage_location,
)
from whycite.lsp.evidence import (
    EVIDENCE,
    EvidenceReply,
    definition_place,
    describe_reference,
    finding_at,
    papers_for,
    sentence_evidence,
    verified_citations,
)
from whycite.lsp.workbench import DraftCheck, PaperVerdict, text_map
from whycite.service.drafts import buffer_bytes
from whycite.verify import heatmap

__all__ = ["DraftServer", "LspSettings", "create"]

_PATIENCE = 3.0  # seconds that a question waits for a check of the current text
_COMPLETED_PAPERS = 8  # by meaning
_CHANGED = "The draft has changed; try again in a moment."
_T = TypeVar("_T")


def create(settings: LspSettings | None = None, server_address: str = "", token: str = "") -> DraftServer:
    """A server that waits for an editor."""
    server = DraftServer(settings or LspSettings(), server_address, token)
    for method, handler in (
        (types.INITIALIZE, server.initialize),
        (types.INITIALIZED, server.watch_files),
        (types.SHUTDOWN, server.close),
        (types.TEXT_DOCUMENT_DID_OPEN, server.did_open),
        (types.TEXT_DOCUMENT_DID_CHANGE, server.did_change),
        (types.TEXT_DOCUMENT_DID_SAVE, server.did_save),
        (types.TEXT_DOCUMENT_DID_CLOSE, server.did_close),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, server.did_change_files),
        (types.TEXT_DOCUMENT_HOVER, server.hover),
        (types.TEXT_DOCUMENT_DEFINITION, server.definition),
        (types.TEXT_DOCUMENT_CODE_LENS, server.code_lens),
        (types.CODE_ACTION_RESOLVE, server.resolve_action),
        (EVIDENCE, server.evidence),
    ):
        server.feature(method)(partial(handler))  # pygls marks what it registers, which a method does not allow
    action_options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix], resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, action_options)(partial(server.code_actions))
    completion_options = types.CompletionOptions(trigger_characters=["{", ",", "@", "<"])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, completion_options)(partial(server.completion))
    server.command(CITE)(partial(server.cite))
    server.command(HEAT_MAP)(partial(server.heat_map))
    server.command(VERIFY)(partial(server.verify_citation))
    server.command(OPEN)(partial(server.open_paper))
    server.command(ADD_ENTRY)(partial(server.add_entry))
    return server


class DraftServer(CheckingServer):
    """A language server for drafts."""

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """What can be done about the sentences and citations in a range."""
        file = self._file(params.text_document.uri)
        check = await self._current_check(file)
        if file is None or check is None:
            return []
        places = text_map(check.text(file), self._encoding)
        start, end = places.offset(params.range.start), places.offset(params.range.end)
        editor = self._editor
        actions = [
            action
            for finding in check.checked.findings
            if finding.file == str(file) and finding.start <= end and finding.end >= start
            if finding.kind == "needs-citation"
            for action in finding_actions(check, file, finding, editor, params.context.diagnostics)
        ]
        if not self._resolves_edits:
            for action in actions:
                if action.edit is None:
                    await self.resolve_action(action)
        return [*actions, *citation_commands(self.bench.citations_at(check, file, start, end), file)]

    async def resolve_action(self, action: types.CodeAction) -> types.CodeAction:
        """Make the edit of an action that cites a paper."""
        data: Any = action.data
        if action.edit is not None or not isinstance(data, dict):
            return action
        file = Path(data["file"])
        check = await self._current_check(file)
        try:
            if check is None:
                raise UserError("the draft has changed; try again in a moment")
            action.edit = await self._answer(cite_edit, check, data["start"], file, data["key"], self._editor)
        except UserError as error:
            action.disabled = types.CodeActionDisabled(str(error))
            if self._resolves_edits:
                raise JsonRpcException(str(error)) from error
        return action

    async def completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        """Papers to cite at the cursor."""
        file = self._file(params.text_document.uri)
        check = self.bench.check_of(file) if file is not None else None
        if file is None or check is None:
            return None
        text = self.bench.buffers[file]
        places = text_map(text, self._encoding)
        context = citation_context(text, places.offset(params.position), check.document.format)
        if context is None:
            return None
        place = check.sentence_at(file, context.start)
        proposals: list[Proposal] = []
        if context.claim:
            proposals = await self._answer(self.bench.propose, check, context.claim, place, _COMPLETED_PAPERS)
        self._offered = {proposal.key: proposal for proposal in proposals}
        items = completion_items(context, check.document, proposals, places, self._uri(check.main))
        return types.CompletionList(is_incomplete=True, items=list(items))

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The reference of the key at the cursor."""
        place = await self._key_at(params)
        if place is None:
            return None
        check, key, start = place
        text = await self._answer(describe_reference, self.bench, check, key, start)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        """The entry of the key at the cursor, and the passage that decided if the citation was verified."""
        if (place := await self._key_at(params)) is None:
            return []
        check, key, start = place
        locations = []
        if (entry := await self._answer(definition_place, check, key)) is not None:
            file, text, offset = entry
            locations.append(types.Location(self._uri(file), text_map(text, self._encoding).range(offset, offset)))
        for citation in verified_citations(self.bench, check, key, start):
            passage = self._passage(self.bench.verdict_on(citation))
            locations += [passage] if passage else []
        return locations

    def _passage(self, verdict: PaperVerdict | None) -> types.Location | None:
        """The passage that a verdict rests on, where the full text can be shown."""
        passages = verdict.verification.deciding_first() if verdict else ()
        place = verdict.place(passages[0]) if verdict and passages else None
        return passage_location(place, self._encoding, self._uri) if place else None

    async def code_lens(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """The number of findings above a draft, if the editor asked for it."""
        file = self._file(params.text_document.uri)
        check = await self._current_check(file) if self.settings.code_lens else None
        if file is None or check is None:
            return []
        findings = [finding for finding in check.checked.findings if finding.file == str(file)]
        needing = sum(finding.kind == "needs-citation" for finding in findings)
        title = f"{needing} of {len(findings)} sentences need a citation"
        start = types.Position(0, 0)
        return [types.CodeLens(types.Range(start, start), types.Command(title, ""))]

    async def evidence(self, params: Any) -> EvidenceReply | None:
        """What a side bar shows of the sentence at the cursor."""
        file = self._file(params.textDocument.uri)
        check = await self._current_check(file)
        if file is None or check is None:
            return None
        position = types.Position(params.position.line, params.position.character)
        offset = text_map(check.text(file), self._encoding).offset(position)
        if (finding := finding_at(check, file, offset)) is None:
            return None
        proposals = await self._answer(papers_for, self.bench, check, finding)
        self._offered = {proposal.key: proposal for proposal in proposals}
        return await self._answer(sentence_evidence, self.bench, check, finding, proposals, self._encoding)

    async def cite(self, place: Any) -> bool:
        """Make a sentence cite a paper that was offered for it."""
        file = Path(place["file"])
        check = await self._current_check(file)
        if check is None:
            raise JsonRpcException(_CHANGED)
        offered = self._offered.get(place["key"])
        try:
            edit = await self._answer(cite_edit, check, place["start"], file, place["key"], self._editor, offered)
        except UserError as error:
            raise JsonRpcException(str(error)) from error
        answer = await self.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, f"Cite {place['key']}"))
        return answer.applied

    async def verify_citation(self, place: Any) -> str:
        """Verify a citation; its verdict then shows as a diagnostic and in hovers."""
        check, citation = await self._citation_at(place)
        verdict = await self._answer(self.bench.verify, check.main, citation)
        self._show(check, self._stops[check.main])
        verification = verdict.verification
        message = f"{citation.reference.id}: {verification.verdict} ({verification.reason})"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
        return verification.verdict

    async def heat_map(self, place: Any) -> dict[str, str]:
        """The cited paper as a page, shaded by what its sentences say of the claim."""
        check, citation = await self._citation_at(place)
        verdict = self.bench.verdict_on(citation)
        if verdict is None:
            verdict = await self._answer(self.bench.verify, check.main, citation)
        self._show(check, self._stops[check.main])
        if verdict.document is None:
            raise JsonRpcException(f"{citation.reference.id}: {verdict.verification.reason}")
        page = await self._answer(heatmap.html, verdict.document, verdict.verification)
        return {"title": f"{citation.reference.id}: {verdict.verification.verdict}", "html": page}

    async def open_paper(self, place: Any) -> str:
        """Open the full text of a cited paper, at the passage that decided if it was verified."""
        check, citation = await self._citation_at(place)
        try:
            path = await self._answer(self.bench.paper_path, check.main, citation)
        except UserError as error:
            raise JsonRpcException(str(error)) from error
        window = self.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            passage = self._passage(self.bench.verdict_on(citation))
            is_text = Path(path).suffix.lower() != ".pdf"
            await self.window_show_document_async(
                types.ShowDocumentParams(
                    self._uri(Path(path)),
                    external=not is_text,
                    take_focus=True,
                    selection=passage.range if passage and is_text else None,
                )
            )
        else:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, path))
        return path

    async def add_entry(self, entry: Any) -> None:
        """Add the entry of a paper whose key was completed to the bibliography."""
        file = self._file(entry["uri"])
        check = self.bench.checks.get(file) if file is not None else None
        proposal = self._offered.get(entry["key"])
        if check is None or proposal is None or proposal.key in check.document.by_id:
            return
        try:
            change = await self._answer(entry_change, check, proposal, buffer_bytes(self.bench.buffers))
        except UserError as error:
            self._tell(str(error))
            return
        await self.workspace_apply_edit_async(
            types.ApplyWorkspaceEditParams(insertion_edit([change], self._editor), f"Add {proposal.key}")
        )

    # -- helpers -----------------------------------------------------------

    async def _current_check(self, file: Path | None) -> DraftCheck | None:
        """The check of the current text, for which it waits a little; None if there is none yet."""
        if file is None:
            return None
        task = self._tasks.get(self.bench.main_of(file))
        if task is not None and not task.done():
            await asyncio.wait([task], timeout=_PATIENCE)
        check = self.bench.check_of(file)
        return check if check is not None and self.bench.is_current(check) else None

    async def _key_at(self, params: types.HoverParams | types.DefinitionParams) -> tuple[DraftCheck, str, int] | None:
        """The key at the cursor, and where its citation starts."""
        file = self._file(params.text_document.uri)
        check = await self._current_check(file)
        if file is None or check is None:
            return None
        offset = text_map(check.text(file), self._encoding).offset(params.position)
        key, citation = check.key_at(file, offset), check.citation_at(file, offset)
        return (check, key, citation[1].start) if key is not None and citation is not None else None

    async def _citation_at(self, place: Any) -> tuple[DraftCheck, Any]:
        file = Path(place["file"])
        check = await self._current_check(file)
        for citation in self.bench.citations_at(check, file, place["start"], place["start"]) if check else ():
            if check and citation.reference.id == place["key"]:
                return check, citation
        raise JsonRpcException(_CHANGED)

    async def _answer(self, function: Callable[..., _T], *args: Any) -> _T:
        """Run a function on another thread; the client may cancel the request meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._answerer, function, *args)

    @property
    def _editor(self) -> Editor:
        edits = self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit
        return Editor(self._encoding, self._uri, self._versions.get, bool(edits and edits.document_changes))

    @property
    def _resolves_edits(self) -> bool:
        """Whether the client asks for the edit of an action when the user has chosen it."""
        document = self.client_capabilities.text_document
        support = document and document.code_action and document.code_action.resolve_support
        return bool(support and "edit" in support.properties)
