"""Commands that start servers: `whycite serve` for browsers, `lsp` for editors, `mcp` for assistants."""

from __future__ import annotations

import gc
import os
import re
import secrets
import socket
import sys
import threading
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import LibraryPath
from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from whycite.web.guard import AccessRules

__all__ = ["lsp", "mcp", "serve"]

PORT = 8642
_MIN_TOKEN_LENGTH = 8  # characters
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s@*]+", re.IGNORECASE)
_ROOT_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
_PEOPLE = range(500, 60_000)  # ids of accounts that are not the system's: from 501 on macOS, from 1000 on Linux
_EVERYWHERE = {
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
}  # addresses to open in a browser for servers that listen on all interfaces


def serve(
    ctx: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; any other than localhost requires a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")] = PORT,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with the access token, instead of $WHYCITE_TOKEN; without either, one is generated and printed "
            "if it is required.",
        ),
    ] = None,
    read_token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with a second token for people who may ask but change nothing; also $WHYCITE_READ_TOKEN.",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Require no token on localhost, although others use this machine.")
    ] = False,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Host name under which a reverse proxy serves this; repeat for several."),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Path below which a reverse proxy serves this, such as /whycite; requires a token."
        ),
    ] = "",
    allowed_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Origin of other pages that may ask, such as https://www.overleaf.com or a browser extension's; "
            "requires a token.",
        ),
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
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Answer with several processes of a Ray cluster; `local` starts one on this machine.",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1_000, help="Processes that answer, with --ray.", show_default="2"),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000,
            help="Parts of the library that are searched by processes of their own, with --ray; as many of each part "
            "as of --replicas.",
            show_default="1",
        ),
    ] = None,
    library: LibraryPath = None,
) -> None:
    """Start the web application: cite, check, verify and manage your library in a browser."""
    from whycite.web.guard import AccessRules, is_loopback

    if ray is None and (replicas or shards):
        raise UserError("--replicas and --shards are for --ray; give the address of a cluster, or --ray local")
    if ray is not None and find_spec("ray") is None:
        raise MissingExtra("--ray", "scale")
    source = ctx.get_parameter_source("projects")
    if ray is not None and source is not None and source.name == "COMMANDLINE":  # the variable is for other commands
        raise UserError("--projects is not used with --ray, whose processes have no projects; leave it out")

    if not host.strip():
        raise UserError("--host is empty; give an address, or omit it to listen on this machine only")
    token = _stated_token(token_file, "WHYCITE_TOKEN")
    read_token = _stated_token(read_token_file, "WHYCITE_READ_TOKEN")
    root = _checked_root(root_path)
    origins = frozenset(map(_checked_origin, allowed_origin or ()))
    is_exposed = not is_loopback(host) or bool(allowed_host or root or origins or read_token)
    if no_token and (token or is_exposed):
        raise UserError("--no-token is for servers on localhost alone, without other tokens, hosts, paths and origins")
    if token and token == read_token:
        raise UserError("the two tokens are the same; make another one for reading")
    needs_token = is_exposed or (not no_token and _others_use_machine())
    required_token = token or (secrets.token_urlsafe(24) if needs_token else "")
    hosts = frozenset(name.strip().lower().rstrip(".") for name in allowed_host or ())
    listener = _bind_socket(host, port)
    address = _address(_EVERYWHERE.get(host, host), listener, root, required_token)

    def announce() -> None:
        shown_token = "" if token else required_token  # one that was stated stays out of logs
        shown = _address(_EVERYWHERE.get(host, host), listener, root, shown_token)
        print(f"whycite is running at {shown} (press Ctrl-C to stop)", file=sys.stderr, flush=True)
        if host in _EVERYWHERE:
            elsewhere = _address(socket.gethostname(), listener, root, shown_token)
            print(f"From other machines: {elsewhere}", file=sys.stderr, flush=True)
        if token:
            print("Open it with ?token= and your token.", file=sys.stderr, flush=True)
        if not no_browser:
            threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

    rules = AccessRules(host, required_token, read_token, hosts, origins)
    if ray is not None:
        _serve_replicas(ray, replicas or 2, shards or 1, library, rules, root, listener, announce)
        return
    gc.disable()  # until everything is loaded, which takes a tenth less time
    from whycite.web.app import run
    from whycite.web.serverstate import ServerSettings

    place = Path(library) if library else None
    folder = Path(projects).expanduser() if projects else None
    run(ServerSettings(place, rules, warm=True, projects=folder, root_path=root), listener, announce)


def _serve_replicas(
    address: str,
    replicas: int,
    shards: int,
    library: str | None,
    rules: AccessRules,
    root: str,
    listener: socket.socket,
    announce: Callable[[], None],
) -> None:
    """Serve with the processes of a Ray cluster."""
    from whycite.library.cluster import LOCAL, connected

    processes = replicas * (1 if shards == 1 else 1 + shards)
    # Before LanceDB, whose threads do not survive it.
    with connected(address, processes if address == LOCAL else None) as cluster:
        from whycite.web.replicas import ReplicaPlan, serve_replicas
        from whycite.web.serverstate import ServerSettings

        cores = int(cluster.cluster_resources().get("CPU", 0))
        wait = f"; the cluster has {cores} of the {processes} cores they need: waiting for more" * (cores < processes)
        print(f"whycite: starting {processes} processes{wait}", file=sys.stderr, flush=True)
        name = f"whycite-{socket.gethostname()}-{listener.getsockname()[1]}"  # of one that was killed, to replace it
        settings = ServerSettings(Path(library) if library else None, rules, root_path=root)
        serve_replicas(settings, ReplicaPlan(name, replicas, shards), listener, announce)


