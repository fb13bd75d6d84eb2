"""The progress of a check in the editor's status line, where the user may cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from uuid import uuid4

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from whycite.lsp.workbench import CheckStopped, Report

__all__ = ["no_report", "show_progress"]


def no_report(stage: str, count: int, total: int | None) -> None:
    """For checks whose progress nobody sees."""


async def show_progress(server: LanguageServer, title: str, stop: Event) -> tuple[Report, Callable[[], None] | None]:
    """What shows the progress of a check, and what ends it; None where the editor shows none."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return no_report, None
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
