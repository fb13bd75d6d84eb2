"""`whycite serve`: the web application and the HTTP API."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from whycite.cli.terminal import LibraryPath
from whycite.errors import UserError

__all__ = ["serve"]

PORT = 8642
_MIN_TOKEN_LENGTH = 8  # characters of a token
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # what listens on all addresses is opened here under this one


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
    from whycite.web.guard import AccessRules, is_loopback

    if not host.strip():
        raise UserError("--host is empty: give an address, or leave it away for this machine alone")
    if token is not None and (len(token) < _MIN_TOKEN_LENGTH or not token.isprintable() or not token.isascii()):
        raise UserError(f"a token has at least {_MIN_TOKEN_LENGTH} letters, digits or signs: give another, or none")
    required_token = token or ("" if is_loopback(host) else secrets.token_urlsafe(24))
    listener = _bind_socket(host, port)
    gc.disable()  # until all is loaded, which takes a tenth less so
    from whycite.web.app import run
    from whycite.web.server import ServerSettings

    address = _address(_EVERYWHERE.get(host, host), listener, required_token)

    def announce() -> None:
        print(f"whycite is at {address} (stop it with Ctrl-C)", file=sys.stderr, flush=True)
        if host in _EVERYWHERE:
            print(
                f"from elsewhere: {_address(socket.gethostname(), listener, required_token)}",
                file=sys.stderr,
                flush=True,
            )
        if not no_browser:
            threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

    run(
        ServerSettings(Path(library) if library else None, AccessRules(host, required_token), warm=True),
        listener,
        announce,
    )


def _bind_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound, or a plain word why it cannot be."""
    listener = None
    try:
        family, kind, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind)
        if os.name == "posix":  # elsewhere it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"{host}:{port} cannot be listened on ({reason}): try another --port or --host") from error
    return listener


def _address(host: str, listener: socket.socket, token: str) -> str:
    from urllib.parse import quote

    name = f"[{host}]" if ":" in host else host
    token_query = "?token=" + quote(token, safe="") if token else ""
    return f"http://{name}:{listener.getsockname()[1]}/{token_query}"


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
