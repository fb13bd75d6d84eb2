"""A real server for tests that need one: a browser, or connections that are closed."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
