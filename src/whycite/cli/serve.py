"""`whycite serve`: the web application and the HTTP API."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.options import LibraryPath
from whycite.errors import UserError

__all__ = ["serve"]

PORT = 8642


def serve(
    host: Annotated[
        str, typer.Option(help="Which address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = PORT,
    token: Annotated[
        str | None, typer.Option(help="Who asks must know it; made up and shown where one is needed and none given.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    library: LibraryPath = None,
) -> None:
    """Open the web application: cite, check, verify and your library, in a browser."""
    import uvicorn

    from whycite.serving.guard import Rules, is_loopback
    from whycite.web.app import create
    from whycite.web.settings import Settings

    if token is not None and len(token) < 8:
        raise UserError("a token shorter than 8 characters protects nothing: give a longer one, or none")
    needed = token or ("" if is_loopback(host) else secrets.token_urlsafe(24))
    bound = _bound(host, port)
    settings = Settings(Path(library) if library else None, Rules(host, needed))
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{bound.getsockname()[1]}/{f'?token={needed}' if needed else ''}"
    print(f"whycite is at {address} (stop it with Ctrl-C)", file=sys.stderr, flush=True)
    config = uvicorn.Config(create(settings), log_level="warning", server_header=False, timeout_graceful_shutdown=3)
    server = uvicorn.Server(config)
    if not no_browser:
        threading.Thread(target=_open, args=(server, address), daemon=True).start()
    server.run(sockets=[bound])


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or a plain word why it cannot."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = socket.socket(found[0], socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(found[4])
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}): try another --port"
        ) from error
    return bound


def _open(server: object, address: str) -> None:
    """Open the browser once there is something to see."""
    import time
    import webbrowser

    while not getattr(server, "started", False):
        time.sleep(0.05)
    webbrowser.open(address)
