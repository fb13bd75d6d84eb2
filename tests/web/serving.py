"""Real servers for tests that need one: a browser, connections that are closed, processes that are killed."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from whycite.web.app import create
from whycite.web.serverstate import ServerSettings


@contextmanager
def serving(settings: ServerSettings) -> Iterator[str]:
    """A server for as long as it is needed, and its address."""
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create(settings), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def serving_replicas(library: Path, replicas: int, shards: int) -> Iterator[str]:
    """`whycite serve --ray local` for as long as it is needed, and its address."""
    options = ["--no-browser", "--no-token", "--port", "0", "--library", str(library), "--ray", "local"]
    counts = ["--replicas", str(replicas), "--shards", str(shards)]
    command = [sys.executable, "-m", "whycite", "serve", *options, *counts]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = ""
        try:
            for line in server.stderr:
                said += line
                if found := re.search(r"http://\S+?(?=/ )", line):
                    break
            else:
                raise AssertionError(said)
            drain = threading.Thread(target=server.stderr.read, daemon=True)
            drain.start()
            yield found[0]
        finally:
            server.terminate()
            server.wait(60)
