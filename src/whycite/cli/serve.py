"""`whycite serve`: start the web application and the HTTP API."""

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
_MIN_TOKEN_LENGTH = 8  # characters
_EVERYWHERE = {
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
}  # addresses to open in a browser for servers that listen on all interfaces


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; any other than localhost requires a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WHYCITE_TOKEN",
            show_envvar=False,
            help="Access token, also $WHYCITE_TOKEN; generated and printed if one is required.",
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with the access token, which other users then cannot see."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    projects: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            envvar="WHYCITE_PROJECTS",
            show_envvar=False,
            help="Where projects are kept, also $WHYCITE_PROJECTS; by default in your data folder.",
        ),
    ] = None,
    library: LibraryPath = None,
) -> None:
    """Start the web application: cite, check, verify and manage your library in a browser."""
    from whycite.web.guard import AccessRules, is_loopback

    if not host.strip():
        raise UserError("--host is empty; give an address, or omit it to listen on this machine only")
    if token_file is not None:
        token = _read_token(Path(token_file))
    if token is not None and (len(token) < _MIN_TOKEN_LENGTH or not token.isprintable() or not token.isascii()):
        raise UserError(
            f"the token must have at least {_MIN_TOKEN_LENGTH} printable ASCII characters; omit it to generate one"
        )
    required_token = token or ("" if is_loopback(host) else secrets.token_urlsafe(24))
    listener = _bind_socket(host, port)
    gc.disable()  # until everything is loaded, which takes a tenth less time
    from whycite.web.app import run
    from whycite.web.server import ServerSettings

    address = _address(_EVERYWHERE.get(host, host), listener, required_token)

    def announce() -> None:
        print(f"whycite is running at {address} (press Ctrl-C to stop)", file=sys.stderr, flush=True)
        if host in _EVERYWHERE:
            print(
                f"From other machines: {_address(socket.gethostname(), listener, required_token)}",
                file=sys.stderr,
                flush=True,
            )
        if not no_browser:
            threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

    run(
        ServerSettings(
            Path(library) if library else None,
            AccessRules(host, required_token),
            warm=True,
            projects=Path(projects).expanduser() if projects else None,
        ),
        listener,
        announce,
    )


def _read_token(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise UserError(f"{file}: the token cannot be read: {reason}") from error


def _bind_socket(host: str, port: int) -> socket.socket:
    """A bound socket, or a UserError that says why it cannot be bound."""
    listener = None
    try:
        family, kind, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind)
        if os.name == "posix":  # on Windows this would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"cannot listen on {host}:{port} ({reason}); try another --port or --host") from error
    return listener


def _address(host: str, listener: socket.socket, token: str) -> str:
    from urllib.parse import quote

    name = f"[{host}]" if ":" in host else host
    token_query = "?token=" + quote(token, safe="") if token else ""
    return f"http://{name}:{listener.getsockname()[1]}/{token_query}"


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
