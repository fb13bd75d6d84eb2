"""A guard that notes and refuses every connection that leaves this machine."""

import os
import sys
from ipaddress import ip_address
from typing import Any

__all__ = ["attempts", "exit_on_connections", "refuse_connections"]

attempts: list[str] = []
_reaction = {"": "ignore"}


def refuse_connections(refuse: bool = True) -> None:
    """Note and refuse connections from now on, or no longer."""
    attempts.clear()
    _reaction[""] = "refuse" if refuse else "ignore"


def exit_on_connections() -> None:
    """End the process at the first attempt; for processes that tests start."""
    _reaction[""] = "exit"


def _is_local(address: object) -> bool:
    """Whether an address is a path, or of this machine."""
    host = address[0] if isinstance(address, tuple) and address else ""
    if host in (None, "", b"", "localhost", "0.0.0.0"):
        return True
    try:
        return ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _reaction[""] == "ignore":
        return
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = (arguments[0],)
    else:
        return
    if not _is_local(address):
        if _reaction[""] == "exit":
            os._exit(99)
        attempts.append(f"{event} {address}")
        raise OSError(f"a test forbids {event} {address}")


sys.addaudithook(_watch)  # cannot be removed, so it is inactive unless a test asks for it
