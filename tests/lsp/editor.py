"""An editor for tests: a client that opens, changes and saves files, and waits for what the server says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from whycite.lsp.features import LspSettings, create
from whycite.lsp.workbench import TextMap

__all__ = ["Editor", "Session", "apply_edits", "connect", "play"]

_SECONDS = 60  # to wait for an answer; a busy machine is slow
CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        apply_edit=True,
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"])
        )
    ),
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
    general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16]),
)


class Editor(LanguageClient):
    """Keeps the texts of open files, and what the server published."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.texts: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.reports: list[Any] = []  # of progress
        self.edits: list[types.WorkspaceEdit] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.registrations: list[types.Registration] = []
        self._news = asyncio.Condition()

        for method, handler in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._take_diagnostics),
            (types.WINDOW_SHOW_MESSAGE, self._take_message),
            (types.WINDOW_LOG_MESSAGE, self._ignore),
            (types.WINDOW_WORK_DONE_PROGRESS_CREATE, self._ignore),
            (types.PROGRESS, self._take_progress),
            (types.WORKSPACE_APPLY_EDIT, self._take_edit),
            (types.WINDOW_SHOW_DOCUMENT, self._take_document),
            (types.CLIENT_REGISTER_CAPABILITY, self._take_registration),
        ):
            self.feature(method)(partial(handler))

    async def _take_diagnostics(self, params: Any) -> None:
        self.published.setdefault(params.uri, []).append(params)
        await self._wake()

    async def _take_message(self, params: Any) -> None:
        self.messages.append(params.message)
        await self._wake()

    async def _take_progress(self, params: Any) -> None:
        self.reports.append(params.value)
        await self._wake()

    async def _take_edit(self, params: Any) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params.edit)
        return types.ApplyWorkspaceEditResult(True)

    async def _take_document(self, params: Any) -> types.ShowDocumentResult:
        self.shown.append(params)
        return types.ShowDocumentResult(True)

    async def _take_registration(self, params: Any) -> None:
        self.registrations += params.registrations
        await self._wake()

    async def _ignore(self, params: Any) -> None:
        pass

    async def _wake(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def wait_for(self, condition: Any) -> None:
        """Wait until something that the server says makes a condition true."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(condition), _SECONDS)

    def open(self, file: Path, language: str = "latex") -> None:
        """Open a file."""
        self.texts[file], self.versions[file] = file.read_bytes().decode(), 1
        item = types.TextDocumentItem(file.as_uri(), language, 1, self.texts[file])
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, file: Path, text: str) -> None:
        """Type something."""
        self.texts[file] = text
        self.versions[file] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[file], file.as_uri())
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self, file: Path) -> None:
        """Save a file."""
        file.write_bytes(self.texts[file].encode())
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(file.as_uri())))

    def last(self, file: Path) -> types.PublishDiagnosticsParams | None:
        """What was published last about a file."""
        published = self.published.get(file.as_uri())
        return published[-1] if published else None

    async def diagnostics(self, file: Path, publications: int = 1) -> list[types.Diagnostic]:
        """The diagnostics of the text that is open, once so many were published for it."""
        await self.wait_for(
            lambda: sum(p.version == self.versions[file] for p in self.published.get(file.as_uri(), ())) >= publications
        )
        last = self.last(file)
        assert last is not None
        return list(last.diagnostics)

    def position(self, file: Path, words: str, after: bool = False) -> types.Position:
        """Where words are in an open file."""
        text = self.texts[file]
        return TextMap(text, "utf-16").position(text.index(words) + (len(words) if after else 0))

    def cursor(self, file: Path, words: str, after: bool = False) -> dict[str, Any]:
        """The place of words, as most questions name it."""
        return {
            "text_document": types.TextDocumentIdentifier(file.as_uri()),
            "position": self.position(file, words, after),
        }

    async def actions(self, file: Path, words: str) -> dict[str, Any]:
        """The code actions and commands at words, by title."""
        place = self.position(file, words)
        answer = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(file.as_uri()), types.Range(place, place), types.CodeActionContext([])
            )
        )
        return {action.title: action for action in answer or ()}

    async def evidence(self, file: Path, words: str) -> Any:
        """What a side bar would show of the sentence at words."""
        place = self.position(file, words)
        return await self.protocol.send_request_async(
            "whycite/evidence",
            {"textDocument": {"uri": file.as_uri()}, "position": {"line": place.line, "character": place.character}},
        )

    async def execute(self, command: types.Command) -> Any:
        """Let the server execute a command."""
        return await self.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, command.arguments)
        )

    def apply(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """The texts of the files that an edit changes, by name."""
        changed = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            file = Path(change.text_document.uri.removeprefix("file://"))
            text = self.texts[file] if file in self.texts else file.read_bytes().decode()
            changed[file.name] = apply_edits(text, [e for e in change.edits if isinstance(e, types.TextEdit)])
        return changed


Session = Callable[[Editor], Coroutine[Any, Any, None]]


def apply_edits(text: str, edits: Iterable[types.TextEdit], encoding: str = "utf-16") -> str:
    """A text after edits."""
    places = TextMap(text, encoding)
    for edit in sorted(edits, key=lambda edit: places.offset(edit.range.start), reverse=True):
        text = text[: places.offset(edit.range.start)] + edit.new_text + text[places.offset(edit.range.end) :]
    return text


@asynccontextmanager
async def connect(
    settings: LspSettings | None = None,
    capabilities: types.ClientCapabilities = CAPABILITIES,
    options: dict[str, Any] | None = None,
    address: str = "",
) -> AsyncIterator[Editor]:
    """An editor beside a server, which runs in this process and listens on a port of its own.

    With an `address`, the whycite there has the models.
    """
    server = create(settings or LspSettings(debounce=0.02, idle=60), address)
    stop, disconnected = threading.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.protocol.set_writer(writer)
        await run_async(stop, reader, server.protocol)
        writer.close()
        disconnected.set()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    editor = Editor()
    await editor.start_tcp("127.0.0.1", listener.sockets[0].getsockname()[1])
    await editor.initialize_async(types.InitializeParams(capabilities, initialization_options=options))
    editor.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        await editor.shutdown_async(None)
        stop.set()
        editor.protocol.writer.close()  # type: ignore[union-attr]
        listener.close()
        server.close()
        await asyncio.wait_for(disconnected.wait(), _SECONDS)
        await editor.stop()  # type: ignore[no-untyped-call]


def play(session: Session, settings: LspSettings | None = None, **options: Any) -> None:
    """Let a session in an editor happen."""

    async def act() -> None:
        async with connect(settings, **options) as editor:
            await asyncio.wait_for(session(editor), _SECONDS)

    asyncio.run(act())