def _stated_token(file: str | None, variable: str) -> str:
    """The token in a file or an environment variable; never on the command line, which other users can see."""
    token = os.environ.get(variable, "")
    if file is not None:
        try:
            token = Path(file).read_text("utf-8").strip()
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not text"
            raise UserError(f"{file}: the token cannot be read: {reason}") from error
    elif not token:
        return ""
    if len(token) < _MIN_TOKEN_LENGTH or not token.isprintable() or not token.isascii():
        raise UserError(
            f"{file or variable}: a token must have at least {_MIN_TOKEN_LENGTH} printable ASCII characters; "
            "omit it to generate one"
        )
    return token


def _checked_origin(origin: str) -> str:
    """An origin as browsers send it."""
    if not _ORIGIN.fullmatch(origin):
        raise UserError(f"'{origin}' is not an origin; give scheme and host alone, such as https://www.overleaf.com")
    return origin.lower()


def _checked_root(path: str) -> str:
    """The path below which the application is, without a slash at the end; "" for none."""
    root = path.rstrip("/")
    if root and not _ROOT_PATH.fullmatch(root):
        raise UserError(f"'{path}' is not a path to serve this below; give one such as /whycite")
    return root


def _others_use_machine() -> bool:
    """Whether other people may use this machine, who reach a server on localhost as well."""
    if os.environ.get("SSH_CONNECTION"):  # it is not the machine in front of the user
        return True
    try:
        import pwd
    except ImportError:  # Windows has no list of accounts to read
        return False
    people = {
        account.pw_uid
        for account in pwd.getpwall()
        if account.pw_uid in _PEOPLE and not account.pw_shell.endswith(("nologin", "false"))
    }
    with suppress(OSError):  # accounts of a directory service may not be listed, but their folders are here
        people |= {folder.stat().st_uid for folder in Path("/home").iterdir()} & {*_PEOPLE}
    return bool(people - {os.getuid()})


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


def _address(host: str, listener: socket.socket, root: str, token: str) -> str:
    from urllib.parse import quote

    name = f"[{host}]" if ":" in host else host
    token_query = "?token=" + quote(token, safe="") if token else ""
    return f"http://{name}:{listener.getsockname()[1]}{root}/{token_query}"


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


_ServerAddress = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Let the `whycite serve` at this address answer, which has models and library in memory.",
    ),
]
_ServerTokenFile = Annotated[
    str | None,
    typer.Option("--token-file", metavar="FILE", help="File with the token of that server, instead of $WHYCITE_TOKEN."),
]


def lsp(
    tcp: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Listen on this port of this machine, not on stdio."),
    ] = None,
    server: _ServerAddress = None,
    token_file: _ServerTokenFile = None,
    library: LibraryPath = None,
) -> None:
    """Start the language server, which shows findings and completes citations in your editor."""
    if find_spec("pygls") is None:
        raise MissingExtra("The language server", "lsp")
    address, token = _server_access(server, token_file)
    from whycite.lsp.features import LspSettings, create

    draft_server = create(LspSettings(Path(library).expanduser() if library else None), address, token)
    if tcp:
        print(f"whycite: listening on 127.0.0.1:{tcp}", file=sys.stderr, flush=True)
        draft_server.start_tcp("127.0.0.1", tcp)
    else:
        output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # which the server closes
        with redirect_stdout(sys.stderr):  # what else is printed is not part of the protocol
            draft_server.start_io(stdout=output)


def mcp(
    write: Annotated[
        bool, typer.Option("--write", help="Let the assistant insert citations into drafts; otherwise it only reads.")
    ] = False,
    max_tokens: Annotated[
        int, typer.Option(metavar="N", min=500, max=100_000, help="Longest answer in tokens, roughly.")
    ] = 2_000,
    http: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Serve HTTP on this port of this machine, not stdio."),
    ] = None,
    server: _ServerAddress = None,
    token_file: _ServerTokenFile = None,
    library: LibraryPath = None,
) -> None:
    """Give an assistant your library: tools that cite, check, verify, find sources and read (MCP)."""
    if find_spec("mcp") is None:
        raise MissingExtra("The server for assistants", "mcp")
    address, token = _server_access(server, token_file)
    from whycite.mcp.tools import McpSettings, run

    settings = McpSettings(Path(library).expanduser() if library else None, write, max_tokens, address, token)
    run(settings, *(("127.0.0.1", http) if http else ()))


def _server_access(address: str | None, token_file: str | None) -> tuple[str, str]:
    """The address of a running server and its token, for commands that let it answer; empty without an address."""
    if not address:
        if token_file:
            raise UserError("--token-file needs --server, whose token it has")
        return "", ""
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#@]*)?", address):
        raise UserError(
            f"--server {address}: give the address alone, such as http://127.0.0.1:{PORT}; "
            "the token belongs in WHYCITE_TOKEN or a --token-file"
        )
    return address.rstrip("/"), _stated_token(token_file, "WHYCITE_TOKEN")
