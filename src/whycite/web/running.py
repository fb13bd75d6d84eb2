"""The server: it answers at once, loads what it needs meanwhile, and stops when it is told to."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable

import uvicorn

from whycite.web import uploads
from whycite.web.api.shared import Server
from whycite.web.app import assemble
from whycite.web.settings import Settings

__all__ = ["run"]

_PATIENCE = 3  # seconds for answers that are on their way
_CONNECTIONS = 1_000  # at once; beyond them the door is closed
_STOPPED = 130


def run(settings: Settings, bound: socket.socket, started: Callable[[], None]) -> None:
    """Serve until the program is stopped; `started` is called when the first answer can be given."""
    app, server = assemble(settings)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # addresses may hold a token
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE,
        limit_concurrency=_CONNECTIONS,
    )
    try:
        _Serving(config, server, started).run(sockets=[bound])
    finally:
        if not server.close(_PATIENCE):
            _leave()


class _Serving(uvicorn.Server):
    """Says when it has started, and lets those go who wait for news before it stops."""

    def __init__(self, config: uvicorn.Config, server: Server, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._server, self._begun = server, begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening."""
        self._server.adding.stop()
        await super().shutdown(sockets)


def _leave() -> None:
    """End without waiting for threads: they are at work for nobody, and Python would wait for them."""
    uploads.forget()
    print("whycite: stopped", file=sys.stderr, flush=True)
    os._exit(_STOPPED)
