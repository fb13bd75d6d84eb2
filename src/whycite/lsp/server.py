"""The server: listens to the editor, checks drafts when typing pauses, and answers questions about the cursor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from whycite.check.findings import Proposal
from whycite.errors import MissingExtra, UserError
from whycite.lsp.actions import (
    OPEN,
    VERIFY,
    Editor,
    citation_commands,
    cite_edit,
    entry_change,
    finding_actions,
    insertion_edit,
)
from whycite.lsp.completion import ADD_ENTRY, citation_context, completion_items
from whycite.lsp.diagnostics import draft_diagnostics
from whycite.lsp.positions import text_map
from whycite.lsp.references import definition_place, describe_reference
from whycite.lsp.workbench import CheckStopped, DraftCheck, Workbench
from whycite.service.drafts import buffer_bytes, propose_papers

__all__ = ["DraftServer", "LspSettings", "create"]

_FORMATS = {
    ".tex": "latex",
    ".ltx": "latex",
    ".latex": "latex",
    ".md": "markdown",
    ".markdown": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".typ": "typst",
}
_PATIENCE = 3.0  # seconds that a question waits for a check of the current text
_COMPLETED_PAPERS = 8  # by meaning
_LOG = logging.getLogger("whycite")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LspSettings:
    """Settings, which the editor may override with initializationOptions of the same names."""

    library: Path | None = None  # None: the default library
    debounce: float = 0.3  # seconds without a key press until a draft is checked
    idle: float = 3.0  # seconds without a key press until a sentence counts as written
    code_lens: bool = False  # whether to show the number of findings above a draft


def create(settings: LspSettings | None = None) -> DraftServer:
    """A server that waits for an editor."""
    server = DraftServer(settings or LspSettings())
    for method, handler in (
        (types.INITIALIZE, server.initialize),
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
    ):
        server.feature(method)(partial(handler))  # pygls marks what it registers, which a method does not allow
    action_options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix], resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, action_options)(partial(server.code_actions))
    completion_options = types.CompletionOptions(trigger_characters=["{", ",", "@", "<"])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, completion_options)(partial(server.completion))
    server.command(VERIFY)(partial(server.verify_citation))
    server.command(OPEN)(partial(server.open_paper))
    server.command(ADD_ENTRY)(partial(server.add_entry))
    return server


class DraftServer(LanguageServer):
    """A language server for drafts; handlers run on the event loop, models on threads."""

    def __init__(self, settings: LspSettings) -> None:
        # Whole texts: pygls applies partial changes by lines that form feeds and line separators end, too.
        super().__init__(
            "whycite", version("whycite"), text_document_sync_kind=types.TextDocumentSyncKind.Full, max_workers=2
        )
        self.settings = settings
        self.bench = Workbench(settings.library)
        self._uris: dict[Path, str] = {}
        self._versions: dict[Path, int] = {}
        self._published: dict[Path, set[Path]] = {}  # files with diagnostics, by main file
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._idle_timers: dict[Path, asyncio.TimerHandle] = {}
        self._stops: dict[Path, Event] = {}
        self._shown_messages: set[str] = set()
        self._offered: dict[str, Proposal] = {}  # by the last completion
        self._checker = ThreadPoolExecutor(1, "whycite-check")  # one at a time: the models use all cores
        self._answerer = ThreadPoolExecutor(2, "whycite-answer")

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong; a message to the editor could itself be what does not work."""
        _LOG.error("%s", error)

    def close(self, _: None = None) -> None:
        """Stop all checks, and say nothing more."""
        for main in [*self._tasks]:
            self._stop(main)
        for timer in self._idle_timers.values():
            timer.cancel()
        self._checker.shutdown(wait=False, cancel_futures=True)
        self._answerer.shutdown(wait=False, cancel_futures=True)

    # -- what the editor tells ---------------------------------------------

    def initialize(self, params: types.InitializeParams) -> None:
        """Take the editor's options."""
        options = params.initialization_options if isinstance(params.initialization_options, dict) else {}
        known = {name.name for name in fields(LspSettings)}
        chosen: dict[str, Any] = {name: value for name, value in options.items() if name in known}
        if isinstance(chosen.get("library"), str):
            chosen["library"] = Path(chosen["library"]).expanduser()
        self.settings = replace(self.settings, **chosen)
        self.bench.library = self.settings.library

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check the draft of an opened file."""
        if (file := self._file(params.text_document.uri)) is not None:
            self._uris[file] = params.text_document.uri
            self._versions[file] = params.text_document.version
            self._schedule(self.bench.put(file, params.text_document.text), 0)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Check the draft again once typing pauses."""
        file = self._file(params.text_document.uri)
        if file is None or not params.content_changes:
            return
        self._versions[file] = params.text_document.version
        self._schedule(self.bench.put(file, params.content_changes[-1].text), self.settings.debounce)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check what was saved, including the sentence that was typed last."""
        if (file := self._file(params.text_document.uri)) is not None:
            self.bench.forget_edits()
            self._schedule(self.bench.main_of(file), 0)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a file, and its draft if no other file of it is open."""
        file = self._file(params.text_document.uri)
        if file is None:
            return
        main = self.bench.close(file)
        if self.bench.open_files(main):
            self._schedule(main, self.settings.debounce)
            return
        self._stop(main)
        self.bench.checks.pop(main, None)
        for published in self._published.pop(main, set()):
            self._publish(published, [])

    def did_change_files(self, _: types.DidChangeWatchedFilesParams) -> None:
        """Check all drafts again: a bibliography or the settings changed."""
        for main in {self.bench.main_of(file) for file in self.bench.buffers}:
            self._schedule(main, self.settings.debounce)

    # -- checking ----------------------------------------------------------

    def _schedule(self, main: Path, delay: float) -> None:
        """Check a draft after a while, instead of any check that was to come or is running."""
        self._stop(main)
        stop = self._stops[main] = Event()
        loop = asyncio.get_running_loop()
        self._tasks[main] = loop.create_task(self._check_later(main, delay, stop))
        if timer := self._idle_timers.pop(main, None):
            timer.cancel()
        self._idle_timers[main] = loop.call_later(self.settings.idle, self._rest, main)

    def _stop(self, main: Path) -> None:
        if main in self._stops:
            self._stops[main].set()
        if main in self._tasks:
            self._tasks[main].cancel()

    async def _check_later(self, main: Path, delay: float, stop: Event) -> None:
        await asyncio.sleep(delay)
        loop = asyncio.get_running_loop()
        buffers = dict(self.bench.buffers)
        is_first = main not in self.bench.checks
        report, finish = await self._progress(main, stop) if is_first else (lambda stage, count, total: None, None)

        def show_judged(check: DraftCheck) -> None:
            if is_first:  # later, findings with papers are there almost as soon
                loop.call_soon_threadsafe(self._show, check, stop)

        try:
            check = await loop.run_in_executor(
                self._checker, self.bench.check, main, buffers, stop, report, show_judged
            )
            self._show(check, stop)
        except (UserError, MissingExtra) as error:
            self._tell(str(error))
        except CheckStopped:
            pass
        except Exception as error:
            _LOG.exception("cannot check %s", main)
            self._tell(f"An internal error occurred while checking {main.name} ({type(error).__name__}).")
            raise
        finally:
            if finish is not None:
                finish()

    def _show(self, check: DraftCheck, stop: Event) -> None:
        """Publish the findings of a check, unless the draft changed meanwhile."""
        if stop.is_set():
            return
        self.bench.checks[check.main] = check
        diagnostics = draft_diagnostics(self.bench, check, self._encoding, self._uri)
        for file in self._published.get(check.main, set()) - diagnostics.keys():
            self._publish(file, [])
        for file, items in diagnostics.items():
            self._publish(file, items)
        self._published[check.main] = {*diagnostics}
        for warning in check.checked.warnings:
            self._log(warning)

    def _rest(self, main: Path) -> None:
        """Typing has stopped: show the findings of the last sentence, too."""
        self.bench.forget_edits()
        check = self.bench.checks.get(main)
        if check is not None and self.bench.is_current(check):
            self._show(check, self._stops[main])

    def _publish(self, file: Path, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(self._uri(file), diagnostics, self._versions.get(file))
        )

    async def _progress(
        self, main: Path, stop: Event
    ) -> tuple[Callable[[str, int, int | None], None], Callable[[], None] | None]:
        """What shows the progress of a check, and what ends it; the user may cancel the check."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return (lambda stage, count, total: None), None
        token, loop = str(uuid4()), asyncio.get_running_loop()
        await self.work_done_progress.create_async(token)
        self.work_done_progress.begin(
            token, types.WorkDoneProgressBegin(f"Checking {main.name}", cancellable=True, percentage=0)
        )

        def report(stage: str, count: int, total: int | None) -> None:
            if self.work_done_progress.tokens[token].cancelled():
                stop.set()
                raise CheckStopped
            percentage = round(100 * count / total) if total else None
            value = types.WorkDoneProgressReport(message=stage, percentage=percentage)
            loop.call_soon_threadsafe(send, value)

        def send(value: types.WorkDoneProgressReport) -> None:
            if not stop.is_set():
                self.work_done_progress.report(token, value)

        return report, lambda: self.work_done_progress.end(token, types.WorkDoneProgressEnd())

    # -- what the editor asks ----------------------------------------------

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
            proposals = await self._answer(
                propose_papers, check.document, context.claim, place, self.bench.library, _COMPLETED_PAPERS
            )
        self._offered = {proposal.key: proposal for proposal in proposals}
        items = completion_items(context, check.document, proposals, places, self._uri(check.main))
        return types.CompletionList(is_incomplete=True, items=list(items))

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The reference of the key at the cursor."""
        place = await self._key_at(params)
        if place is None:
            return None
        check, key, start = place
        text = describe_reference(self.bench, check, key, start)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def definition(self, params: types.DefinitionParams) -> types.Location | None:
        """The entry of the key at the cursor."""
        place = await self._key_at(params)
        entry = await self._answer(definition_place, place[0], place[1]) if place else None
        if entry is None:
            return None
        file, text, offset = entry
        return types.Location(self._uri(file), text_map(text, self._encoding).range(offset, offset))

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

    async def verify_citation(self, place: Any) -> str:
        """Verify a citation; its verdict then shows as a diagnostic and in hovers."""
        check, citation = await self._citation_at(place)
        verdict = await self._answer(self.bench.verify, citation)
        self._show(check, self._stops[check.main])
        verification = verdict.verification
        message = f"{citation.reference.id}: {verification.verdict} ({verification.reason})"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
        return verification.verdict

    async def open_paper(self, place: Any) -> str:
        """Open the full text of a cited paper."""
        _, citation = await self._citation_at(place)
        try:
            path = await self._answer(self.bench.paper_path, citation)
        except UserError as error:
            raise JsonRpcException(str(error)) from error
        is_text = Path(path).suffix.lower() != ".pdf"
        await self.window_show_document_async(types.ShowDocumentParams(self._uri(Path(path)), external=not is_text))
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
        raise JsonRpcException("The draft has changed; try again in a moment.")

    async def _answer(self, function: Callable[..., _T], *args: Any) -> _T:
        """Run a function on another thread; the client may cancel the request meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._answerer, function, *args)

    @property
    def _encoding(self) -> str:
        return types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value

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

    def _file(self, uri: str) -> Path | None:
        """The path of a draft; None for what is not a file, or no draft."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        return Path(path) if path and Path(path).suffix.lower() in _FORMATS else None

    def _uri(self, file: Path) -> str:
        return self._uris.get(file) or from_fs_path(str(file)) or ""

    def _tell(self, message: str) -> None:
        """Show a message, each only once."""
        if message not in self._shown_messages:
            self._shown_messages.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def _log(self, message: str) -> None:
        if message not in self._shown_messages:
            self._shown_messages.add(message)
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))
