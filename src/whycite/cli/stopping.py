"""Ctrl-C, when there is more to say than that the command stopped."""

__all__ = ["Stopped"]


class Stopped(Exception):
    """The user stopped a command; the message says what was done by then."""
