"""Checks drafts when typing pauses, and publishes what is wrong with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from whycite.check.findings import Proposal
from whycite.errors import MissingExtra, UserError
from whycite.lsp.diagnostics import draft_diagnostics
from whycite.lsp.workbench import CheckStopped, DraftCheck, Workbench
from whycite.service.engine import Progress, no_progress
from whycite.service.loading import keep_caches_open
from whycite.service.remote import Engines, ServerEngine

__all__ = ["CheckingServer", "LspSettings"]

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
_BIBLIOGRAPHIES = (".bib", ".bibtex", ".bbl", ".json", ".yaml", ".yml", ".ris")
_WATCHED = ("**/*.{bib,bibtex,bbl,tex,ltx,md,qmd,Rmd,typ,yaml,yml}", "**/.whycite.toml")
_LOG = logging.getLogger("whycite")


@dataclass(frozen=True, slots=True)
class LspSettings:
    """Settings, which the editor may override with initializationOptions of the same names."""

    library: Path | None = None  # None: the default library
    debounce: float = 0.3  # seconds without a key press until a draft is checked
    idle: float = 3.0  # seconds without a key press until a sentence counts as written
    code_lens: bool = False  # whether to show the number of findings above a draft


class CheckingServer(LanguageServer):
    """Knows the open drafts; handlers run on the event loop, models on threads."""

    def __init__(self, settings: LspSettings, server: str = "", token: str = "") -> None:
        """`server` is the address of a running `whycite serve` that is to answer, and `token` its token.

        They are no settings: those of a project that somebody sent could name a server that collects drafts.
        """
        # Whole texts: pygls applies partial changes by lines that form feeds and line separators end, too.
        super().__init__(
            "whycite", version("whycite"), text_document_sync_kind=types.TextDocumentSyncKind.Full, max_workers=2
        )
        self.settings = settings
        self._server_engine = ServerEngine(server, token, self._tell_later) if server else None
        self.bench = Workbench()
        self._uris: dict[Path, str] = {}
        self._versions: dict[Path, int] = {}
        self._published: dict[Path, set[Path]] = {}  # files with diagnostics, by main file
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._idle_timers: dict[Path, asyncio.TimerHandle] = {}
        self._stops: dict[Path, Event] = {}
        self._shown_messages: set[str] = set()
        self._offered: dict[str, Proposal] = {}  # by the last completion or side bar
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
        self._loop = asyncio.get_running_loop()
        if self._server_engine is None:
            keep_caches_open(self)
        options = params.initialization_options if isinstance(params.initialization_options, dict) else {}
        names = {field.name for field in fields(LspSettings)}
        chosen: dict[str, Any] = {name: value for name, value in options.items() if name in names}
        if isinstance(chosen.get("library"), str):
            chosen["library"] = Path(chosen["library"]).expanduser()
        self.settings = replace(self.settings, **chosen)
        self.bench.engines = Engines(self.settings.library, self._server_engine)

    async def watch_files(self, _: types.InitializedParams) -> None:
        """Ask the editor to tell of changes on disk, if it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            await self.client_register_capability_async(
                types.RegistrationParams([types.Registration("whycite-files", method, options)])
            )

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check the draft of an opened file."""
        document = params.text_document
        self._take(document.uri, document.version, document.text, 0)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Check the draft again once typing pauses."""
        if params.content_changes:
            document = params.text_document
            self._take(document.uri, document.version, params.content_changes[-1].text, self.settings.debounce)

    def _take(self, uri: str, version: int, text: str, delay: float) -> None:
        if (file := self._file(uri)) is not None:
            self._uris[file], self._versions[file] = uri, version
            self._schedule(self.bench.put(file, text), delay)
        elif (file := self._file(uri, _BIBLIOGRAPHIES)) is not None:
            self._uris[file], self._versions[file] = uri, version
            self.bench.put_bibliography(file, text)
            self._check_all()

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check what was saved, including the sentence that was typed last."""
        if (file := self._file(params.text_document.uri)) is not None:
            self.bench.forget_edits()
            self._schedule(self.bench.main_of(file), 0)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a file, and its draft if no other file of it is open."""
        uri = params.text_document.uri
        if (bibliography := self._file(uri, _BIBLIOGRAPHIES)) is not None:
            self.bench.close(bibliography)
            self._check_all()
        if (file := self._file(uri)) is None:
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
        self._check_all()

    def _check_all(self) -> None:
        for main in self.bench.drafts():
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
        report, finish = await _show_progress(self, f"Checking {main.name}", stop) if is_first else (no_progress, None)

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

    # -- names and messages ------------------------------------------------

    @property
    def _encoding(self) -> str:
        return types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value

    def _file(self, uri: str, suffixes: Container[str] = _FORMATS) -> Path | None:
        """The path of a draft; None for what is not a file, or no draft."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        return Path(path) if path and Path(path).suffix.lower() in suffixes else None

    def _uri(self, file: Path) -> str:
        return self._uris.get(file) or from_fs_path(str(file)) or ""

    def _tell(self, message: str) -> None:
        """Show a message, each only once."""
        if message not in self._shown_messages:
            self._shown_messages.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def _tell_later(self, message: str) -> None:
        """Show a message from another thread."""
        self._loop.call_soon_threadsafe(self._tell, message)

    def _log(self, message: str) -> None:
        if message not in self._shown_messages:
            self._shown_messages.add(message)
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))


async def _show_progress(server: LanguageServer, title: str, stop: Event) -> tuple[Progress, Callable[[], None] | None]:
    """What shows the progress of a check, and what ends it; None where the editor shows none."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return no_progress, None
    token, loop = str(uuid4()), asyncio.get_running_loop()
    await server.work_done_progress.create_async(token)
    server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))

    def report(stage: str, count: int, total: int | None) -> None:
        if server.work_done_progress.tokens[token].cancelled():
            stop.set()
            raise CheckStopped
        percentage = round(100 * count / total) if total else None
        value = types.WorkDoneProgressReport(message=stage, percentage=percentage)
        loop.call_soon_threadsafe(send, value)

    def send(value: types.WorkDoneProgressReport) -> None:
        if not stop.is_set():
            server.work_done_progress.report(token, value)

    return report, lambda: server.work_done_progress.end(token, types.WorkDoneProgressEnd())
